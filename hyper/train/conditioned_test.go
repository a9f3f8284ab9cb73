package train

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// conditioned returns a network with deviations around it, the network alone, and the Gaussian process alone.
func conditioned() (whole hyper.NetworkGP, mean hyper.Belief, process hyper.BayesianLinear) {
	whole = hyper.NetworkGP{Features: 2, Hidden: []int{3}, Waves: 4, Length: 1, PriorScale: 1}
	return whole, whole.Mean(), hyper.BayesianLinear{Features: 2, Waves: 4, Length: 1}
}

// A Conditioned belief is trained like its mean alone, to the bit. What the belief keeps of the data equals what the
// Gaussian process alone knows after the data, with the loss's curvature over the noise as the precision of a datum and
// sigma^2 as the prior's variance. Fill equals Observe one by one. The data have weights, or none.
func TestConditioned(t *testing.T) {
	const runs, data = 3, 6
	whole, mean, process := conditioned()
	for _, weighted := range []bool{false, true} {
		for _, loss := range []Loss{Gaussian{}, LogisticLoss{}} {
			c := Config{Steps: 2, Batch: 4, Indices: 1, Capacity: data, Inputs: 2, Loss: loss, Weighted: weighted}
			curvature := loss.(curved).Curvature()
			for _, name := range backends() {
				if name != backend.Go && !(weighted && curvature < 1) {
					continue // XLA takes seconds to compile a case
				}
				out := eval(t, name, func(in []*Node) []*Node {
					s, g := rng.New(in[0]), in[0].Graph()
					one := Ones(g, shapes.Make(dtypes.Float32, runs))
					each := func(v ...float32) *Node { return Const(g, v) }
					sigma := each(0.5, 1, 2)
					r := Rates{Step: MulScalar(one, 0.1), NoiseVar: each(0.5, 1, 1.5), PriorVar: one,
						Perturbation: ZerosLike(one)}
					alone := r
					alone.NoiseVar = DivScalar(r.NoiseVar, curvature)
					alone.PriorVar = MulScalar(Square(sigma), process.UnitVariance())
					x := s.Named("x").Normal(data, 2)
					y := ConvertDType(GreaterThan(s.Named("y").Normal(data), ScalarZero(g, dtypes.Float32)), dtypes.Float32)
					learned := func(b hyper.Belief, c Config, init rng.Stream, r Rates) (Trainer, State) {
						tr := Trainer{b, c}
						state := tr.Init(init, sigma)
						for i := range data {
							if weighted {
								r.Weight = each(0.5, 1, float32(i+1))
							}
							at := func(x *Node) *Node { return Squeeze(Slice(x, AxisRange(), AxisRange(i, i+1)), 1) }
							state = tr.Observe(state, s.Step(i), Const(g, int32(i)), at(x), at(y), nil, r)
							state = tr.Train(state, s.Step(i), Const(g, int32(i+1)), nil, r)
						}
						return tr, state
					}
					tr, a := learned(whole, c, s, r)
					_, b := learned(mean, c, s, r)
					exact := Config{Integrate: Exact, Inputs: 2, Weighted: weighted}
					_, q := learned(process, exact, s.Named("deviations"), alone)
					kept := func(state State) *Node { return ConvertDType(state["kept.root"], dtypes.Float32) }
					out := []*Node{a["nu.0"], b["nu.0"], kept(a), ConvertDType(Squeeze(q["nu.1"], 1), dtypes.Float32)}
					if !weighted {
						out = append(out, kept(tr.Fill(tr.Init(s, sigma), s, x, y, r)))
					}
					return out
				}, []uint64{1, 2, 3})
				if !slices.Equal(out[0].v, out[1].v) {
					t.Errorf("%s: the network is %v, want %v", name, out[0].v, out[1].v)
				}
				near(t, name+": the root", out[2].v, out[3].v, single)
				if !weighted {
					near(t, name+": the root of data that are there at once", out[4].v, out[2].v, single)
				}
			}
		}
	}
}
