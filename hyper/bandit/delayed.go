package bandit

import (
	"errors"
	"maps"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Delayed is a world in which a reward arrives a number of periods after its action. The regret belongs to the action
// of the same period. With 0 periods it is the same as World. Its numbers are the numbers of World.
//
// The state has the state of World. It also has the rewards that have not arrived yet, indexed by period modulo
// Periods: "late.reward" [runs, Periods], "late.action" int32 [runs, Periods], and, if inputs change, "late.input"
// [runs, Periods, features].
type Delayed struct {
	World
	Periods int `help:"number of periods from an action until its reward arrives"`
}

var _ MeanReporter = &Delayed{}

// The names of a Delayed world's own nodes in the state.
const (
	lateReward = "late.reward"
	lateAction = "late.action"
	lateInput  = "late.input"
	offered    = "late.offered" // inputs of all actions, [runs, actions, features]; only from Offer to Step
)

// Validate returns the faults of the world or the delay.
func (b *Delayed) Validate() error {
	if b.World == nil {
		return errors.New("a delayed world needs a World")
	}
	if err := errors.Join(b.World.Validate(), faults.AtLeast("periods", b.Periods, 0)); err != nil {
		return err
	}
	p := b.World.Problem()
	if p.Delays && b.Periods > 0 {
		return errors.New("the rewards of World are delayed already: give World the whole delay")
	}
	return faults.Size("delayed inputs, periods x features,", b.Periods, max(p.Features, 1))
}

// Problem returns the problem of World, with delayed rewards.
func (b *Delayed) Problem() Problem {
	p := b.World.Problem()
	p.Delays = p.Delays || b.Periods > 0
	return p
}

// Init draws the state of World. No reward is pending.
func (b *Delayed) Init(s rng.Stream, n hyper.Numbers) State {
	state := b.World.Init(s, n)
	if b.Periods == 0 {
		return state
	}
	none := func(dtype dtypes.DType, dims ...int) *Node {
		return Zeros(s.Graph(), shapes.Make(dtype, append([]int{s.Runs(), b.Periods}, dims...)...))
	}
	state = maps.Clone(state)
	state[lateReward], state[lateAction] = none(dtypes.Float32), none(dtypes.Int32)
	if p := b.World.Problem(); p.Moves {
		state[lateInput] = none(dtypes.Float32, p.Features)
	}
	return state
}

// Means returns the means of World, or nil if World does not report them.
func (b *Delayed) Means(state State) *Node {
	if w, ok := b.World.(MeanReporter); ok {
		return w.Means(state)
	}
	return nil
}

func (b *Delayed) Offer(state State, n hyper.Numbers, s rng.Stream, period *Node) (Offer, State) {
	offer, own := b.World.Offer(state, n, s, period)
	next := withLate(own, state)
	if state[lateInput] != nil {
		next[offered] = offer.Inputs(b.World.Problem().Actions)
	}
	return offer, next
}

// withLate returns a world's own state with the pending rewards of state, which the world may have dropped.
func withLate(own, state State) State {
	next := maps.Clone(own)
	for _, name := range []string{lateReward, lateAction, lateInput} {
		if x := state[name]; x != nil {
			next[name] = x
		}
	}
	return next
}

// Step returns the regret of the action, and the reward of the action that was taken Periods ago.
func (b *Delayed) Step(state State, n hyper.Numbers, s rng.Stream, period, action *Node) (Outcome, State) {
	out, own := b.World.Step(state, n, s, period, action)
	if b.Periods == 0 {
		return out, own
	}
	next := withLate(own, state)
	delete(next, offered)
	at := ModScalar(period, int32(b.Periods))
	exchange := func(name string, now *Node) (old *Node) {
		old, next[name] = row.At(state[name], at), row.Put(state[name], now, at)
		return old
	}
	delay := Scalar(period.Graph(), period.DType(), b.Periods)
	late := &LateReward{Arrived: GreaterOrEqual(period, delay), Action: exchange(lateAction, action)}
	if state[lateInput] != nil {
		late.Input = exchange(lateInput, pickRow(state[offered], action))
	}
	return Outcome{Reward: exchange(lateReward, out.Reward), Regret: out.Regret, Late: late}, next
}
