package agent

import (
	"context"
	"fmt"
	"slices"
)

// DecideList chooses n different actions of a menu for the places of a list, beginning with the first place. It makes n
// decisions, each among the actions that the earlier decisions left. Each decision has its own ID, and waits for its
// own reward. Decision.Action is an index into the menu. Probabilities has an entry for each action of the menu; the
// entry is 0 for actions taken before. If the menu names no arms, both use the numbers of the arms.
//
// The agent does not model that users look at the first place more than at the last. After an error, the decisions made
// before it remain valid and are returned.
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

// choices is a Menu whose actions are all listed, with the index of each action in the original Menu.
type choices struct {
	Menu
	places []int
	size   int // number of actions of the original Menu
}

// choices lists the actions of a menu, also if the menu means all arms. The error says what is wrong with the menu.
func (a *Agent) choices(m Menu) (choices, error) {
	f := a.currentForm()
	m, named := f.listOffered(m)
	inputs, err := f.encoded(m, false)
	if err != nil {
		return choices{}, err
	}
	out := choices{Menu: m, size: f.slots()}
	if named { // the places are the numbers of the arms
		out.places = slices.Clone(f.set.Offered)
		return out, nil
	}
	switch {
	case inputs == nil: // arms without a context
		out.places = allArms(f.arms)
		out.Actions = armInputs(out.places)
		return out, nil
	case m.Arms == nil && m.Actions == nil:
		out.Arms = allArms(len(inputs))
	}
	out.Arms, out.Actions, out.places = slices.Clone(out.Arms), slices.Clone(m.Actions), allArms(len(inputs))
	out.size = len(inputs)
	return out, nil
}

// take removes an action.
func (c *choices) take(i int) {
	c.places = slices.Delete(c.places, i, i+1)
	if c.Arms != nil {
		c.Arms = slices.Delete(slices.Clone(c.Arms), i, i+1) // a copy, because the log may still hold the last slice
	}
	if c.Actions != nil {
		c.Actions = slices.Delete(slices.Clone(c.Actions), i, i+1)
	}
}
