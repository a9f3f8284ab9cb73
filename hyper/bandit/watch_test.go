package bandit

import (
	"maps"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// history holds, by period, the results of one run of a world.
type history struct {
	inputs, available, reward, regret [][]float32
	arrived                           []bool
	action, lateAction                []int32
	lateInput                         [][]float32
	all                               [][]float32 // reward and regret that each action would have had
}

// seedsOf returns the seeds of n runs, 0 to n-1.
func seedsOf(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

// watch simulates runs with the given seeds and numbers, with a fixed action in each period, and checks the shapes of
// all that the world returns.
func watch(t *testing.T, name string, w World, seeds []uint64, numbers map[string][]float32, periods int) []history {
	t.Helper()
	return newWatcher(t, name, w, slices.Sorted(maps.Keys(numbers))...).watch(seeds, numbers, periods)
}

// watcher does watch for a world whose runs have their own numbers with the given keys. Its programs are compiled once
// for each number of runs.
type watcher struct {
	t       *testing.T
	world   World
	problem Problem
	keys    []string
	names   []string // names of the nodes of the world's state, sorted
	start   *Exec    // seeds and numbers -> state
	step    *Exec    // seeds, period, action, numbers and state -> results and state
}

func newWatcher(t *testing.T, name string, w World, keys ...string) *watcher {
	t.Helper()
	must.M(w.Validate())
	b := must.M1(backend.Open(name))
	out := &watcher{t: t, world: w, problem: w.Problem(), keys: keys}
	out.start, out.step = must.M1(NewExec(b, out.buildStart)), must.M1(NewExec(b, out.buildStep))
	return out
}

func (w *watcher) numbers(in []*Node) hyper.Numbers {
	n := hyper.Numbers{}
	for i, key := range w.keys {
		n[key] = in[i]
	}
	return n
}

func (w *watcher) buildStart(in []*Node) []*Node {
	state := w.world.Init(rng.New(in[0]).Named("env").Named("init"), w.numbers(in[1:]))
	w.names = slices.Sorted(maps.Keys(state))
	return flat(state, w.names)
}

func (w *watcher) buildStep(in []*Node) []*Node {
	root, period, action, rest := rng.New(in[0]).At(in[1]), in[1], in[2], in[3+len(w.keys):]
	n, state := w.numbers(in[3:]), State{}
	for i, name := range w.names {
		state[name] = rest[i]
	}
	offer, state := w.world.Offer(state, n, root.Named("offer"), period)
	out, next := w.world.Step(state, n, root.Named("env"), period, action)
	if got := slices.Sorted(maps.Keys(next)); !slices.Equal(got, w.names) {
		w.t.Errorf("the state has the parts %v, and then %v, want no change", w.names, got)
	}
	nodes := append(w.offered(offer, out.Reward), out.Reward, out.Regret)
	late := w.late(out, action, nodes[0])
	nodes = append(nodes, late.Arrived, late.Action, late.Input)
	return append(nodes, flat(next, w.names)...)
}

// offered returns the inputs of an offer and which actions are available, or zeros and ones like reward.
func (w *watcher) offered(offer Offer, reward *Node) []*Node {
	runs, p := reward.Shape().Dim(0), w.problem
	nodes := []*Node{ZerosLike(reward), OnesLike(reward)}
	if x := offer.Inputs(p.Actions); (x == nil) != (p.Features == 0) {
		w.t.Errorf("got inputs %v for %d features", x, p.Features)
	} else if x != nil {
		x.AssertDims(runs, p.Actions, p.Features)
		nodes[0] = x
	}
	if offer.Available != nil {
		offer.Available.AssertDims(runs, p.Actions)
		nodes[1] = ConvertDType(offer.Available, dtypes.Float32)
	}
	return nodes
}

// late returns the late reward of an outcome, or one that has not arrived.
func (w *watcher) late(out Outcome, action, inputs *Node) LateReward {
	runs, p := action.Shape().Dim(0), w.problem
	out.Reward.AssertDims(runs)
	out.Regret.AssertDims(runs)
	if (out.Late != nil) != p.Delays {
		w.t.Errorf("got Late %v although Delays is %v", out.Late, p.Delays)
	}
	if out.Late == nil {
		return LateReward{Arrived: Const(action.Graph(), false), Action: action, Input: inputs}
	}
	late := *out.Late
	late.Arrived.AssertScalar()
	late.Action.AssertDims(runs)
	if (late.Input != nil) != p.Moves {
		w.t.Errorf("late reward: got input %v, although Moves is %v", late.Input, p.Moves)
	} else if late.Input != nil {
		late.Input.AssertDims(runs, p.Features)
	} else {
		late.Input = out.Reward
	}
	return late
}

func (w *watcher) watch(seeds []uint64, numbers map[string][]float32, periods int) []history {
	w.t.Helper()
	given := []any{}
	for _, key := range w.keys {
		given = append(given, numbers[key])
	}
	state, err := w.start.Call(append([]any{seeds}, given...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	out := make([]history, len(seeds))
	for period := range periods {
		step := func(action []int32) []*tensors.Tensor {
			args := append([]any{seeds, int32(period), action}, given...)
			for _, s := range state {
				args = append(args, s)
			}
			got, err := w.step.Call(args...)
			if err != nil {
				w.t.Fatal(err)
			}
			return got
		}
		for a := range w.problem.Actions {
			got := step(slices.Repeat([]int32{int32(a)}, len(seeds)))
			recordAction(out, period, parts(got[2]), parts(got[3]))
		}
		action := make([]int32, len(seeds))
		for i, seed := range seeds { // not the number of the next run
			action[i] = int32((int(seed)*7 + period*3) % w.problem.Actions)
		}
		got := step(action)
		record(out, action, got)
		state = got[7:]
	}
	return out
}

// recordAction adds the reward and the regret that an action would have in a period to the histories of the runs.
func recordAction(out []history, period int, reward, regret [][]float32) {
	for i := range out {
		if len(out[i].all) == period {
			out[i].all = append(out[i].all, nil)
		}
		out[i].all[period] = append(out[i].all[period], reward[i][0], regret[i][0])
	}
}

// record adds the results of a period to the histories of the runs.
func record(out []history, action []int32, got []*tensors.Tensor) {
	inputs, available, lateInput := parts(got[0]), parts(got[1]), parts(got[6])
	reward, regret, lateAction := parts(got[2]), parts(got[3]), tensors.MustCopyFlatData[int32](got[5])
	for i := range out {
		h := &out[i]
		h.inputs, h.available = append(h.inputs, inputs[i]), append(h.available, available[i])
		h.reward, h.regret = append(h.reward, reward[i]), append(h.regret, regret[i])
		h.arrived = append(h.arrived, tensors.ToScalar[bool](got[4]))
		h.action, h.lateAction = append(h.action, action[i]), append(h.lateAction, lateAction[i])
		h.lateInput = append(h.lateInput, lateInput[i])
	}
}

func flat(state State, names []string) []*Node {
	var out []*Node
	for _, name := range names {
		out = append(out, state[name])
	}
	return out
}

// parts returns the numbers of each run in a tensor [runs, ...].
func parts(x *tensors.Tensor) [][]float32 {
	v := tensors.MustCopyFlatData[float32](x)
	return slices.Collect(slices.Chunk(v, len(v)/x.Shape().Dim(0)))
}
