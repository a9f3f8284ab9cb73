package agent

import (
	"maps"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// history records one period of a simulation in each run.
type history struct {
	actions []int32
	rewards []float32
	regrets []float32
	inputs  []float32 // [runs, actions, features] flat; nil for arms
}

// simulate runs a learner in a world, as experiments do: all runs at once, one for each seed. It adds an offset to the
// rewards and then multiplies them by a scale.
func simulate(t testing.TB, on string, l learner.Learner, w bandit.World, seeds []uint64, periods int, scale,
	offset float64) []history {
	t.Helper()
	b := must.M1(backend.Open(on))
	l = l.WithDefaults()
	l.Train.Capacity, l.Train.Inputs = periods, 0 // inputs do not change
	must.M(l.Validate())
	var names []string
	var learning int
	flat := func(state, world map[string]*Node) (out []*Node) {
		names = names[:0]
		for _, s := range []map[string]*Node{state, world} {
			for _, name := range slices.Sorted(maps.Keys(s)) {
				names, out = append(names, name), append(out, s[name])
			}
			if learning == 0 {
				learning = len(out)
			}
		}
		return out
	}
	state := must.M1(CallOnceN(b, func(seeds *Node) []*Node {
		return flat(l.Init(learner.Streams{Seeds: seeds}.Init(), nil), w.Init(rng.New(seeds).Named("world"), nil))
	}, seeds))
	problem := w.Problem()
	exec := must.M1(NewExec(b, func(args []*Node) []*Node {
		seeds, period, args := args[0], args[1], args[2:]
		s, world := map[string]*Node{}, bandit.State{}
		for i, name := range names {
			if i < learning {
				s[name] = args[i]
			} else {
				world[name] = args[i]
			}
		}
		of := learner.Streams{Seeds: seeds}
		stream := rng.New(seeds).At(period).Named("world")
		offer, world := w.Offer(world, nil, stream.Named("offer"), period)
		x := offer.Inputs(problem.Actions)
		choice := l.Act(s, nil, of.Act(period), period, x, offer.Available)
		outcome, world := w.Step(world, nil, stream.Named("step"), period, choice.Action)
		reward := MulScalar(AddScalar(outcome.Reward, offset), scale)
		next := l.Observe(s, nil, of.Learn(period), period, choice.Action, reward, x)
		next = l.Fit(next, nil, of.Learn(period), AddScalar(period, int32(1)), nil, x)
		out := []*Node{choice.Action, reward, outcome.Regret}
		if x != nil {
			out = append(out, x)
		}
		return append(out, flat(next, world)...)
	}))
	out := make([]history, periods)
	for i := range out {
		args := []any{seeds, int32(i)}
		for _, v := range state {
			args = append(args, v)
		}
		did := must.M1(exec.Call(args...))
		h := &out[i]
		h.actions, h.rewards, h.regrets = tensors.MustCopyFlatData[int32](did[0]), tensors.MustCopyFlatData[float32](did[1]),
			tensors.MustCopyFlatData[float32](did[2])
		did = did[3:]
		if problem.Features > 0 {
			h.inputs, did = tensors.MustCopyFlatData[float32](did[0]), did[1:]
		}
		state = did
	}
	return out
}

// Policies returns all policies of package explore, with a number of functions.
func Policies(n int) map[string]explore.Policy {
	return map[string]explore.Policy{
		"thompson": explore.Thompson{N: n}, "ids": explore.IDS{N: n},
		"ids, candidates": explore.IDS{N: n, OnlyCandidates: true},
		"ucb":             explore.UCB{N: n}, "greedy": explore.Greedy{N: n},
		"egreedy": explore.EpsilonGreedy{N: n, Anneal: 300},
		"top-two": explore.TopTwo{N: n},
	}
}
