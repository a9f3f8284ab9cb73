package train

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// With the index set axes a quadratic loss of Ensemble++ splits, as its paper says. Let m(x) = f(x, 0), and let v_m(x)
// = f(x, e_m) - m(x) for the m-th member with its fixed part. The mean over zeta = +-sqrt(M) e_m of (y + beta zeta^T a
// - f(x, zeta))^2 is then (y - m(x))^2 + sum_m (v_m(x) - beta a_m)^2. The test checks the value and the gradients of
// the objective, with |nu|^2 / 2 sigma_p^2. The network learns only from the first part.
func TestSharedEnsembleLossFallsApart(t *testing.T) {
	const runs, data, members, width = 2, 5, 3, 4
	b := hyper.SharedEnsemble{Features: 2, Hidden: []int{6, width}, Members: members, Scale: 1.5, PriorScale: 0.5}
	tr := Trainer{b, Config{Steps: 1, Batch: data, Indices: 1, IndexSet: Axes, Regularize: Decay, Capacity: data}}
	must.M(tr.Validate(b))
	r, n := rand.New(rand.NewPCG(1, 2)), 3*6+7*width+width
	var args []any
	for _, dims := range [][]int{{n}, {width, members}, {width, members}, {data, 2}, {data}, {data, members}} {
		args = append(args, randomArray(r, 0.7, append([]int{runs}, dims...)...).float32s())
	}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		g := in[0].Graph()
		each := func(one, two float32) *Node { return Const(g, []float32{one, two}) }
		rates := Rates{Step: each(1, 1), NoiseVar: each(0.5, 1.5), PriorVar: each(2, 0.75), Perturbation: each(0.7, 0.25)}
		at := hyper.Params{Nu: in[:2], Nu0: in[:2], Fixed: map[string]*Node{"prior": in[2]}}
		batch := Batch{X: in[3], Y: in[4], A: in[5]}
		whole := tr.Objective(at, batch, index.Axes(b.Index(), g, runs, 1), Const(g, float32(3*data)), rates)

		zero := Zeros(g, shapes.Make(dtypes.Float32, runs, 1, members))
		one := OneHot(Iota(g, shapes.Make(dtypes.Int32, runs, members), 1), members, dtypes.Float32)
		mean := b.Predict(at, index.Vectors(zero), in[3])
		v := Sub(b.Predict(at, index.Vectors(one), in[3]), mean)
		first := ReduceSum(Square(Sub(Squeeze(mean, 1), in[4])), 1)
		second := ReduceSum(Square(Sub(v, Mul(InsertAxes(rates.Perturbation, -1, -1), Transpose(in[5], 1, 2)))), 1, 2)
		squares := Add(ReduceSum(Square(in[0]), 1), ReduceSum(Square(in[1]), 1, 2))
		ofData := func(x *Node) *Node { return Div(MulScalar(x, 3.0/2), rates.NoiseVar) } // |D|/|D~| is 3
		decay := Div(squares, MulScalar(rates.PriorVar, 2))
		return []*Node{
			whole, Add(Add(ofData(first), ofData(second)), decay),
			Gradient(ReduceAllSum(whole), in[0])[0], Gradient(ReduceAllSum(Add(ofData(first), decay)), in[0])[0],
			Gradient(ReduceAllSum(whole), in[1])[0], Gradient(ReduceAllSum(Add(ofData(second), decay)), in[1])[0],
		}
	}, args...)
	for i, what := range []string{"objective", "gradient of the network", "gradient of the members"} {
		near(t, what, out[2*i].v, out[2*i+1].v, 2*single)
	}
}
