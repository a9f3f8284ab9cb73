package train

import (
	"maps"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A datum and a period of training change no entry that is Constant, and every entry that is Learned or Replayed. Each
// entry of nu has an anchor.
func TestEntries(t *testing.T) {
	net := base.MLP{Layers: []int{2, 3, 1}}
	m := hyper.Model{Base: net, Hyper: hyper.Linear{Layout: hyper.Dense(13, 4), P: index.Gaussian{N: 4}},
		Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(13, 4)}}
	tr := Trainer{m, Config{Steps: 1, Batch: 2, Indices: 2, Capacity: 1, Inputs: 2, Standardize: true}}
	counts := map[string]int{}
	eval(t, backend.Go, func(in []*Node) []*Node {
		s, one := rng.New(in[0]), in[1]
		r := Rates{Step: one, NoiseVar: one, PriorVar: one, Perturbation: one}
		before := tr.Init(s.Named("init"), nil)
		size := Const(s.Graph(), int32(0))
		after := tr.Observe(before, s.Named("observe"), size, Const(s.Graph(), [][]float32{{1, 2}}), one, nil, r)
		after = tr.Train(after, s.Named("train"), AddScalar(size, 1), nil, r)
		for name := range before {
			e, changed := Entry(name), before[name] != after[name]
			if e.Constant() && changed || (e.Learned() || e.Replayed()) && !changed {
				t.Errorf("%s: constant %v, learned %v, replayed %v, and changed %v", e, e.Constant(), e.Learned(), e.Replayed(), changed)
			}
			if e.Nu() {
				counts["nu"]++
				if before[string(e.Anchor())] == nil {
					t.Errorf("%s: there is no entry %s", e, e.Anchor())
				}
			}
			if own, ok := e.Fixed(); ok {
				counts["fixed"]++
				if before["fixed."+own] == nil {
					t.Errorf("%s: got the name %q", e, own)
				}
			}
			if e.Responses() {
				counts["responses"]++
			}
		}
		return []*Node{one}
	}, []uint64{1}, []float32{1})
	if want := map[string]int{"nu": 2, "fixed": 1, "responses": 3}; !maps.Equal(counts, want) {
		t.Errorf("got %v entries, want %v", counts, want)
	}
}
