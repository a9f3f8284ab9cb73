package bandit

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// moving is a world whose actions have new features in every period, in addition to a context, and of which some are
// not available.
type moving struct {
	Noise float64 `run:"true"`
}

func (*moving) Validate() error  { return nil }
func (*moving) Problem() Problem { return Problem{Actions: 4, Features: 5, Moves: true} }

func (*moving) Init(s rng.Stream, _ hyper.Numbers) State {
	return State{"theta": s.Normal(1, 5)}
}

func (*moving) Offer(state State, _ hyper.Numbers, s rng.Stream, _ *Node) (Offer, State) {
	first := Equal(Iota(s.Graph(), s.Uniform(4).Shape(), 1), Const(s.Graph(), float32(0)))
	o := Offer{
		X: s.Named("x").Normal(4, 3), Context: s.Named("context").Normal(2),
		Available: Or(first, GreaterThan(s.Named("there").Uniform(4), Const(s.Graph(), float32(0.5)))),
	}
	next := maps.Clone(state)
	mean := ReduceSum(Mul(o.Inputs(4), state["theta"]), 2)
	next["mean"] = Where(o.Available, mean, AddScalar(MulScalar(mean, 0.0), -100))
	return o, next
}

func (b *moving) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	return reply(s, state["mean"], x, n.Of(s, "Noise", b.Noise)), State{"theta": state["theta"]}
}

// worlds returns one small world of each kind.
func worlds() map[string]World {
	return map[string]World{
		"gaussian":         &Gaussian{Arms: 4, PriorVariance: 2, NoiseVariance: 0.5},
		"neural":           &Neural{Actions: 5, Features: 3, Generator: []int{2}, Noise: 0.5},
		"neural-logistic":  &NeuralLogistic{Actions: 5, Features: 3, Generator: []int{20, 10}, Temperature: 0.3},
		"one-sparse":       &OneSparse{Size: 4, NoiseVariance: 0.01, NoiseFactor: 2},
		"linear":           &Linear{Actions: 6, Features: 3, ActionSet: ActionsCube, PriorVariance: 2, NoiseVariance: 0.5},
		"linear, sphere":   &Linear{Actions: 6, Features: 3, ActionSet: ActionsSphere, PriorVariance: 2, NoiseVariance: 0.5},
		"quadratic":        &Quadratic{Actions: 8, Offered: 4, Features: 3, NoiseVariance: 0.5},
		"moving":           &moving{Noise: 0.5},
		"delayed gaussian": &Delayed{&Gaussian{Arms: 4, PriorVariance: 2, NoiseVariance: 0.5}, 3},
		"delayed moving":   &Delayed{&moving{Noise: 0.5}, 2},
		"delayed by 0":     &Delayed{&moving{Noise: 0.5}, 0},
	}
}

// history holds, by period, the results of one run of a world.
type history struct {
	inputs, there, reward, regret [][]float32
	arrived                       []bool
	action, lateAction            []int32
	lateInput                     [][]float32
	all                           [][]float32 // reward and regret that each action would have had
}

// watch simulates runs with the given seeds and numbers, with a fixed action in each period, and checks the shapes of
// all that the world returns.
func watch(t *testing.T, name string, w World, seeds []uint64, numbers map[string][]float32, periods int) []history {
	t.Helper()
	return watcher(t, name, w, slices.Sorted(maps.Keys(numbers))...)(seeds, numbers, periods)
}

