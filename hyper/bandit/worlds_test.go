package bandit

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

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
		"drifting":         &Drifting{Gaussian{Arms: 4, PriorVariance: 2, NoiseVariance: 0.5}, 0.1},
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

// set sets a number of a world.
func set(w World, name string, x float64) {
	if d, ok := w.(*Delayed); ok {
		w = d.World
	}
	reflect.ValueOf(w).Elem().FieldByName(name).SetFloat(x)
}

// conforms checks the requirements of every world. fresh makes the same world again. A variant of another world is not
// tested on XLA, which takes seconds to compile a world, and short runs do not test its numbers.
func conforms(t *testing.T, fresh func() World, variant bool) {
	const periods = 6
	w, seeds := fresh(), []uint64{3, 4, 5}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if variant && name != backend.Go {
			return
		}
		simulate := newWatcher(t, name, w)
		batch := simulate.watch(seeds, nil, periods)
		for i, h := range batch {
			checkHistory(t, w, i, h)
			if name != backend.Go {
				continue // roundings may depend on the batch
			}
			if alone := simulate.watch(seeds[i:i+1], nil, periods); !reflect.DeepEqual(alone[0], h) {
				t.Errorf("run %d differs from the same run alone", i)
			}
		}
		if name == backend.Go && slices.Equal(batch[0].reward[periods-1], batch[1].reward[periods-1]) &&
			reflect.DeepEqual(batch[0].regret, batch[1].regret) {
			t.Error("two runs have the same reward")
		}
	})
	if testing.Short() && variant {
		return
	}
	for number, own := range hyper.NumbersOf(w) {
		checkNumber(t, fresh, number, own)
	}
}

// checkHistory checks the rewards and regrets of a run, and whether its inputs change.
func checkHistory(t *testing.T, w World, run int, h history) {
	t.Helper()
	p, moved := w.Problem(), false
	for period, all := range h.all {
		least := math.Inf(1)
		for a := range p.Actions {
			reward, regret := all[2*a], all[2*a+1]
			if available := h.available[period]; len(available) > 1 && available[a] == 0 {
				continue
			}
			least = min(least, float64(regret))
			// The best mean and the noise are the same for every action. A late reward belongs to another action.
			off := math.Abs(float64(reward + regret - all[0] - all[1]))
			wrong := h.available[period][0] == 1 && off > 1e-4
			if _, binary := w.(*NeuralLogistic); binary {
				// A reward is 1 if the period's random number is less than the probability, whatever the action.
				wrong = reward != 0 && reward != 1 || reward < all[0] && regret < all[1]
			}
			if !p.Delays && wrong {
				t.Errorf("run %d, period %d: reward %v and regret %v of action %d, %v of the first", run, period, reward,
					regret, a, all[:2])
			}
			if p.Delays && reward != all[0] {
				t.Errorf("run %d, period %d: the late reward depends on action %d", run, period, a)
			}
		}
		if least != 0 {
			t.Errorf("run %d, period %d: got %v as the least regret of the actions, want 0", run, period, least)
		}
		moved = moved || !slices.Equal(h.inputs[period], h.inputs[0])
	}
	if moved != p.Moves {
		t.Errorf("run %d: inputs changed: %v, although Moves is %v", run, moved, p.Moves)
	}
}

// checkNumber checks that runs with their own values of a number are the runs of worlds with these values.
func checkNumber(t *testing.T, fresh func() World, number string, own float64) {
	t.Helper()
	const periods = 6
	w, seeds, of := fresh(), []uint64{3, 4, 5}, []float64{own / 2, 0.9 * own, own}
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

// The requirements of every world: the shapes of its offers and outcomes; regrets that are not negative, and 0 for the
// best action; the same noise for all actions; runs that do not depend on the other runs; and numbers that may differ
// between runs.
func TestWorldsConform(t *testing.T) {
	onXLA := []string{"neural-logistic", "quadratic", "delayed moving"} // which have the operations of all
	for name := range worlds() {
		t.Run(name, func(t *testing.T) {
			conforms(t, func() World { return worlds()[name] }, !slices.Contains(onXLA, name))
		})
	}
}

// The arrivals of a period are the reward, the action and the input of Periods earlier, to the bit; nothing arrives
// before that. Regrets belong to the period's action, and the worlds continue as if nothing were late.
func TestDelayed(t *testing.T) {
	const periods = 9
	seeds := []uint64{1, 2}
	for what, w := range map[string]World{"gaussian": worlds()["gaussian"], "moving": worlds()["moving"]} {
		now := watch(t, backend.Go, w, seeds, nil, periods)
		for _, delay := range []int{0, 1, 4} {
			late := watch(t, backend.Go, &Delayed{w, delay}, seeds, nil, periods)
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
