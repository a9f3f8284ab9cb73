package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// stateOf returns a trainer's state with the parameters and the data of a trial. The data are actions 0, 1, ... in
// order.
func stateOf(p inGraph) State {
	runs, n, state := p.data.Y.Shape().Dim(0), p.data.Y.Shape().Dim(1), p.state()
	state["replay.x"] = Iota(p.data.Y.Graph(), shapes.Make(dtypes.Int32, runs, n), 1)
	state["replay.y"], state["replay.a"] = p.data.Y, p.data.A
	return state
}

// moves returns the gradients that a trainer's Train followed: the moves of nu over the period, divided by -alpha/|D|.
func moves(tr Trainer, p inGraph, s rng.Stream, r Rates) []*Node {
	n := p.data.Y.Shape().Dim(1)
	state := stateOf(p)
	after := tr.Train(state, s, Const(s.Graph(), int32(n)), p.data.X, r)
	var out []*Node
	for j, nu := range list(after, "nu") {
		move := MulScalar(Sub(p.Nu[j], nu), float64(n))
		out = append(out, Div(move, perRun(r.Step, move)))
	}
	return out
}

// followed returns the gradients that the steps of a period should follow. Each gradient is computed by automatic
// differentiation of loss, at the nu after the earlier steps, on the minibatch and the indices that the step draws.
func followed(tr Trainer, p inGraph, s rng.Stream, r Rates, loss func(p hyper.Params, data Batch, z index.Set,
	size *Node, r Rates) *Node) []*Node {
	n := p.data.Y.Shape().Dim(1)
	size := Const(s.Graph(), float32(n))
	drawn := tr.solver().draw(stateOf(p), s.Named("sgd").Step(0), Const(s.Graph(), int32(n)), p.data.X, r)
	params := p.Params
	sum := make([]*Node, len(p.Nu))
	for i := range tr.Steps {
		data, z := drawn.data.step(loop.At(i), tr.Batch), drawn.indices(loop.At(i))
		grads := Gradient(ReduceAllSum(loss(params, data, z, size, r)), params.Nu...)
		next := make([]*Node, len(grads))
		for j, g := range grads {
			next[j] = Sub(params.Nu[j], Mul(MulScalar(g, 1/float64(n)), perRun(r.Step, g)))
			if sum[j] == nil {
				sum[j] = g
			} else {
				sum[j] = Add(sum[j], g)
			}
		}
		params.Nu = next
	}
	return sum
}

// The steps of a period on a network follow the gradient of the loss, with the anchor that aimOf describes.
// TestLossAndGradient compares the gradient of the loss with plain Go.
func TestNetworkStepsFollowTheLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many networks")
	}
	type kind struct {
		IndexSet
		Integration
	}
	for i, m := range otherModels() {
		kinds := []kind{{IID, Sampled}}
		if m.Index().Moments().Pairs > 0 {
			kinds = append(kinds, kind{Antithetic, Sampled}, kind{Frame, Sampled}, kind{Axes, Sampled})
		}
		if _, ok := m.Index().(index.Enumerable); ok {
			kinds = append(kinds, kind{IID, Analytic})
		}
		for _, k := range kinds {
			for _, name := range backends() {
				if name != backend.Go && (i > 0 || k.IndexSet != Frame) {
					continue // XLA takes seconds to compile each case
				}
				t.Run(fmt.Sprintf("%s/%s/%s/%s", m.name, k.IndexSet, k.Integration, name), func(t *testing.T) {
					tr := Trainer{m.Model, Config{Steps: 2, Batch: 5, Indices: 4, Capacity: 5, IndexSet: k.IndexSet,
						Integrate: k.Integration}}
					must.M(tr.Validate(tr.Belief))
					p := newTrial(t, m.Model, 5, 5)
					compareHalves(t, eval(t, name, func(in []*Node) []*Node {
						g := p.nodes(in)
						r, s := g.Rates, rng.New(Const(in[0].Graph(), []uint64{11, 12}))
						r.Step = Const(in[0].Graph(), []float32{0.125, 0.0625}) // the second step sees the first
						loss := func(p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
							return aimOf(tr.Route(), newProblem(tr.Config, m.Model), p, data, z, size, r)
						}
						return append(followed(tr, g, s, r, loss), moves(tr, g, s, r)...)
					}, p.args()...))
				})
			}
		}
	}
}

