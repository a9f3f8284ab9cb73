package hyper

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// before returns the standard deviation of a model's predictions before any data, over runs, functions and standardised
// inputs, for the given sigma_p. Calls are small because GoMLX's Go backend can deadlock if several matrix products,
// each large enough to be divided, run at the same time.
func before(m Model, features int, sigmaP float32) float64 {
	const runs, functions, inputs, calls = 8, 8, 3, 25
	b := must.M1(backend.Open(backend.Go))
	square := must.M1(NewExec(b, func(seeds, scale *Node) *Node {
		s := rng.New(seeds)
		var x *Node
		if features > 0 {
			x = s.Named("x").Normal(inputs, features)
		}
		return ReduceAllMean(Square(m.Predict(m.Init(s, scale), m.Index().Sample(s.Named("z"), functions), x)))
	}))
	defer square.Finalize()
	sum := 0.0
	seeds, scale := make([]uint64, runs), slices.Repeat([]float32{sigmaP}, runs)
	for i := range calls {
		for j := range seeds {
			seeds[j] = uint64(i*runs + j)
		}
		sum += float64(tensors.ToScalar[float32](square.MustCall(seeds, scale)[0]))
	}
	return math.Sqrt(sum / calls)
}

// beliefs returns linear hypermodels, an ensemble and hypernetworks for a base model. The index has 12 numbers, or 12
// for each group of parameters.
func beliefs(b BaseModel) map[string]Hypermodel {
	const n = 12
	p := NumTheta(b)
	return map[string]Hypermodel{
		"linear":         Linear{Layout: Dense(p, n), P: index.Gaussian{N: n}},
		"linear, sphere": Linear{Layout: Dense(p, n), P: index.Sphere{N: n}},
		"linear, blocks": Linear{Layout: PerGroup(b, n), P: index.Gaussian{N: n * len(b.Groups())}},
		"ensemble":       Ensemble{Particles: n, Params: p},
		"network":        Network{P: index.Gaussian{N: n}, Hidden: []int{32}, Params: p},
		"network, tanh, one-hot": Network{P: index.OneHot{N: n}, Hidden: []int{32}, Params: p,
			Activation: base.ActivationTanh},
		"network, flat": Network{P: index.Sphere{N: n}, Params: p},
	}
}

// Before any data, the predictions of a model with default starts and a default prior have standard deviation sigma_p
// over standardised inputs, for every base model, depth, width and hypermodel. theta of a linear base model has
// standard deviation sigma_p. Without an additive prior, the start alone has the same standard deviations.
func TestDefaultsBeforeData(t *testing.T) {
	bases := []struct {
		name     string
		b        BaseModel
		features int
		want     float64
	}{
		{"tabular", base.Tabular{Arms: 6}, 0, 1},
		{"linear", base.Linear{Features: 9}, 9, 3},
		{"MLP 1-16-1 tanh", base.MLP{Layers: []int{1, 16, 1}, Activation: base.ActivationTanh}, 1, 1},
		{"MLP 5-12-12-1", base.MLP{Layers: []int{5, 12, 12, 1}}, 5, 1},
		{"MLP 6-8-8-8-8-1", base.MLP{Layers: []int{6, 8, 8, 8, 8, 1}}, 6, 1},
	}
	const sigmaP = 2
	for _, c := range bases {
		for name, h := range beliefs(c.b) {
			if testing.Short() && (c.name != "MLP 5-12-12-1" || name != "linear" && name != "ensemble") {
				continue
			}
			d := h.Index()
			layout := Dense(NumTheta(c.b), d.Dim())
			if name == "linear, blocks" {
				layout = PerGroup(c.b, 12)
			}
			priors := map[string]*Prior{"prior": {Base: c.b, Layout: layout}, "no prior": nil}
			if name == "linear" || name == "ensemble" {
				priors["prior in the parameters"] = &Prior{Layout: layout}
			}
			for what, prior := range priors {
				got := before(Model{c.b, h, prior}, c.features, sigmaP) / sigmaP
				tolerance := 0.1 // for an estimate from 200 runs
				if _, ok := h.(Network); ok && prior == nil {
					tolerance = 0.3 // the distribution of the hidden units is not Gaussian
				}
				if math.Abs(got/c.want-1) > tolerance {
					t.Errorf("%s, %s, %s: standard deviation %.3f sigma_p before data, want %v", c.name, name, what, got, c.want)
				}
			}
		}
	}
}
