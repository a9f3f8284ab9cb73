package train

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A sample stands for all data: training on one datum that stands for five moves nu exactly like training on five equal
// data, and unlike training on one datum. This holds for every route to the gradient.
func TestASampleStandsForTheData(t *testing.T) {
	arms, net := base.Tabular{Arms: 3}, base.MLP{Layers: []int{1, 4, 1}}
	for _, c := range []struct {
		name string
		Trainer
	}{
		{"sampled", Trainer{ensembleOf(arms, 4, hyper.Dense(3, 4)), Config{Steps: 2, Batch: 6, Indices: 3, Capacity: 5}}},
		{"analytic", Trainer{ensembleOf(arms, 4, hyper.Dense(3, 4)),
			Config{Steps: 2, Batch: 6, Capacity: 5, Integrate: Analytic}}},
		{"network", Trainer{networkOf(net, index.Gaussian{N: 4}, hyper.Dense(13, 4)),
			Config{Steps: 2, Batch: 6, Indices: 3, Capacity: 5}}},
	} {
		nu := func(kept, total int32) []float64 {
			out := eval(t, backend.Go, func(in []*Node) []*Node {
				s := rng.New(in[0])
				state := c.Init(s.Named("init"), nil)
				var actions *Node
				if modelOf(c.Trainer).Base != arms {
					actions = Const(in[0].Graph(), [][][]float32{{{0.5}, {0.7}}})
				}
				number := func(v float32) *Node { return Const(in[0].Graph(), []float32{v}) }
				r := Rates{Step: number(0.1), NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(0.7)}
				for i := range int32(5) { // the same A_t for each datum
					state = c.Observe(state, s.Named("observe"), Const(in[0].Graph(), i), Const(in[0].Graph(), []int32{1}),
						number(0.8), actions, r)
				}
				if total > 0 {
					r.Data = in[2]
				}
				return list(c.Train(state, s.Named("train"), in[1], actions, r), "nu")
			}, []uint64{3}, kept, total)
			var all []float64
			for _, a := range out {
				all = append(all, a.v...)
			}
			return all
		}
		five, sample, one := nu(5, 0), nu(1, 5), nu(1, 0)
		if !slices.Equal(five, sample) || slices.Equal(one, sample) {
			t.Errorf("%s: got nu %v after five data, %v after one datum that stands for five, %v after one datum",
				c.name, head(five),
				head(sample), head(one))
		}
	}
}