// With the regularizer KL the steps follow the gradient of the loss, for every base model.
func TestKLStepsFollowTheLoss(t *testing.T) {
	net := base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh}
	for _, b := range []hyper.BaseModel{net, base.Linear{Features: 3}} {
		t.Run(fmt.Sprintf("%T", b), func(t *testing.T) {
			m := hyper.Model{Base: b, Hyper: hyper.MeanField{Params: hyper.NumTheta(b)}}
			tr := Trainer{m, Config{Steps: 2, Batch: 5, Indices: 4, Capacity: 5, Regularize: KL}}
			must.M(tr.Validate(tr.Belief))
			p := newTrial(t, m, 5, 5)
			compareHalves(t, eval(t, backend.Go, func(in []*Node) []*Node {
				g := p.nodes(in)
				r, s := g.Rates, rng.New(Const(in[0].Graph(), []uint64{11, 12}))
				r.Step, r.KL = Const(in[0].Graph(), []float32{0.125, 0.0625}), Const(in[0].Graph(), []float32{0.3, 1})
				loss := func(p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
					return newProblem(tr.Config, m).objective(p, data, z, size, r)
				}
				return append(followed(tr, g, s, r, loss), moves(tr, g, s, r)...)
			}, p.args()...))
		})
	}
}

// Each step draws its own minibatch, uniformly from the available data, and its own indices. 3 steps draw 3,000 data
// each from 4 data, in a buffer with room for 6. The counts, and the share of equal data in two steps (1/4), are within
// 5 binomial standard errors. The products of the indices of two steps have mean 0, within 5 standard errors for 3,000
// x 4 standard normal products.
func TestStepsAreIndependent(t *testing.T) {
	const size, n = 4, 3000
	net := base.MLP{Layers: []int{1, 2, 1}}
	tr := Trainer{affineIn(net, hyper.Dense(7, 4), index.Gaussian{N: 4}, none),
		Config{Steps: 3, Batch: n, Indices: n, Capacity: 6}}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		g := in[0].Graph()
		state := newReplay(g, problemRuns, 6, 0, 4)
		state["replay.x"] = Iota(g, shapes.Make(dtypes.Int32, problemRuns, 6), 1)
		actions := Iota(g, shapes.Make(dtypes.Float32, problemRuns, 6, 1), 1)
		zero := ZerosLike(Const(g, []float32{1, 1}))
		d := tr.solver().draw(state, rng.New(in[0]), Const(g, int32(size)), actions, Rates{Perturbation: zero})
		var out []*Node
		for i := range 3 {
			out = append(out, d.data.step(loop.At(i), tr.Batch).X, d.indices(loop.At(i)).Dense())
		}
		return out
	}, []uint64{1, 2})
	bound := 5 * math.Sqrt(0.25*0.75/n)
	for run := range problemRuns {
		for i := range 3 {
			x, z := out[2*i].sub(run).v, out[2*i+1].sub(run).v
			share := make([]float64, 6)
			for _, v := range x {
				share[int(v)] += 1.0 / n
			}
			for k, s := range share {
				if k < size && math.Abs(s-0.25) > bound || k >= size && s > 0 {
					t.Errorf("run %d, step %d: datum %d has a share of %.4f of the minibatch, want equal shares",
						run, i, k, s)
				}
			}
			for j := range i {
				same, product := 0.0, 0.0
				for k, v := range out[2*j].sub(run).v {
					if v == x[k] {
						same += 1.0 / n
					}
				}
				for k, v := range out[2*j+1].sub(run).v {
					product += v * z[k] / float64(len(z))
				}
				if math.Abs(same-0.25) > bound || math.Abs(product) > 5/math.Sqrt(float64(len(z))) {
					t.Errorf("run %d, steps %d and %d: a share of %.4f of the data is equal, the indices have "+
						"correlation %.4f", run,
						j, i, same, product)
				}
			}
		}
	}
}

