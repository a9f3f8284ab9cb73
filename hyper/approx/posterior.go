package approx

import (
	"context"
	"maps"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// posterior is a regression with an ensemble: networks with one hidden layer and an additive prior, trained by
// perturbed SGD on six data in the left half of [0, 1].
type posterior struct {
	trainer train.Trainer
	rounds  int
	x, y    []float32
	names   []string // names of the trainer's state
}

const (
	particles       = 24
	posteriorHidden = 16
)

func newPosterior() *posterior {
	net := base.MLP{Layers: []int{1, posteriorHidden, 1}, Activation: base.ActivationTanh}
	n := hyper.NumTheta(net)
	prior := &hyper.Prior{Base: net, Layout: hyper.Dense(n, particles), StdDev: posteriorStdDev()}
	model := hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: particles, Params: n,
		InitNu: hyper.InitLayers(net)}, Prior: prior}
	p := &posterior{rounds: 150, trainer: train.Trainer{Belief: model, Config: train.Config{
		Steps: 4, Batch: 16, Integrate: train.Analytic, Optimizer: train.Adam{}, Capacity: 6,
	}}}
	for i := range p.trainer.Capacity {
		x := 0.1 * float64(i)
		p.x, p.y = append(p.x, feature(x)), append(p.y, float32(0.8*math.Sin(2*math.Pi*x)))
	}
	return p
}

// posteriorStdDev returns the prior's standard deviations. They give functions of magnitude 1 that turn once or twice
// on [0, 1].
func posteriorStdDev() []float64 {
	return slices.Concat(slices.Repeat([]float64{0.7}, posteriorHidden), slices.Repeat([]float64{1}, posteriorHidden),
		slices.Repeat([]float64{1 / math.Sqrt(posteriorHidden)}, posteriorHidden), []float64{0.3})
}

// feature returns the input of the networks for x in [0, 1].
func feature(x float64) float32 { return float32(6*x - 2) }

// posteriorMeasure returns the distribution of an ensemble of 24 particles that perturbed SGD trains on a small
// regression. Each particle is a function, and all have equal probability. Values are scaled by 0.6 B and clipped.
func posteriorMeasure(ctx context.Context, s Setting) (Measure, error) {
	b, err := backend.Open(backend.Go) // the network is small, and the result must not depend on the machine
	if err != nil {
		return Measure{}, err
	}
	p := newPosterior()
	state, err := p.train(ctx, b, s.Seed)
	if err != nil {
		return Measure{}, err
	}
	values, err := p.functions(b, state, s.unit())
	if err != nil {
		return Measure{}, err
	}
	for _, f := range values {
		for i := range f {
			f[i] *= 0.6 * s.Bound
		}
		clip(f, s.Bound)
	}
	return Measure{Law: Atoms{Values: values, Optimal: true}}, nil
}

// train observes the data, trains the ensemble, and returns the state.
func (p *posterior) train(ctx context.Context, b compute.Backend, seed uint64) ([]*tensors.Tensor, error) {
	state, err := CallOnceN(b, p.begin, []uint64{seed})
	if err != nil {
		return nil, err
	}
	return iterate(ctx, b, p.round, p.rounds, state, func(i int) []any { return []any{int32(i), []uint64{seed}} })
}

// begin returns the initial state with all data.
func (p *posterior) begin(seed *Node) []*Node {
	s, g := rng.New(seed).Named("approx").Named("posterior"), seed.Graph()
	state := p.trainer.Init(s, nil)
	for i := range p.x {
		size := Const(g, int32(i))
		state = p.trainer.Observe(state, s.Named("observe").Step(i), size, Const(g, []int32{int32(i)}),
			Const(g, p.y[i:i+1]), p.inputs(g), train.Rates{})
	}
	p.names = slices.Sorted(maps.Keys(state))
	return p.flat(state)
}

// round makes the SGD steps of a round. args are the round, the seed, and the state.
func (p *posterior) round(args []*Node) []*Node {
	g := args[0].Graph()
	s := rng.New(args[1]).Named("approx").Named("posterior").Named("train").At(args[0])
	number := func(v float32) *Node { return Const(g, []float32{v}) }
	rates := train.Rates{Step: number(0.03), NoiseVar: number(0.01), PriorVar: number(1), Perturbation: number(0.1)}
	return p.flat(p.trainer.Train(p.unflat(args[2:]), s, Const(g, int32(len(p.x))), p.inputs(g), rates))
}

// functions returns the values of all particles at the points x.
func (p *posterior) functions(b compute.Backend, state []*tensors.Tensor, x []float64) ([][]float64, error) {
	features := make([]float64, len(x))
	for i, v := range x {
		features[i] = float64(feature(v))
	}
	f, err := CallOnce(b, func(args []*Node) *Node {
		all := p.trainer.Belief.Index().(index.Enumerable).All(args[0].Graph(), 1)
		return p.trainer.Belief.Predict(p.trainer.Params(p.unflat(args[1:])), all, args[0])
	}, before(state, tensor(features, 1, len(x), 1))...)
	if err != nil {
		return nil, err
	}
	out := rows(particles, len(x))
	return out, readRows(f, out)
}

// inputs returns the inputs of the data, [1, data, 1].
func (p *posterior) inputs(g *Graph) *Node { return InsertAxes(Const(g, p.x), 0, -1) }

func (p *posterior) flat(state train.State) []*Node {
	out := make([]*Node, len(p.names))
	for i, name := range p.names {
		out[i] = state[name]
	}
	return out
}

func (p *posterior) unflat(values []*Node) train.State {
	state := train.State{}
	for i, name := range p.names {
		state[name] = values[i]
	}
	return state
}
