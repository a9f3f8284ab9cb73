package explore

// Padder is a Policy that heeds Moment.Actions: one program then serves several numbers of actions. Padding has the
// values of the first action, and what probability it is given is the first action's: that is right for every policy
// that looks for the best of something. A policy that counts actions must count Moment.Actions, and give padding
// nothing.
type Padder interface {
	Policy
	HeedsActions()
}

var _ = []Padder{Thompson{}, IDS{}, Greedy{}, EpsilonGreedy{}, UCB{}, TopTwo{}}

// HeedsActions marks a Padder.
func (Thompson) HeedsActions() {}

// HeedsActions marks a Padder.
func (IDS) HeedsActions() {}

// HeedsActions marks a Padder.
func (Greedy) HeedsActions() {}

// HeedsActions marks a Padder.
func (EpsilonGreedy) HeedsActions() {}

// HeedsActions marks a Padder.
func (UCB) HeedsActions() {}

// HeedsActions marks a Padder.
func (TopTwo) HeedsActions() {}
