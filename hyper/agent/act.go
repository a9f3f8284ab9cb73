package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Decision is an action that the agent took, with the probability that each action had of being taken. The
// probabilities are conditional on the functions that the policy saw, whatever their order. So for every action a with
// a positive probability, E[1{Action = a} / Probabilities[a]] = 1: importance weights computed from a log of Decisions
// are unbiased. A probability is (1 - Floor) times the policy's, plus Floor divided by the number of actions.
type Decision struct {
	ID            string    // names the decision in a Feedback; "" for the decision of a Reader
	Action        int       // index into Menu.Actions or Menu.Arms; the number of the arm if neither is given
	Probabilities []float32 // sum to 1 in single precision; 0 for arms that are not offered
}

// Prob returns the probability that the action had of being taken.
func (d Decision) Prob() float64 { return float64(d.Probabilities[d.Action]) }

// Act chooses among actions. Each action is an input of the belief, [actions][Features], or the numbers that the
// Encoding expects. Arms must be different; nil means all arms. Decision.Action is an index into actions. Act is
// [Agent.Decide] without a context.
func (a *Agent) Act(ctx context.Context, actions [][]float32) (Decision, error) {
	return a.Decide(ctx, Menu{Actions: actions})
}

// Decide chooses among the actions of a menu. The menu may differ from call to call. The agent remembers the input of
// the chosen action until the Feedback arrives: see Config.Pending. The error says what is wrong with the menu, or is
// ErrNotFinite if a value that the policy saw is not finite, ErrLog, or the error of ctx if ctx ends before the
// decision is made. A compilation that the call stopped waiting for continues, and the next call uses its result. If
// Pending is full and Config.Reward keeps rewards, Decide first settles the decision that leaves, and waits for
// training under way.
//
// Decide runs in plain Go, without a program, if both the belief (hyper.Hosted) and the policy (explore.Hosted) support
// it. Otherwise it compiles a program the first time that a number of actions occurs. Numbers of actions are rounded up
// to 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on. The agent keeps the 16 programs that were used last, including those of
// Sample. Warmup compiles beforehand. The Policy receives a mask of the actions that exist: see explore.Moment.
func (a *Agent) Decide(ctx context.Context, m Menu) (Decision, error) {
	f, belief := a.belief()
	defer belief.drop()
	m, named := f.listOffered(m)
	actions, err := f.encoded(m, true)
	if err == nil {
		err = f.checkDifferent(actions)
	}
	if err != nil {
		return Decision{}, err
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	number := a.decisions.Add(1) - 1
	d, ok, err := f.decideOnHost(belief, actions, number)
	if size := padded(len(actions)); err == nil && !ok {
		if err = f.ready(ctx, belief, size); err == nil {
			d, err = f.decide(belief, actions, size, number)
		}
	}
	if err != nil {
		return Decision{}, err
	}
	d, err = a.commitDecision(f, d, m, newWaiting(number, inputOf(actions, d.Action), time.Now()))
	if err == nil && named {
		d = f.byArm(d)
	}
	return d, err
}

// checkDifferent reports an arm without a context that is given twice, as Encoding.checkArms does. Replay of a log does
// not call it, because earlier versions made such decisions.
func (a *form) checkDifferent(actions [][]float32) error {
	if a.config.Features > 0 {
		return nil
	}
	given := make(map[float32]bool, len(actions))
	for _, x := range actions {
		if given[x[0]] {
			return fmt.Errorf("arm %v is given twice", x[0])
		}
		given[x[0]] = true
	}
	return nil
}

// inputOf returns the input of an action; nil actions mean all arms.
func inputOf(actions [][]float32, action int) []float32 {
	if actions == nil {
		return []float32{float32(action)}
	}
	return actions[action]
}

// Inputs returns the inputs of the belief for the actions of a menu, in the form that Sample and Add take. Numbers are
// standardised with the present statistics, and are not counted in them. A menu that names no arms means all arms, also
// removed ones.
func (a *Agent) Inputs(m Menu) ([][]float32, error) { return a.currentForm().encoded(m, false) }

// encoded returns the inputs of a menu, or an error that says what is wrong with the menu. If own is true, the numbers
// of the menu count in the statistics that standardise them.
func (a *form) encoded(m Menu, own bool) ([][]float32, error) {
	if a.encoder == nil {
		switch {
		case (m.Context != nil || m.Arms != nil) && a.config.Features == 0:
			return nil, errors.New("an agent of arms takes no context, and Menu.Arms needs a context: give arms as Menu.Actions, " +
				"each by its number, for example [][]float32{{2}, {0}}")
		case m.Context != nil || m.Arms != nil:
			return nil, errors.New("a Menu with a Context or with Arms needs a Config.Encoding")
		}
		return m.Actions, a.checkInputs(m.Actions)
	}
	if err := a.encoder.check(m); err != nil {
		return nil, err
	}
	return a.encoder.inputs(m, own), nil
}

// decide makes the decision of a number, counted from 0, with the actions padded to size.
func (a *form) decide(belief *snapshot, actions [][]float32, size int, number uint64) (Decision, error) {
	out, err := a.ask(shape{inputs: size}, belief, actions, counter(number))
	if err != nil {
		return Decision{}, err
	}
	defer free(out...)
	if !tensors.ToScalar[bool](out[3]) {
		return Decision{}, errPredictions
	}
	p, err1 := tensors.CopyFlatData[float32](out[0])
	action, err2 := tensors.CopyFlatData[int32](out[1])
	words, err3 := tensors.CopyFlatData[uint32](out[2])
	if err := errors.Join(err1, err2, err3); err != nil {
		return Decision{}, err
	}
	n := a.inputsOf(actions)
	chosen, p := floored(int(action[0]), p[:n:n], a.floor(), words)
	return Decision{Action: chosen, Probabilities: p}, nil
}

// counter returns 32 bits of the number of a decision: they name its random numbers, and are its period. From 2^32 on
// the first bit stays set, so that the period stays large.
func counter(number uint64) uint32 {
	if number > math.MaxUint32 {
		number |= 1 << 31
	}
	return uint32(number)
}

// checkFloor reports a Floor that is not a probability.
func checkFloor(floor float64) error {
	if !(floor <= 1) {
		return fmt.Errorf("the Floor must be at most 1, or negative for none, got %v", floor)
	}
	return nil
}

// floor returns the probability of a uniformly random action.
func (a *form) floor() float64 { return max(a.config.Floor, 0) }

// floored mixes the probabilities with the uniform distribution, which has weight floor. With probability floor it
// replaces the action by a uniformly random one. words are two random words that decide both.
func floored(action int, p []float32, floor float64, words []uint32) (int, []float32) {
	sum, n := 0.0, len(p)
	for _, q := range p {
		sum += float64(q)
	}
	for i, q := range p {
		p[i] = float32((1-floor)*float64(q)/sum + floor/float64(n))
	}
	if float64(words[0]) < floor*(1<<32) {
		action = int(uint64(words[1]) * uint64(n) >> 32)
	}
	return action, p
}

// buildAct builds the program that decides. The arguments after the state are the number of earlier decisions and,
// unless all arms are asked for, the number of inputs and the inputs x.
func (a *form) buildAct(args []*Node) []*Node {
	state, rest := a.part(args, a.read), args[len(a.read):]
	stream := streams(state).Act(rest[0])
	var x, there *Node
	if len(rest) > 1 {
		x = rest[2]
		place := Iota(x.Graph(), shapes.Make(dtypes.Int32, 1, x.Shape().Dim(1)), 1)
		there = LessThan(place, rest[1])
	}
	period := ConvertDType(Min(rest[0], Const(rest[0].Graph(), uint32(math.MaxInt32))), dtypes.Int32)
	c := a.config.Learner.Act(state, nil, stream, period, x, there)
	return []*Node{c.Probabilities, c.Action, stream.Named("floor").Bits(2), LogicalAll(IsFinite(c.Values))}
}
