package train_test

import (
	"errors"
	"fmt"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Slope is a belief of another module, f_z(x) = (nu_0 + nu_1 z) x, for one feature.
type Slope struct{}

func (Slope) Index() index.Distribution { return index.Gaussian{N: 1} }

func (Slope) Init(s rng.Stream, _ *Node) hyper.Params {
	nu := []*Node{s.Named("0").Normal(1), s.Named("1").Normal(1)}
	return hyper.Params{Nu: nu}
}

func (Slope) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	slope := Add(p.Nu[0], Mul(p.Nu[1], Squeeze(z.Dense(), 2))) // [runs, indices]
	return Mul(InsertAxes(slope, -1), Transpose(x, 1, 2))
}

// slopeGradient is the gradient of L~ by hand, for a Slope, the Gaussian loss and data that are not perturbed.
func slopeGradient(t train.Trainer, m train.Minibatch) []*Node {
	f := t.Belief.Predict(m.Params, m.Indices, m.Data.X)                        // [runs, indices, data]
	misfit := Mul(Sub(f, InsertAxes(m.Data.Y, 1)), Transpose(m.Data.X, 1, 2))   // times df/dslope
	each := MulScalar(ReduceSum(misfit, 2), 1/float64(m.Data.Y.Shape().Dim(1))) // [runs, indices]
	each = Mul(each, InsertAxes(Div(Mul(m.Size, OnesLike(m.Rates.NoiseVar)), m.Rates.NoiseVar), -1))
	grads := []*Node{ReduceAndKeep(each, ReduceMean, 1),
		ReduceAndKeep(Mul(each, Squeeze(m.Indices.Dense(), 2)), ReduceMean, 1)}
	for i, nu := range m.Params.Nu {
		grads[i] = Add(grads[i], Div(Sub(nu, m.Params.Nu0[i]), InsertAxes(m.Rates.PriorVar, -1)))
	}
	return grads
}

// addSlope adds the route once. A program calls train.AddRoute in main.
var addSlope = sync.OnceFunc(func() {
	train.AddRoute(train.Route{
		Name: "slope", About: "the gradient of a Slope by hand", Gradient: slopeGradient,
		Fits: func(t train.Trainer) error {
			if _, ok := t.Belief.(Slope); !ok || t.Loss != train.Loss(train.Gaussian{}) || !t.Unperturbed || t.Weighted ||
				t.Regularize == train.Decay || t.IndexSet == train.PerDatum {
				return errors.New("the route is for a Slope, the Gaussian loss and data that are not perturbed")
			}
			return nil
		},
	})
})

// A module adds a route to the gradient for a belief of its own. The gradient is the same as by automatic
// differentiation, and a trainer of this belief takes the route.
func ExampleAddRoute() {
	addSlope()
	t := train.Trainer{Belief: Slope{}, Config: train.Config{Steps: 3, Batch: 4, Indices: 2, Capacity: 4, Unperturbed: true}}
	fmt.Println(t.Validate(t.Belief), t.Route().Name)
	out := must.M1(CallOnceN(must.M1(backend.Open(backend.Go)), func(in []*Node) []*Node {
		s, number := rng.New(in[0]), func(x float32) *Node { return Const(in[0].Graph(), []float32{x}) }
		rates := train.Rates{Step: number(0.1), NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(0)}
		m := train.Minibatch{Params: t.Belief.Init(s, nil), Data: train.Batch{X: in[1], Y: in[2]}, Size: in[3],
			Indices: t.Belief.Index().Sample(s.Named("z"), 2), Rates: rates}
		m.Params.Nu0 = []*Node{number(0), number(0)}
		for i := range m.Params.Nu0 {
			m.Params.Nu0[i] = InsertAxes(m.Params.Nu0[i], -1)
		}
		loss := ReduceAllSum(t.Objective(m.Params, m.Data, m.Indices, m.Size, rates))
		return append(slopeGradient(t, m), Gradient(loss, m.Params.Nu...)...)
	}, []uint64{1}, [][][]float32{{{0.5}, {-1}, {2}}}, [][]float32{{1, 0, -1}}, float32(3)))
	for i := range 2 {
		fmt.Printf("%.3f is %.3f\n", out[i].Value(), out[i+2].Value())
	}
	// Output:
	// <nil> slope
	// [[-34.843]] is [[-34.843]]
	// [[-71.238]] is [[-71.238]]
}
