package train

import (
	"fmt"
	"maps"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// If all data come at once, Fill keeps the predictions of an ensemble's fixed part at the data. Steps that read the
// kept predictions equal steps that compute them, after three steps on minibatches, with sampled particles or with all
// particles.
func TestFixedPartOfFilledData(t *testing.T) {
	const runs, data, particles = 3, 9, 4
	net := base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh}
	for i, c := range []Config{
		{Steps: 3, Batch: 5, Indices: 6, Integrate: Sampled, Loss: LogisticLoss{}},
		{Steps: 3, Batch: 5, Integrate: Analytic, Loss: LogisticLoss{}},
		{Steps: 3, Batch: 5, Indices: 2, Integrate: Sampled, Optimizer: Adam{}},
		{Steps: 1, Batch: 5, Integrate: Analytic, Regularize: Decay},
	} {
		c.Capacity, c.Inputs = data, 2
		tr := Trainer{Belief: ensembleOf(net, particles, hyper.Dense(13, particles)), Config: c}
		for _, name := range sometimesXLA(i) {
			out := eval(t, name, func(in []*Node) []*Node {
				s := rng.New(in[0])
				one := Ones(in[0].Graph(), shapes.Make(dtypes.Float32, runs))
				r := Rates{Step: MulScalar(one, 0.1), NoiseVar: one, PriorVar: one, Perturbation: one}
				y := ConvertDType(GreaterThan(s.Named("y").Normal(data), ScalarZero(s.Graph(), dtypes.Float32)), dtypes.Float32)
				kept := tr.Fill(tr.Init(s, one), s, s.Named("x").Normal(data, 2), y, r)
				if kept[fixedName] == nil {
					t.Fatal("the fixed part is not kept")
				}
				computed := maps.Clone(kept)
				delete(computed, fixedName)
				size := Const(s.Graph(), int32(data))
				start := tr.Params(kept).Nu[0]
				a, b := tr.Train(kept, s, size, nil, r), tr.Train(computed, s, size, nil, r)
				return []*Node{tr.Params(a).Nu[0], tr.Params(b).Nu[0], start}
			}, []uint64{1, 2, 3})
			near(t, fmt.Sprintf("particles of %d on %s", i, name), out[0].v, out[1].v, single)
			moved := false
			for j := range out[0].v {
				moved = moved || out[0].v[j] != out[2].v[j]
			}
			if !moved {
				t.Errorf("case %d on %s: nu did not change", i, name)
			}
		}
	}
}
