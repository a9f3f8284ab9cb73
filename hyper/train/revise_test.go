package train_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// revisers returns beliefs for every route.
func revisers() map[string]train.Trainer {
	out := map[string]train.Trainer{}
	for name, b := range believers {
		out[name] = train.Trainer{Belief: b.belief, Config: b.config}
	}
	blocks := hyper.BayesianLinear{Features: 3, Blocks: 2, Numbered: true, Waves: 4, Length: 1}
	out["posterior"] = train.Trainer{Belief: blocks, Config: train.Config{Integrate: train.Exact}}
	out["posterior, discount"] = train.Trainer{Belief: blocks, Config: train.Config{Integrate: train.Exact, Discount: 0.9}}
	lines := blocks
	lines.Line = true
	out["posterior, line"] = train.Trainer{Belief: lines, Config: train.Config{Integrate: train.Exact}}
	out["posterior, line, discount"] = train.Trainer{Belief: lines,
		Config: train.Config{Integrate: train.Exact, Discount: 0.9}}
	out["all sums"] = train.Trainer{Belief: hyper.Model{Base: line, Hyper: hyper.Linear{Layout: dense,
		P: index.Gaussian{N: 5}}}, Config: train.Config{Integrate: train.FullData}}
	out["all sums, arms"] = train.Trainer{Belief: hyper.Model{Base: table, Hyper: hyper.Ensemble{Particles: 5, Params: 3}},
		Config: train.Config{Integrate: train.FullData}}
	return out
}

// observe returns the state of a trainer by name, after data and after a period. The response of datum at is first
// observed as 0 and then corrected. If at is -1, no response is corrected.
func observe(t *testing.T, tr train.Trainer, y []float64, at int, weights []float32) map[string][]float64 {
	t.Helper()
	tr.Steps, tr.Batch, tr.Indices, tr.Capacity, tr.Weighted = 3, 6, 4, len(y), weights != nil
	if !tr.Replays() {
		tr.Capacity = 0
	}
	inputs := 0
	if b, ok := tr.Belief.(hyper.FixedInputs); ok && b.Inputs() > 0 {
		inputs = b.Inputs()
		if tr.Replays() {
			tr.Inputs = inputs
		}
	}
	must.M(tr.Validate(tr.Belief))
	r := rand.New(rand.NewPCG(1, 2))
	var names []string
	out := must.M1(CallOnceN(must.M1(backend.Open(backend.Go)), func(seeds *Node) []*Node {
		g, s := seeds.Graph(), rng.New(seeds)
		one := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
		rates := train.Rates{Step: one(0.02), NoiseVar: one(0.5), PriorVar: one(2), Perturbation: one(0.7)}
		of := func(i int) train.Rates {
			if weights != nil {
				rates.Weight = one(float64(weights[i]))
			}
			return rates
		}
		state := tr.Init(s.Named("init"), nil)
		var late train.Correction
		for i, y := range y {
			x := Const(g, []int32{int32(r.IntN(3))})
			if inputs > 0 {
				x = Const(g, [][]float32{{float32(r.IntN(2)), float32(r.NormFloat64()), 1}})
			}
			first := y
			if i == at {
				first = 0
				late = train.Correction{X: x, Was: one(0), Y: one(y)}
			}
			place := Const(g, int32(i))
			state = tr.Observe(state, s.At(place), place, x, one(first), nil, of(i))
		}
		if at >= 0 {
			late.Age, late.Row = Const(g, int32(len(y)-1-at)), Const(g, int32(at))
			state = tr.Revise(state, late, of(at))
		}
		rates.Weight = nil
		state = tr.Train(state, s.Named("train"), Const(g, int32(len(y))), nil, rates)
		names = slices.Sorted(maps.Keys(state))
		nodes := make([]*Node, len(names))
		for i, name := range names {
			nodes[i] = ConvertDType(state[name], dtypes.Float64)
		}
		return nodes
	}, []uint64{7}))
	all := map[string][]float64{}
	for i, o := range out {
		all[names[i]] = tensors.MustCopyFlatData[float64](o)
	}
	return all
}

// If a response is observed as 0 and corrected later, the state has in all its parts the values that the right response
// would have given. This holds for every route: as they are, and standardised with weights, or standardised alone for
// routes without weights.
func TestRevise(t *testing.T) {
	if testing.Short() {
		t.Skip("TestReviseWhatIsDropped is quicker")
	}
	r := rand.New(rand.NewPCG(3, 4))
	y := make([]float64, 12)
	for i := range y {
		y[i] = float64(float32(2 + 3*r.NormFloat64()))
	}
	heavy := []float32{1, 3, 1, 1, 2, 1, 1, 5, 1, 1, 1, 2}
	for name, tr := range revisers() {
		for _, standardize := range []bool{false, true} {
			var weights []float32
			if standardize && tr.Integrate != train.Analytic {
				weights = heavy
			}
			tr.Standardize = standardize
			if standardize && tr.Integrate == train.FullData {
				continue
			}
			want, got := observe(t, tr, y, -1, weights), observe(t, tr, y, 4, weights)
			for part := range want {
				for j, w := range want[part] {
					if math.Abs(got[part][j]-w) > 2e-5*(1+math.Abs(w)) {
						t.Fatalf("%s, standardize %v, weights %v: %s[%d] is %v, want %v", name, standardize, weights, part, j,
							got[part][j], w)
					}
				}
			}
		}
	}
}

// If the buffer does not hold a datum, the correction of the datum changes only the mean and the variance of the
// responses.
func TestReviseWhatIsDropped(t *testing.T) {
	tr := revisers()["features"]
	tr.Standardize = true
	y := []float64{1, 2, 5}
	tr.Steps, tr.Batch, tr.Indices, tr.Capacity, tr.Inputs = 3, 6, 4, len(y), 3
	out := must.M1(CallOnceN(must.M1(backend.Open(backend.Go)), func(seeds *Node) []*Node {
		g, s := seeds.Graph(), rng.New(seeds)
		one := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
		state := tr.Init(s.Named("init"), nil)
		x := Const(g, [][]float32{{1, 2, 1}})
		for i, y := range y {
			state = tr.Observe(state, s.At(Const(g, int32(i))), Const(g, int32(i)), x, one(y), nil, train.Rates{})
		}
		c := train.Correction{X: x, Was: one(2), Y: one(3), Age: Const(g, int32(1)), Row: Const(g, int32(-1))}
		state = tr.Revise(state, c, train.Rates{})
		return []*Node{ConvertDType(state["replay.y"], dtypes.Float64), state["response.mean"], state["response.m2"]}
	}, []uint64{7}))
	var got []float64
	for _, o := range out {
		got = append(got, tensors.MustCopyFlatData[float64](o)...)
	}
	for i, want := range []float64{1, 2, 5, 3, 8} { // the rows, then mean and squared deviations of 1, 3, 5
		if math.Abs(got[i]-want) > 1e-9 {
			t.Fatalf("got rows, mean and squares %v", got)
		}
	}
}
