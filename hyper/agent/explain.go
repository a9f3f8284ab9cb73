package agent

import (
	"context"
	"fmt"
	"math"
)

// Explanation is what the agent believes of an action's mean reward, and which numbers make it so.
type Explanation struct {
	Estimate          // of the mean reward
	Context  []Effect // of the context's numbers
	Action   []Effect // of the action's own numbers
}

// Estimate is a mean and a standard deviation over the belief, in the units of rewards.
type Estimate struct{ Mean, SD float64 }

// Effect is how much more the mean reward is than if one number were as it is on average: the mean of the menus so far
// where the Encoding standardises, elsewhere 0. Effects of several numbers add up where the belief is linear.
type Effect struct {
	Number int // of the context, or of the action, counted from 0
	Estimate
}

// Explain returns an Explanation of each action of a menu, from so many functions of the belief; 256 are enough for
// two digits. Numbers that are as on average have no Effect. It decides nothing, and the log has nothing of it. It costs
// a prediction for each action and number. The error is that of a menu that is wrong, or of ctx.
func (a *Agent) Explain(ctx context.Context, m Menu, functions int) ([]Explanation, error) {
	if functions < 2 {
		return nil, fmt.Errorf("an explanation needs 2 functions at least, got %d", functions)
	}
	f := a.viewed()
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

// changes are an input, and others that differ from it in one number each.
type changes struct {
	input           []float32
	context, action []changed
}

// changed is an input in which a number is as on average.
type changed struct {
	number int
	input  []float32
}

// changes returns those of each action of a menu that has been checked.
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

// plainChanges is changes without an Encoding: actions are inputs, and those of arms are numbers that say which.
func (a *form) plainChanges(m Menu) (out []changes) {
	if a.config.Features == 0 {
		inputs := m.Actions
		if inputs == nil {
			for i := range a.arms {
				inputs = append(inputs, []float32{float32(i)})
			}
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

// without yields copies of numbers, each with another one of them 0, where it is not so.
func without(x []float32) func(func(int, []float32) bool) {
	return func(yield func(int, []float32) bool) {
		for i, v := range x {
			if v == 0 {
				continue
			}
			less := append([]float32(nil), x...)
			less[i] = 0
			if !yield(i, less) {
				return
			}
		}
	}
}

// mostChanged is how many changed inputs functions are drawn at together.
const mostChanged = 63

// explained is the Explanation of an input and its changes.
func (a *Agent) explained(c changes, functions int) (out Explanation, err error) {
	others := append(append([]changed(nil), c.context...), c.action...)
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

// estimate is that of a number of each function.
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