// MapStep multiplies only the move of C, by the run's own factor.
func TestMapStep(t *testing.T) {
	m := otherModels()[0].Model // a dense linear hypermodel
	p := newTrial(t, m, 5, 5)
	tr := Trainer{m, Config{Steps: 1, Batch: 5, Indices: 4, Capacity: 5}}
	for _, optimizer := range []Optimizer{SGD{}, Adam{}} {
		tr.Optimizer = optimizer
		compareHalves(t, eval(t, backend.Go, func(in []*Node) []*Node {
			g := p.nodes(in)
			train := func(r Rates) []*Node {
				state := stateOf(g)
				for i, v := range tr.optimizer().Init(g.Nu) {
					state[key("optimizer", i)] = v
				}
				after := tr.Train(state, rng.New(Const(in[0].Graph(), []uint64{11, 12})), Const(in[0].Graph(), int32(5)),
					g.data.X, r)
				return []*Node{Sub(after["nu.0"], g.Nu[0]), Sub(after["nu.1"], g.Nu[1])}
			}
			r := g.Rates
			r.Step = Const(in[0].Graph(), []float32{0.5, 0.25})
			want := train(r)
			r.MapStep = Const(in[0].Graph(), []float32{0.5, 3})
			want[1] = Mul(want[1], Const(in[0].Graph(), [][][]float32{{{0.5}}, {{3}}}))
			return append(want, train(r)...)
		}, p.args()...))
	}
}

// Clip shortens the gradient of L~ / |D| over all parameters of a run to the bound and keeps the direction. A bound of
// 0 is no bound, a bound above the norm changes nothing, and a gradient of 0 stays 0.
func TestClip(t *testing.T) {
	m := otherModels()[0].Model
	p := newTrial(t, m, 5, 5)
	tr := Trainer{m, Config{Steps: 1, Batch: 5, Indices: 4, Capacity: 5}}
	run := compiled(t, backend.Go, func(in []*Node) []*Node {
		g := p.nodes(in[1:])
		r := g.Rates
		r.Step = Const(in[0].Graph(), []float32{0.5, 0.25})
		s := rng.New(Const(in[0].Graph(), []uint64{11, 12}))
		free := moves(tr, g, s, r)
		r.Clip = in[0]
		return append(free, moves(tr, g, s, r)...)
	})
	for _, bounds := range [][]float32{{0, 0.125}, {0.25, 1e6}, {1e6, 0}} {
		out := run(append([]any{bounds}, p.args()...)...)
		for r, bound := range bounds {
			free, got := ofRun(out[:2], r), ofRun(out[2:], r)
			norm := apart(free, make([]float64, len(free))) / 5 // of the gradient of L~ / |D|; moves is for L~
			factor := 1.0
			if bound > 0 {
				factor = min(1, float64(bound)/norm)
			}
			if norm < 0.5 || bound > 0 && bound < 1 && factor == 1 {
				t.Fatalf("run %d: the norm %g is too small for a test of the bound %g", r, norm, bound)
			}
			near(t, fmt.Sprintf("run %d, bound %g", r, bound), got, addScaled(nil, factor, free), 5e-5) // moves divides roundings of nu by alpha
		}
	}
	zero := eval(t, backend.Go, func(in []*Node) []*Node { return clipped([]*Node{ZerosLike(in[0])}, in[0]) },
		[]float32{1, 0})
	near(t, "no gradient", zero[0].v, []float64{0, 0}, 0)
}
