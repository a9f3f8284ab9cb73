package agent

import (
	"errors"
	"fmt"
	"slices"
)

// ArmSet describes the arms of an agent. An arm keeps its number for ever. An arm that is no longer offered keeps its
// belief and learns from late rewards; it continues with that belief if it is offered again.
type ArmSet struct {
	First int // number of arms that the agent was made with: arms 0 to First-1
	// Like has an entry for each arm, including arms that are no longer offered: the number of the arm whose belief it
	// started with, or None if it started with the prior.
	Like []int
	// Offered lists the arms that a decision chooses among if its Menu names none.
	Offered []int
	// Names has a name for each arm, or is empty. The agent stores the names and does not use them.
	Names []string
}

// newArms returns the arms of a new agent with n arms.
func newArms(n int) ArmSet {
	if n == 0 {
		return ArmSet{}
	}
	return ArmSet{First: n, Like: slices.Repeat([]int{None}, n), Offered: allArms(n)}
}

func (s ArmSet) copied() ArmSet {
	return ArmSet{s.First, slices.Clone(s.Like), slices.Clone(s.Offered), slices.Clone(s.Names)}
}

// AllInOrder reports whether all arms are offered, in the order of their numbers.
func (s ArmSet) AllInOrder() bool { return slices.Equal(s.Offered, allArms(len(s.Like))) }

// checkNext returns an error if the arms cannot change from s to next.
func (s ArmSet) checkNext(next ArmSet) error {
	n := len(s.Like)
	switch {
	case n == 0:
		return errors.New("the agent has no arms: its actions have numbers, and may differ from decision to decision")
	case len(next.Like) < n || !slices.Equal(next.Like[:n], s.Like):
		return fmt.Errorf("Like must begin with the Like of the %d existing arms, %v, got %v", n, s.Like, next.Like)
	case len(next.Offered) == 0:
		return errors.New("Offered must have at least one arm")
	case len(next.Names) > 0 && len(next.Names) != len(next.Like):
		return fmt.Errorf("Names must be empty, or have one for each of the %d arms, got %d", len(next.Like),
			len(next.Names))
	case next.First != s.First:
		return fmt.Errorf("First must stay %d, got %d", s.First, next.First)
	}
	for arm, like := range next.Like[n:] {
		if like != None && (like < 0 || like >= n) {
			return fmt.Errorf("arm %d cannot begin like arm %d: want one of 0 to %d, or None", n+arm, like, n-1)
		}
	}
	given := make([]bool, len(next.Like))
	for _, arm := range next.Offered {
		if arm < 0 || arm >= len(given) || given[arm] {
			return fmt.Errorf("Offered must be different arms of 0 to %d, got %v", len(given)-1, next.Offered)
		}
		given[arm] = true
	}
	return nil
}

// valid reports whether arms from a file are possible.
func (s ArmSet) valid() bool {
	ok := len(s.Names) == 0 || len(s.Names) == len(s.Like)
	for arm, like := range s.Like {
		ok = ok && (like == None || like >= 0 && like < arm)
	}
	return ok && s.First > 0 && s.checkNext(s) == nil
}

// listOffered lists the offered arms in a menu that names no arms. It does so only if some arms are not offered, or if
// they are offered in another order than their numbers; named is then true.
func (f *form) listOffered(m Menu) (out Menu, named bool) {
	if f.set.First == 0 || m.Arms != nil || m.Actions != nil || f.set.AllInOrder() {
		return m, false
	}
	if f.encoder != nil {
		m.Arms = f.set.Offered
		return m, true
	}
	m.Actions = armInputs(f.set.Offered)
	return m, true
}

// byArm converts a decision among the offered arms: its Action becomes the number of the arm, and its Probabilities are
// indexed by that number.
func (f *form) byArm(d Decision) Decision {
	p := make([]float32, f.slots())
	for i, arm := range f.set.Offered {
		p[arm] = d.Probabilities[i]
	}
	d.Action, d.Probabilities = f.set.Offered[d.Action], p
	return d
}
