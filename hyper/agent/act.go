package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Decision is an action taken, with the probability that each action had of being taken, given the functions that the
// policy saw, in whatever order it saw them. So for every action a, E[1{Action = a} / Probabilities[a]] = 1 where it is
// positive: importance weights of a log of Decisions are unbiased.
type Decision struct {
	ID            string    // names the decision in a Feedback; those of a Reader have none
	Action        int       // its place in Menu.Actions or Menu.Arms; the arm itself when neither is given
	Probabilities []float32 // of single precision, to which their sum is 1; 0 of arms that are not offered
	Scheme        Scheme
}

// Prob is the probability that the action had of being taken.
func (d Decision) Prob() float64 { return float64(d.Probabilities[d.Action]) }

// Scheme says how the probabilities of an agent's decisions come about: (1 - Floor) times those that the Policy gives
// for the values of so many Functions, drawn anew for each decision, plus Floor over the number of actions. It is for
// logs.
type Scheme struct {
	Policy    string  // as Go writes it, with its settings
	Functions int     // drawn from the belief for each decision
	Floor     float64 // the chance that an action is taken uniformly at random
}

// Act chooses among actions given by their numbers: the inputs of the belief, [actions][Features], or what the Encoding
// asks for; nil is all arms. The Action of the Decision is a place among these. It is Decide without a context.
func (a *Agent) Act(ctx context.Context, actions [][]float32) (Decision, error) {
	return a.Decide(ctx, Menu{Actions: actions})
}

// Decide chooses among the actions of a menu, which may differ from call to call. The agent remembers the input of the
// action, for the Feedback to come: see Config.Pending. The error is ErrNotFinite when a value that the policy saw is
// not finite, and that of ctx when it is done before the decision is; a compilation that the call did not wait for goes
// on, for the next one.
//
// Where the belief and the policy can decide in plain Go (hyper.Hosted, explore.Hosted) they do, without a program.
// Elsewhere a program is compiled when a number of actions is first asked for. Numbers are rounded up to 1, 2, 3, 4, 6,
// 8, 12, 16, 24 and so on, and the programs of the last 16 of these, Sample's among them, are kept. Warmup compiles
// beforehand. A Policy is told which actions are there: see explore.Moment.
func (a *Agent) Decide(ctx context.Context, m Menu) (Decision, error) {
	f, belief := a.belief()
	defer belief.drop()
	m, named := f.offering(m)
	actions, err := f.encoded(m, true)
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
	d, err = a.committed(f, d, m, newWaiting(number, inputOf(actions, d.Action), time.Now()))
	if err == nil && named {
		d = f.byArm(d)
	}
	return d, err
}

// inputOf is the input of an action; nil are all arms.
func inputOf(actions [][]float32, action int) []float32 {
	if actions == nil {
		return []float32{float32(action)}
	}
	return actions[action]
}

// Inputs are the inputs of the belief for the actions of a menu, as Sample and Add take them. Numbers are standardised
// as they would be now, and not counted.
func (a *Agent) Inputs(m Menu) ([][]float32, error) { return a.viewed().encoded(m, false) }

// encoded is Inputs, with all that is wrong; own standardises the numbers as if they were counted.
func (a *form) encoded(m Menu, own bool) ([][]float32, error) {
	if a.encoder == nil {
		switch {
		case (m.Context != nil || m.Arms != nil) && a.config.Features == 0:
			return nil, errors.New("an agent of arms has no context, and Menu.Arms go with one: give arms as Menu.Actions, " +
				"each by its number, as [][]float32{{2}, {0}}")
		case m.Context != nil || m.Arms != nil:
			return nil, errors.New("a context, or arms by their numbers, need a Config.Encoding")
		}
		return m.Actions, a.checkInputs(m.Actions)
	}
	if err := a.encoder.check(m); err != nil {
		return nil, err
	}
	return a.encoder.inputs(m, own), nil
}

// decide makes decision so many, counted from 0, with actions padded to a size.
func (a *form) decide(belief *snapshot, actions [][]float32, size int, number uint64) (Decision, error) {
	out, err := a.ask(shape{inputs: size}, belief, actions, uint32(number))
	if err != nil {
		return Decision{}, err
	}
	defer free(out...)
	if !tensors.ToScalar[bool](out[3]) {
		return Decision{}, errPredictions
	}
	p, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		return Decision{}, err
	}
	action, err := tensors.CopyFlatData[int32](out[1])
	if err != nil {
		return Decision{}, err
	}
	words, err := tensors.CopyFlatData[uint32](out[2])
	if err != nil {
		return Decision{}, err
	}
	n := len(actions)
	if actions == nil {
		n = a.arms
	}
	chosen, p := floored(int(action[0]), p[:n:n], a.floor(), words)
	return Decision{Action: chosen, Probabilities: p, Scheme: a.scheme()}, nil
}

// checkFloor reports a Floor that is no probability.
func checkFloor(floor float64) error {
	if !(floor <= 1) {
		return fmt.Errorf("the Floor must be at most 1, or negative for none, got %v", floor)
	}
	return nil
}

// floor is the probability of a uniform action.
func (a *form) floor() float64 { return max(a.config.Floor, 0) }

func (a *form) scheme() Scheme {
	p := a.config.Learner.Policy
	return Scheme{Policy: fmt.Sprintf("%#v", p), Functions: p.Samples(), Floor: a.floor()}
}

// floored mixes the probabilities with equal ones by the weight floor, and with that chance replaces the action by any:
// by two random words.
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

// buildAct decides: rest is the number of decisions before and, unless all arms are asked for, how many inputs there
// are and x.
func (a *form) buildAct(args []*Node) []*Node {
	state, rest := a.part(args, a.read), args[len(a.read):]
	stream := streams(state).Act(rest[0])
	var x, there *Node
	if len(rest) > 1 {
		x = rest[2]
		place := Iota(x.Graph(), shapes.Make(dtypes.Int32, 1, x.Shape().Dim(1)), 1)
		there = LessThan(place, rest[1])
	}
	c := a.config.Learner.Act(state, nil, stream, ConvertDType(rest[0], dtypes.Int32), x, there)
	return []*Node{c.Probabilities, c.Action, stream.Named("floor").Bits(2), LogicalAll(IsFinite(c.Values))}
}
