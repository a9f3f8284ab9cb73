package approx

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Trained approximates every transport map by a network with three hidden layers, trained on draws of z to be near H in
// the L1 norm, as in the theorem's proof. For uniform z, a first layer adds the normal quantiles of z to its inputs.
// Maps to Gaussians are simple functions of the quantiles, and Brenier's maps of z.
type Trained struct {
	Width int // width of the hidden layers at level 0; 0 is 64
	Steps int // number of steps of Adam at level 0; 0 is 4,000
}

// Name returns "trained".
func (Trained) Name() string { return "trained" }

// trainingDraws is the number of draws of z and H(z) in training. Steps use them one after the other.
const trainingDraws = 1 << 17

// Build trains a network. Each level has 1.5 times the units, twice the steps, and new draws.
func (c Trained) Build(ctx context.Context, t Task, level int) (Network, error) {
	width := int(float64(cmp.Or(c.Width, 64)) * math.Pow(1.5, float64(level)))
	steps := cmp.Or(c.Steps, 4000) << level
	rnd := source(t.Seed, "train")
	for range level {
		rnd = source(rnd.Uint64(), "train")
	}
	z := draws(t.Reference, rnd, trainingDraws, t.K)
	f := apply(t.Map.At, z, t.K)
	b := newBuilder(t.K)
	inputs := b.inputs()
	if t.Reference == Uniform {
		inputs = b.withQuantiles(inputs, quantileKnots(t.Delta/(16*float64(t.K)), 0.02))
	}
	in := apply(b.network(inputs).At, z, len(inputs))
	for _, row := range f { // training needs outputs of magnitude 1
		floats.Scale(1/t.Bound, row)
	}
	fit := &fitting{
		widths: slices.Concat([]int{len(inputs)}, slices.Repeat([]int{width}, 3), []int{t.K}), steps: steps,
		seed: rnd.Uint64(), backend: t.Backend, in: in, out: f,
	}
	net, err := fit.run(ctx)
	if err != nil {
		return Network{}, err
	}
	last := net.Layers[net.hidden()]
	for _, row := range append(last.W, last.B) {
		floats.Scale(1/(1/t.Bound), row)
	}
	return b.network(b.follow(net, inputs)), nil
}

// withQuantiles adds a layer. It returns the interpolated normal quantiles of z, and z scaled to mean 0 and variance 1.
func (b *builder) withQuantiles(z []form, knots []float64) []form {
	out := b.normals(z, knots)
	for _, v := range b.carryAll(z, 0) {
		out = append(out, v.plus(-0.5).times(math.Sqrt(12)))
	}
	b.next()
	return out
}
