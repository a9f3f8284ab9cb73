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

// Delayed is a world whose rewards come a number of periods after the actions that they are of; regrets are of the
// action of the period. With 0 periods it is the world itself. Its numbers are the world's.
//
// The state has the world's and, by the period modulo Periods, what is on its way: "late.reward" [runs, Periods],
// "late.action" int32 [runs, Periods], and where inputs change "late.input" [runs, Periods, features].
type Delayed struct {
	World
	Periods int `help:"periods after an action until its reward comes"`
}

var _ Told = &Delayed{}

// Names in the state of a Delayed world.
const (
	lateReward = "late.reward"
	lateAction = "late.action"
	lateInput  = "late.input"
	offered    = "late.offered" // inputs of all actions, [runs, actions, features]: from Offer to Step alone
)

// Validate reports what is wrong with the world or the delay.
func (b *Delayed) Validate() error {
	if b.World == nil {
		return errors.New("a delayed world needs a World")
	}
	if err := errors.Join(b.World.Validate(), faults.AtLeast("periods", b.Periods, 0)); err != nil {
		return err
	}
	p := b.World.Problem()
	if p.Delays && b.Periods > 0 {
		return errors.New("the rewards of the World come late already: give it all the periods")
	}
	return faults.Size("inputs on their way, periods x features,", b.Periods, max(p.Features, 1))
}

// Problem is the world's, with rewards that come late.
func (b *Delayed) Problem() Problem {
	p := b.World.Problem()
	p.Delays = p.Delays || b.Periods > 0
	return p
}

// Init draws the world; nothing is on its way.
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

// Means are the world's, nil where it tells none.
func (b *Delayed) Means(state State) *Node {
	if w, ok := b.World.(Told); ok {
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

// withLate returns a world's own state with what is on its way, which the world may have left out.
func withLate(own, state State) State {
	next := maps.Clone(own)
	for _, name := range []string{lateReward, lateAction, lateInput} {
		if x := state[name]; x != nil {
			next[name] = x
		}
	}
	return next
}

// Step returns the regret of the action, and the reward of the one that was taken Periods ago.
func (b *Delayed) Step(state State, n hyper.Numbers, s rng.Stream, period, action *Node) (Outcome, State) {
	out, own := b.World.Step(state, n, s, period, action)
	if b.Periods == 0 {
		return out, own
	}
	next := withLate(own, state)
	delete(next, offered)
	at := ModScalar(period, int32(b.Periods))
	exchange := func(name string, now *Node) (was *Node) {
		was, next[name] = row.At(state[name], at), row.Put(state[name], now, at)
		return was
	}
	delay := Scalar(period.Graph(), period.DType(), b.Periods)
	late := &Late{Arrived: GreaterOrEqual(period, delay), Action: exchange(lateAction, action)}
	if state[lateInput] != nil {
		late.Input = exchange(lateInput, pickRow(state[offered], action))
	}
	return Outcome{Reward: exchange(lateReward, out.Reward), Regret: out.Regret, Late: late}, next
}
