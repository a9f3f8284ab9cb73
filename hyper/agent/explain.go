package agent

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Explanation describes the agent's belief about an action's mean reward, and the effect of each number on it.
type Explanation struct {
	Estimate          // estimate of the mean reward
	Context  []Effect // effects of the context's numbers
	Action   []Effect // effects of the action's own numbers
}

// Estimate is a mean and a standard deviation over the functions of the belief, in the units of rewards.
type Estimate struct{ Mean, SD float64 }

// Effect is the change of the mean reward when a number takes its present value instead of its average. The average is
// the mean over the menus so far if the Encoding standardises, and 0 otherwise. The effects of several numbers add up
// if the belief is linear.
type Effect struct {
	Number int // index of the number in the context, or in the action
	Estimate
}

// Explain returns an Explanation of each action of a menu, computed from the given number of functions of the belief;
// 256 are enough for two digits. Numbers that have their average value get no Effect. Explain makes no decision and
// writes nothing to the log. A menu that names no arms means all arms, also removed ones. Its cost is one prediction
// for each action and number. The error says what is wrong with the menu, or is the error of ctx.
func (a *Agent) Explain(ctx context.Context, m Menu, functions int) ([]Explanation, error) {
	if functions < 2 {
		return nil, fmt.Errorf("an explanation needs at least 2 functions, got %d", functions)
	}
	f := a.currentForm()
	if _, err := f.encoded(m, false); err != nil {
		return nil, err
	}
	all := f.changes(m)
	out := make([]Explanation, len(all))
	for i, c := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e, err := a.explained(c, functions)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// changes holds an input, and copies of the input in which one number has its average value.
type changes struct {
	input           []float32
	context, action []changed
}

// changed is a copy of an input in which the number at an index has its average value.
type changed struct {
	number int
	input  []float32
}

// changes returns the changes of each action of a menu that has been checked.
func (a *form) changes(m Menu) []changes {
	e := a.encoder
	if e == nil {
		return a.plainChanges(m)
	}
	if e.Standardize {
		m = e.standardised(m, false)
	}
	arms := m.Arms
	if arms == nil {
		arms = allArms(e.Arms)
	}
	out := make([]changes, max(len(arms), len(m.Actions)))
	for i := range out {
		own := func(context, action []float32) []float32 { return e.input(action, context) }
		var numbers []float32
		if e.Arms > 0 {
			own = func(context, _ []float32) []float32 { return e.ofArm(arms[i], context) }
		} else {
			numbers = m.Actions[i]
		}
		out[i].input = own(m.Context, numbers)
		for number, x := range without(m.Context) {
			out[i].context = append(out[i].context, changed{number, own(x, numbers)})
		}
		for number, x := range without(numbers) {
			out[i].action = append(out[i].action, changed{number, own(m.Context, x)})
		}
	}
	return out
}

// plainChanges does what changes does, for an agent without an Encoding: an action is an input, and an arm is given by
// its number.
func (a *form) plainChanges(m Menu) (out []changes) {
	if a.config.Features == 0 {
		inputs := m.Actions
		if inputs == nil {
			inputs = armInputs(allArms(a.arms))
		}
		for _, x := range inputs {
			out = append(out, changes{input: x})
		}
		return out
	}
	for _, x := range m.Actions {
		c := changes{input: x}
		for number, input := range without(x) {
			c.action = append(c.action, changed{number, input})
		}
		out = append(out, c)
	}
	return out
}

// without yields, for each number that is not 0, its index and a copy of the numbers in which it is 0.
func without(x []float32) iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		for i, v := range x {
			if v == 0 {
				continue
			}
			less := slices.Clone(x)
			less[i] = 0
			if !yield(i, less) {
				return
			}
		}
	}
}

// mostChanged is the largest number of changed inputs in one sample of functions.
const mostChanged = 63

// explained returns the Explanation of an input and its changes.
func (a *Agent) explained(c changes, functions int) (out Explanation, err error) {
	others := slices.Concat(c.context, c.action)
	for first := true; first || len(others) > 0; first = false {
		some := others[:min(len(others), mostChanged)]
		others = others[len(some):]
		inputs := [][]float32{c.input}
		for _, one := range some {
			inputs = append(inputs, one.input)
		}
		values, err := a.Sample(inputs, functions)
		if err != nil {
			return out, err
		}
		if first {
			out.Estimate = estimate(values, func(f []float32) float64 { return float64(f[0]) })
		}
		for i, one := range some {
			effect := Effect{one.number, estimate(values, func(f []float32) float64 { return float64(f[0] - f[1+i]) })}
			if len(out.Context) < len(c.context) {
				out.Context = append(out.Context, effect)
			} else {
				out.Action = append(out.Action, effect)
			}
		}
	}
	return out, nil
}

// estimate returns the mean and the standard deviation of a number over functions.
func estimate(functions [][]float32, of func(f []float32) float64) (e Estimate) {
	var s2 float64
	for i, f := range functions { // Welford (1962)
		v := of(f)
		off := v - e.Mean
		e.Mean += off / float64(i+1)
		s2 += off * (v - e.Mean)
	}
	e.SD = math.Sqrt(s2 / float64(len(functions)-1))
	return e
}
