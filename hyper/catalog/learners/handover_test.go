package learners_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// live is a world that is stepped one period at a time, for one run.
type live struct {
	world                 bandit.World
	seed                  []uint64
	names                 []string
	state                 []*tensors.Tensor
	init, offers, replies *Exec
}

// newLive compiles a world, for any number of starts.
func newLive(w bandit.World, seed uint64) *live {
	l := &live{world: w, seed: []uint64{seed}}
	b := must.M1(backend.Open(backend.Go))
	l.init = must.M1(NewExec(b, func(in []*Node) []*Node {
		return l.flat(w.Init(rng.New(in[0]).Named("env").Named("init"), nil))
	}))
	l.offers = must.M1(NewExec(b, func(in []*Node) []*Node {
		offer, _ := l.offer(in)
		return append([]*Node{offer.Inputs(w.Problem().Actions)}, in...) // all are read, because the Go backend requires it
	}))
	l.replies = must.M1(NewExec(b, func(in []*Node) []*Node {
		_, state := l.offer(in)
		outcome, state := w.Step(state, nil, rng.New(in[0]).At(in[1]).Named("env"), in[1], in[2])
		out := append([]*Node{outcome.Reward}, l.flat(state)...)
		return append(out, in...)
	}))
	return l
}

func (l *live) start() { l.state = must.M1(l.init.Call(l.seed)) }

func (l *live) flat(state bandit.State) (out []*Node) {
	l.names = slices.Sorted(maps.Keys(state))
	for _, name := range l.names {
		out = append(out, state[name])
	}
	return out
}

// arguments returns the seed, the period, an action, and the state.
func (l *live) arguments(period, action int) []any {
	args := []any{l.seed, int32(period), []int32{int32(action)}}
	for _, x := range l.state {
		args = append(args, x)
	}
	return args
}

func (l *live) offer(in []*Node) (bandit.Offer, bandit.State) {
	state := bandit.State{}
	for i, name := range l.names {
		state[name] = in[3+i]
	}
	return l.world.Offer(state, nil, rng.New(in[0]).At(in[1]).Named("offer"), in[1])
}

// inputs returns the inputs of all actions in a period: one-hot vectors of arms if an agent takes features.
func (l *live) inputs(period, features int) (x [][]float32) {
	p := l.world.Problem()
	if p.Features == 0 {
		if features > 0 {
			for i := range p.Actions {
				x = append(x, make([]float32, p.Actions))
				x[i][i] = 1
			}
		}
		return x
	}
	out := must.M1(l.offers.Call(l.arguments(period, 0)...))
	return slices.Collect(slices.Chunk(tensors.MustCopyFlatData[float32](out[0]), p.Features))
}

func (l *live) step(period, action int) (reward float32) {
	out := must.M1(l.replies.Call(l.arguments(period, action)...))
	l.state = out[1 : 1+len(l.names)]
	return tensors.MustCopyFlatData[float32](out[0])[0]
}

// ways lists the settings of each kind of learner: one list of sets for each way to train.
func ways(world, kind string) [][]string {
	all := [][]string{nil}
	switch kind {
	case "bayesian-linear":
		all = append(all, []string{"discount=0.95"})
	case "egreedy":
		all = append(all, []string{"optimizer=sgld", "step-size=0.01", "policy=greedy"})
	case "linear", "ensemble":
		all = append(all, []string{"optimizer=sgd", "step-size=0.02"})
		if world != "neural" || kind == "ensemble" { // a linear hypermodel with a network has no exact solution
			all = append(all, []string{"integrate=exact", "hidden=none"})
		}
	}
	return all
}

// served returns the digest of the actions of an agent that a service holds, in a world that starts anew.
func served(t *testing.T, s *lab.Setting, world *live, periods int, seed uint64) (digest uint32) {
	t.Helper()
	l, features := must.M2(s.Handover(periods))
	a := must.M1(agent.New(agent.Config{Learner: l, Features: features, Floor: -1, Seed: seed, Backend: backend.Go}))
	world.start()
	for period := range periods {
		x := world.inputs(period, features)
		d := must.M1(a.Act(t.Context(), x))
		reward := world.step(period, d.Action)
		must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: reward}))
		digest = digest*0x01000193 + uint32(d.Action) + 1
	}
	return digest
}

// A learner that package agent holds takes the same actions as in the lab, in the same world and with the same seed,
// for each kind of learner and each way to train. All regrets are finite. With -short half of the learners are tested,
// each in one world.
func TestAgentsActAsInTheLab(t *testing.T) {
	const periods, seed = 20, 3
	for w, name := range worldsOf {
		x := must.M1(lab.Find(paper.Known, name))
		var world *live
		for k, kind := range catalog.Names(catalog.Learners()) {
			if testing.Short() && k%(2*len(worldsOf)) != w {
				continue
			}
			for _, more := range ways(name, kind) {
				spec := smallSpec(t, x, kind, lab.Size{Periods: periods, Runs: 1}, more...)
				_, rows, err := lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go})
				if err != nil {
					t.Fatalf("%s, %s %v: %v", name, kind, more, err)
				}
				if world == nil {
					world = newLive(spec.Entries[0].Setting.World, seed)
				}
				last := rows[len(rows)-1]
				if last.Diverged != 0 || !(last.Regret >= 0) || math.IsInf(float64(last.Regret), 0) {
					t.Errorf("%s, %s %v: %+v", name, kind, more, last)
				}
				got, want := served(t, spec.Entries[0].Setting, world, periods, seed), last.Digest
				if got != want {
					t.Errorf("%s, %s %v: the agent's actions have digest %x, those in the lab %x", name, kind, more,
						got, want)
				}
			}
		}
	}
}
