package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// An epinet, a belief without capabilities, learns a regression by Adam. Its mean fits nine points of a sine. Its
// functions agree at these points and differ elsewhere.
func TestEpinetLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for long")
	}
	const runs, data, functions, noise = 2, 9, 100, 0.1
	tr := Trainer{
		hyper.Epinet{Features: 1, Hidden: []int{20, 20}, Epi: []int{10}, Dim: 4, PriorHidden: []int{5}, PriorScale: 1},
		Config{Steps: 8, Batch: 16, Indices: 8, Capacity: data, Optimizer: Adam{}},
	}
	must.M(tr.Validate(tr.Belief))
	// The inputs are first the data's, from -1 to 1, and then others.
	x := []float32{-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, -4, 4}
	var y []float64
	for _, v := range x {
		y = append(y, math.Sin(2*float64(v)))
	}
	inputs := func(g *Graph) *Node {
		c := Const(g, x)
		return BroadcastToDims(InsertAxes(c, 0, -1), runs, len(x), 1)
	}
	rates := func(g *Graph) Rates {
		all := func(v float64) *Node { return Const(g, slices.Repeat([]float32{float32(v)}, runs)) }
		return Rates{Step: all(0.005), NoiseVar: all(noise * noise), PriorVar: all(10), Perturbation: all(noise)}
	}
	b := must.M1(backend.Open(backend.Go))
	var names []string
	flat := func(state State) (out []*Node) {
		names = slices.Sorted(maps.Keys(state))
		for _, name := range names {
			out = append(out, state[name])
		}
		return out
	}
	named := func(in []*Node) State {
		state := State{}
		for i, name := range names {
			state[name] = in[i]
		}
		return state
	}
	seeds := []uint64{1, 2}
	init := must.M1(NewExec(b, func(in []*Node) []*Node {
		g, s := in[0].Graph(), rng.New(in[0])
		state := tr.Init(s.Named("init"), nil)
		for i := range data {
			at := Const(g, int32(i))
			all := func(v *Node) *Node { return BroadcastToDims(v, runs) }
			state = tr.Observe(state, s.At(at), at, all(at), all(Const(g, float32(y[i]))), inputs(g), rates(g))
		}
		return flat(state)
	}))
	learn := must.M1(NewExec(b, func(in []*Node) []*Node {
		g := in[0].Graph()
		return flat(tr.Train(named(in[2:]), rng.New(in[0]).At(in[1]), Const(g, int32(data)), inputs(g), rates(g)))
	}))
	predict := must.M1(NewExec(b, func(in []*Node) []*Node {
		s := rng.New(in[0]).Named("predict")
		f := hyper.Sample(tr.Belief, tr.Params(named(in[1:])), s, functions, inputs(in[0].Graph()))
		mean := ReduceMean(f, 1)
		return []*Node{mean, Sqrt(ReduceMean(Square(Sub(f, InsertAxes(mean, 1))), 1))}
	}))
	state := must.M1(init.Call(seeds))
	call := func(e *Exec, args ...any) []*tensors.Tensor {
		for _, v := range state {
			args = append(args, v)
		}
		return must.M1(e.Call(args...))
	}
	before := arrayOf(call(predict, seeds)[1])
	for period := range 150 {
		state = call(learn, seeds, int32(period))
	}
	out := call(predict, seeds)
	mean, spread := arrayOf(out[0]), arrayOf(out[1])
	rms := func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x * x
		}
		return math.Sqrt(sum / float64(len(v)))
	}
	for run := range runs {
		misfit := make([]float64, data)
		for i := range misfit {
			misfit[i] = mean.at(run, i) - y[i]
		}
		was, near, far := rms(before.sub(run).v[:data]), rms(spread.sub(run).v[:data]), rms(spread.sub(run).v[data:])
		// At data with noise 0.1 a function is known to about 0.1. The measured misfits were 0.02. The measured spreads
		// were 0.08 and 0.09 at the data, and 0.7 and 1.4 elsewhere, where only the prior determines the functions.
		if rms(misfit) > noise || near > 1.5*noise || near > was/4 || far < 4*near {
			t.Errorf("run %d: the mean misses the data by %.3f, and the spread there is %.3f, before training %.3f, "+
				"elsewhere %.3f", run, rms(misfit), near, was, far)
		}
	}
}
