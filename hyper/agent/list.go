package agent

import (
	"context"
	"fmt"
	"slices"
)

// DecideList chooses n different actions of a menu for the places of a list, the first place first. It makes n
// decisions, each among what the ones before it left: each has an ID, and waits for a reward of its own. Action is a
// place in the menu, and Probabilities are of all its actions, 0 for those that were taken before. Where the menu names no
// arms both are by the numbers of arms.
//
// That users look at the first place more than at the last is nothing that the agent knows. After an error the
// decisions before it stand, and are returned.
func (a *Agent) DecideList(ctx context.Context, m Menu, n int) ([]Decision, error) {
	left, err := a.choices(m)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(left.places) {
		return nil, fmt.Errorf("a list of %d actions must have 1 to %[1]d places, got %d", len(left.places), n)
	}
	out := make([]Decision, 0, n)
	for range n {
		d, err := a.Decide(ctx, left.Menu)
		if err != nil {
			return out, err
		}
		taken, all := d.Action, make([]float32, left.size)
		for i, p := range d.Probabilities {
			all[left.places[i]] = p
		}
		d.Action, d.Probabilities = left.places[taken], all
		out = append(out, d)
		left.take(taken)
	}
	return out, nil
}

// choices is a Menu whose actions are all given, with their places in another Menu.
type choices struct {
	Menu
	places []int
	size   int // of the other Menu
}

// choices gives the actions of a menu that stand for all arms. The error is that of a menu that is wrong.
func (a *Agent) choices(m Menu) (choices, error) {
	f := a.viewed()
	m, named := f.offering(m)
	inputs, err := f.encoded(m, false)
	if err != nil {
		return choices{}, err
	}
	out := choices{Menu: m, size: f.slots()}
	if named { // by the numbers of arms
		out.places = slices.Clone(f.set.Offered)
		return out, nil
	}
	switch {
	case inputs == nil: // arms without a context
		for i := range f.arms {
			out.Actions = append(out.Actions, []float32{float32(i)})
		}
		out.places = allArms(f.arms)
		return out, nil
	case m.Arms == nil && m.Actions == nil:
		out.Arms = allArms(len(inputs))
	}
	out.Arms, out.Actions, out.places = slices.Clone(out.Arms), slices.Clone(m.Actions), allArms(len(inputs))
	out.size = len(inputs)
	return out, nil
}

// take takes an action away.
func (c *choices) take(i int) {
	c.places = slices.Delete(c.places, i, i+1)
	if c.Arms != nil {
		c.Arms = slices.Delete(slices.Clone(c.Arms), i, i+1) // the log may hold the last one
	}
	if c.Actions != nil {
		c.Actions = slices.Delete(slices.Clone(c.Actions), i, i+1)
	}
}
