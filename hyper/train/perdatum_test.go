package train

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// With an index for each datum, the loss is the sum of the losses of the data one by one, each at its own index, and
// the regularizer is the regularizer at the first indices. The gradient that training follows is the gradient of the
// loss. The test covers every model, and a belief that predicts each input by the input's own index with its own
// method.
func TestPerDatum(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program for each model")
	}
	const batch, indices = 6, 3
	for i, m := range append(linearModels(), otherModels()...) {
		c := Config{Steps: 2, Batch: batch, Indices: indices, IndexSet: PerDatum, Capacity: 5}
		q := newProblem(c, m.Model)
		if q.oneHot() {
			continue
		}
		if err := c.Validate(m.Model); err != nil {
			t.Errorf("%s: got error %v, want none", m.name, err)
			continue
		}
		p := newTrial(t, m.Model, 5, 5)
		out := eval(t, sometimesXLA(i)[0], func(in []*Node) []*Node {
			g := p.nodes(in)
			s, state := rng.New(Const(g.size.Graph(), []uint64{11, 12})), stateOf(g)
			w := Trainer{m.Model, c}.solver()
			size := Const(s.Graph(), float32(9))
			d := w.draw(state, s, Const(s.Graph(), int32(5)), g.data.X, g.Rates)
			second := loop.At(1)
			data, z := d.data.step(second, batch), d.indices(second)

			one := newProblem(Config{Batch: 1, Indices: 1}, m.Model)
			loss := q.regularizer(g.Params, z.Slice(0, indices), g.Rates)
			for j := range batch {
				at := func(x *Node) *Node { return SliceAxis(x, 1, AxisElem(j)) }
				datum := Batch{X: at(data.X), Y: at(data.Y), A: at(data.A)}
				own := z.Slice(j, j+1)
				loss = Add(loss, Sub(one.objective(g.Params, datum, own, DivScalar(size, batch), g.Rates),
					one.regularizer(g.Params, own, g.Rates)))
			}
			whole := Trainer{m.Model, c}.Objective(g.Params, data, z, size, g.Rates)
			want := append([]*Node{loss}, Gradient(ReduceAllSum(loss), g.Params.Nu...)...)
			return append(append(want, whole), w.gradient(state, &d, second, size, g.Rates)...)
		}, p.args()...)
		for r, half := 0, len(out)/2; r < problemRuns; r++ {
			near(t, fmt.Sprintf("%s, run %d", m.name, r), ofRun(out[half:], r), ofRun(out[:half], r), 4*single)
		}
	}
}

// The mask of a datum applies to the activations of that datum. Without any hidden units the prediction is the last
// bias.
func TestDropoutPredictsEach(t *testing.T) {
	net := base.MLP{Layers: []int{2, 2, 1}}
	h := hyper.Dropout{Net: net, Keep: 0.5}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		return []*Node{h.PredictEach(in[:1], index.Vectors(in[1]), in[2])}
	}, [][]float32{{1, 2, 3, 4, 0.5, -0.5, 10, 100, 7}}, // weights 1 2, 3 4; biases; weights 10 100; bias 7
		[][][]float32{{{2, 0}, {0, 2}, {0, 0}}}, [][][]float32{{{1, 1}, {1, 1}, {1, 1}}})
	// units at (1, 1): 1 + 2 + 0.5 = 3.5 and 3 + 4 - 0.5 = 6.5
	near(t, "predictions", out[0].v, []float64{2*35 + 7, 2*650 + 7, 7}, 1e-6)
}

// Configurations that cannot have an index for each datum are refused, with the reason.
func TestPerDatumRefuses(t *testing.T) {
	c := Config{Steps: 1, Batch: 4, Indices: 2, IndexSet: PerDatum, Capacity: 3}
	for want, b := range map[string]struct {
		indices int
		belief  hyper.Belief
	}{
		"IndexSet per-datum is not for index.OneHot": {2, ensembleOf(base.Tabular{Arms: 3}, 4, none)},
		"Indices must be at most 4, got 5":           {5, linearInArms()},
	} {
		c.Indices = b.indices
		if err := c.Validate(b.belief); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
