package agent

import (
	"fmt"
)

// Menu lists what a decision chooses from. The Config's [Encoding] defines which fields it needs. Without an Encoding,
// a Menu has only Actions, which hold the inputs of the belief; an empty Menu means all arms. For an agent of arms
// without a context, each action is the number of an arm: [][]float32{{2}, {0}} offers arms 2 and 0.
type Menu struct {
	Context []float32   // numbers of the context, which all actions share
	Actions [][]float32 // numbers of each action
	// Arms lists the arms to choose from, without duplicates, if actions are arms with a context; nil means all arms.
	// Decision.Action is then an index into this list.
	Arms []int
	// Deferred marks a decision that is shown later, or never: see [Agent.Shown].
	Deferred bool
}

// check reports a Menu that does not match the Encoding.
func (e Encoding) check(m Menu) error {
	if len(m.Context) == 0 && e.Context > 0 {
		return fmt.Errorf("the agent decides in a context of %d numbers, and the menu has none: give it to Decide, as "+
			"Menu.Context", e.Context)
	}
	if len(m.Context) != e.Context {
		return fmt.Errorf("the context must have %d numbers, got %d", e.Context, len(m.Context))
	}
	if err := finiteNumbers("the context", m.Context); err != nil {
		return err
	}
	if e.Arms > 0 {
		return e.checkArms(m)
	}
	if len(m.Actions) == 0 || m.Arms != nil {
		return fmt.Errorf("Menu.Actions must list the actions, each by %d numbers, and Menu.Arms must be nil", e.Action)
	}
	for i, x := range m.Actions {
		if len(x) != e.Action {
			return fmt.Errorf("action %d must have %d numbers, got %d", i, e.Action, len(x))
		}
		if err := finiteNumbers(fmt.Sprintf("action %d", i), x); err != nil {
			return err
		}
	}
	return nil
}

// checkArms reports arms that do not exist or are given twice.
func (e Encoding) checkArms(m Menu) error {
	switch {
	case len(m.Actions) > 0:
		return fmt.Errorf("Menu.Actions must be nil, because the actions are arms: list some of the arms 0 to %d in "+
			"Menu.Arms, or leave it nil for all arms", e.Arms-1)
	case m.Arms != nil && len(m.Arms) == 0:
		return fmt.Errorf("there is nothing to choose from: Menu.Arms must be some of 0 to %d, or nil for all of them",
			e.Arms-1)
	}
	given := make([]bool, e.Arms)
	for _, arm := range m.Arms {
		if arm < 0 || arm >= e.Arms {
			return fmt.Errorf("an arm must be one of 0 to %d, got %d", e.Arms-1, arm)
		}
		if given[arm] {
			return fmt.Errorf("arm %d is given twice", arm)
		}
		given[arm] = true
	}
	return nil
}

func finiteNumbers(what string, x []float32) error {
	for i, v := range x {
		if tooLarge(v) {
			return fmt.Errorf("number %d of %s is too large, or %w: it must be between -1e18 and 1e18, got %v", i, what,
				ErrNotFinite, v)
		}
	}
	return nil
}

// armInputs returns the inputs of arms without a context: the number of each arm.
func armInputs(arms []int) [][]float32 {
	x := make([][]float32, len(arms))
	for i, arm := range arms {
		x[i] = []float32{float32(arm)}
	}
	return x
}

func allArms(n int) []int {
	arms := make([]int, n)
	for i := range arms {
		arms[i] = i
	}
	return arms
}