// watcher returns watch for a world whose runs have their own numbers with the given keys. Its programs are compiled
// once for each number of runs.
func watcher(t *testing.T, name string, w World, keys ...string) func(seeds []uint64, numbers map[string][]float32,
	periods int) []history {
	t.Helper()
	e, err := backend.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	p := w.Problem()
	numbersOf := func(in []*Node) hyper.Numbers {
		n := hyper.Numbers{}
		for i, key := range keys {
			n[key] = in[i]
		}
		return n
	}
	var names []string
	start, err := NewExec(e, func(in []*Node) []*Node {
		state := w.Init(rng.New(in[0]).Named("env").Named("init"), numbersOf(in[1:]))
		names = slices.Sorted(maps.Keys(state))
		return flat(state, names)
	})
	if err != nil {
		t.Fatal(err)
	}
	step, err := NewExec(e, func(in []*Node) []*Node {
		root, period, action, rest := rng.New(in[0]).At(in[1]), in[1], in[2], in[3+len(keys):]
		runs := in[0].Shape().Dim(0)
		n, state := numbersOf(in[3:]), State{}
		for i, name := range names {
			state[name] = rest[i]
		}
		offer, state := w.Offer(state, n, root.Named("offer"), period)
		out, next := w.Step(state, n, root.Named("env"), period, action)
		if got := slices.Sorted(maps.Keys(next)); !slices.Equal(got, names) {
			t.Errorf("the state has the parts %v, and then %v, want no change", names, got)
		}
		nodes := []*Node{Zeros(period.Graph(), out.Reward.Shape()), Ones(period.Graph(), out.Reward.Shape())}
		if x := offer.Inputs(p.Actions); (x == nil) != (p.Features == 0) {
			t.Errorf("got inputs %v for %d features", x, p.Features)
		} else if x != nil {
			x.AssertDims(runs, p.Actions, p.Features)
			nodes[0] = x
		}
		if offer.Available != nil {
			offer.Available.AssertDims(runs, p.Actions)
			nodes[1] = ConvertDType(offer.Available, dtypes.Float32)
		}
		for _, x := range []*Node{out.Reward, out.Regret} {
			x.AssertDims(runs)
		}
		nodes = append(nodes, out.Reward, out.Regret)
		if (out.Late != nil) != p.Delays {
			t.Errorf("got Late %v although Delays is %v", out.Late, p.Delays)
		}
		none := Const(period.Graph(), false)
		late := LateReward{Arrived: none, Action: action, Input: nodes[0]}
		if out.Late != nil {
			late = *out.Late
			late.Arrived.AssertScalar()
			late.Action.AssertDims(runs)
			if (late.Input != nil) != p.Moves {
				t.Errorf("late reward: got input %v, although Moves is %v", late.Input, p.Moves)
			} else if late.Input != nil {
				late.Input.AssertDims(runs, p.Features)
			} else {
				late.Input = out.Reward
			}
		}
		nodes = append(nodes, late.Arrived, late.Action, late.Input)
		for a := range p.Actions {
			other, _ := w.Step(state, n, root.Named("env"), period, AddScalar(ZerosLike(action), int32(a)))
			nodes = append(nodes, other.Reward, other.Regret)
		}
		return append(nodes, flat(next, names)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(seeds []uint64, numbers map[string][]float32, periods int) []history {
		t.Helper()
		given := []any{}
		for _, key := range keys {
			given = append(given, numbers[key])
		}
		state, err := start.Call(append([]any{seeds}, given...)...)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]history, len(seeds))
		for period := range periods {
			action := make([]int32, len(seeds))
			for i, seed := range seeds { // not the number of the next run
				action[i] = int32((int(seed)*7 + period*3) % p.Actions)
			}
			args := append([]any{seeds, int32(period), action}, given...)
			for _, s := range state {
				args = append(args, s)
			}
			got, err := step.Call(args...)
			if err != nil {
				t.Fatal(err)
			}
			inputs, there, lateInput := parts(got[0]), parts(got[1]), parts(got[6])
			reward, regret, lateAction := parts(got[2]), parts(got[3]), tensors.MustCopyFlatData[int32](got[5])
			all := make([][]float32, len(seeds))
			for _, x := range got[7 : 7+2*p.Actions] {
				for i, own := range parts(x) {
					all[i] = append(all[i], own...)
				}
			}
			for i := range out {
				h := &out[i]
				h.inputs, h.there, h.all = append(h.inputs, inputs[i]), append(h.there, there[i]), append(h.all, all[i])
				h.reward, h.regret = append(h.reward, reward[i]), append(h.regret, regret[i])
				h.arrived = append(h.arrived, tensors.ToScalar[bool](got[4]))
				h.action, h.lateAction = append(h.action, action[i]), append(h.lateAction, lateAction[i])
				h.lateInput = append(h.lateInput, lateInput[i])
			}
			state = got[7+2*p.Actions:]
		}
		return out
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

// set sets a number of a world.
func set(w World, name string, x float64) {
	if d, ok := w.(*Delayed); ok {
		w = d.World
	}
	reflect.ValueOf(w).Elem().FieldByName(name).SetFloat(x)
}

// conforms checks the requirements of every world. fresh makes the same world again. A variant of another world is not
// tested on XLA, which takes seconds to compile a world.
func conforms(t *testing.T, fresh func() World, variant bool) {
	const periods = 6
	w, seeds := fresh(), []uint64{3, 4, 5}
	p := w.Problem()
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if variant && name != backend.Go {
			return
		}
		simulate := watcher(t, name, w)
		batch := simulate(seeds, nil, periods)
		for i, h := range batch {
			moved := false
			for period := range periods {
				least := math.Inf(1)
				for a := range p.Actions {
					reward, regret := h.all[period][2*a], h.all[period][2*a+1]
					if there := h.there[period]; len(there) > 1 && there[a] == 0 {
						continue
					}
					least = min(least, float64(regret))
					// The best mean and the noise are the same for every action. A late reward belongs to another
					// action.
					first := h.all[period][:2]
					off := math.Abs(float64(reward + regret - first[0] - first[1]))
					if _, binary := w.(*NeuralLogistic); binary {
						// A reward is 1 if the period's random number is less than the probability, whatever the
						// action.
						if reward != 0 && reward != 1 || reward < first[0] && regret < first[1] {
							t.Errorf("run %d, period %d: reward %v and regret %v of action %d, %v of the first",
								i, period, reward, regret,
								a, first)
						}
						continue
					}
					if !p.Delays && h.there[period][0] == 1 && off > 1e-4 {
						t.Errorf("run %d, period %d: reward %v and regret %v of action %d, %v of the first",
							i, period, reward, regret,
							a, first)
					}
					if p.Delays && reward != h.all[period][0] {
						t.Errorf("run %d, period %d: the late reward depends on action %d", i, period, a)
					}
				}
				if least != 0 {
					t.Errorf("run %d, period %d: got %v as the least regret of the actions, want 0", i, period, least)
				}
				moved = moved || !slices.Equal(h.inputs[period], h.inputs[0])
			}
			if moved != p.Moves {
				t.Errorf("run %d: inputs changed: %v, although Moves is %v", i, moved, p.Moves)
			}
			if name != backend.Go {
				continue // roundings may depend on the batch
			}
			if alone := simulate(seeds[i:i+1], nil, periods); !reflect.DeepEqual(alone[0], h) {
				t.Errorf("run %d differs from the same run alone", i)
			}
		}
		if name == backend.Go && slices.Equal(batch[0].reward[periods-1], batch[1].reward[periods-1]) &&
			reflect.DeepEqual(batch[0].regret, batch[1].regret) {
			t.Error("two runs have the same reward")
		}
	})
	for number, own := range hyper.NumbersOf(w) {
		of := []float64{own / 2, 0.9 * own, own}
		numbers := map[string][]float32{number: {float32(of[0]), float32(of[1]), float32(of[2])}}
		batch := watch(t, backend.Go, w, seeds, numbers, periods)
		for i, x := range of {
			other := fresh()
			set(other, number, x)
			if alone := watch(t, backend.Go, other, seeds[i:i+1], nil, periods); !reflect.DeepEqual(alone[0], batch[i]) {
				t.Errorf("run %d with %s = %v differs from a world with this number", i, number, x)
			}
		}
		if other := watch(t, backend.Go, w, seeds[:1], nil, periods); reflect.DeepEqual(other[0].reward, batch[0].reward) &&
			reflect.DeepEqual(other[0].regret, batch[0].regret) {
			t.Errorf("number %s has no effect on rewards and regrets", number)
		}
	}
}

// The requirements of every world: the shapes of its offers and outcomes; regrets that are not negative, and 0 for the
// best action; the same noise for all actions; runs that do not depend on the other runs; and numbers that may differ
// between runs.
func TestWorldsConform(t *testing.T) {
	variants := []string{"linear, sphere", "delayed gaussian", "delayed by 0"}
	for name := range worlds() {
		t.Run(name, func(t *testing.T) {
			conforms(t, func() World { return worlds()[name] }, slices.Contains(variants, name))
		})
	}
}

// The arrivals of a period are the reward, the action and the input of Periods earlier, to the bit; nothing arrives
// before that. Regrets belong to the period's action, and the worlds continue as if nothing were late.
func TestDelayed(t *testing.T) {
	const periods = 9
	seeds := []uint64{1, 2}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for what, w := range map[string]World{"gaussian": worlds()["gaussian"], "moving": worlds()["moving"]} {
			if name != backend.Go && what != "moving" {
				continue // XLA takes seconds to compile a world
			}
			now := watch(t, name, w, seeds, nil, periods)
			for _, delay := range []int{0, 1, 4} {
				if name != backend.Go && delay != 4 {
					continue
				}
				late := watch(t, name, &Delayed{w, delay}, seeds, nil, periods)
				if delay == 0 {
					if !reflect.DeepEqual(late, now) {
						t.Errorf("%s: a delay of 0 changes the world", what)
					}
					continue
				}
				features := w.Problem().Features
				for i, h := range late {
					if !reflect.DeepEqual(h.regret, now[i].regret) || !reflect.DeepEqual(h.inputs, now[i].inputs) {
						t.Errorf("%s, delay %d: the delay changes regrets or inputs", what, delay)
					}
					for period := range periods {
						if h.arrived[period] != (period >= delay) {
							t.Errorf("%s, delay %d: arrived is %v in period %d", what, delay, h.arrived[period], period)
						}
						if period < delay {
							continue
						}
						then := period - delay
						if h.reward[period][0] != now[i].reward[then][0] || h.lateAction[period] != now[i].action[then] {
							t.Errorf("%s, delay %d, period %d: reward %v of action %d, want %v of %d",
								what, delay, period,
								h.reward[period], h.lateAction[period], now[i].reward[then], now[i].action[then])
						}
						at := int(now[i].action[then]) * features
						want := now[i].inputs[then]
						if w.Problem().Moves && !slices.Equal(h.lateInput[period], want[at:at+features]) {
							t.Errorf("%s, delay %d, period %d: got input %v of %v",
								what, delay, period, h.lateInput[period], want)
						}
					}
				}
			}
		}
	})
}

func TestDelayedValidate(t *testing.T) {
	gaussian := worlds()["gaussian"]
	for want, w := range map[string]World{
		"needs a World":                  &Delayed{},
		"periods must be at least 0":     &Delayed{gaussian, -1},
		"arms must be at least 1":        &Delayed{&Gaussian{}, 1},
		"are delayed already":            &Delayed{&Delayed{gaussian, 1}, 1},
		"periods x features, would be [": &Delayed{worlds()["moving"], 1 << 30},
	} {
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := (&Delayed{gaussian, 0}).Validate(); err != nil {
		t.Error(err)
	}
}
