package agent

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
)

// String describes the agent for a person: its actions, its belief, and the numbers of its decisions and rewards.
func (a *Agent) String() string {
	return fmt.Sprintf("%s; decisions: %d, rewards: %d", a.currentForm().what("agent"), a.decisions.Load(), a.Size())
}

// String describes the agent of the snapshot.
func (s *Snapshot) String() string { return s.agent.what("snapshot of an agent") }

// what describes the agent's actions and belief; name is the noun that the description begins with.
func (a *form) what(name string) string {
	if a.reader != nil {
		name = "reader of an " + name
	}
	some := ""
	if a.set.First > 0 && !a.set.AllInOrder() {
		some = fmt.Sprintf(", which offers arms %v", a.set.Offered)
	}
	if a.arms > 0 {
		return fmt.Sprintf("%s with %d arms: %s%s", name, a.arms, beliefName(a.config.Learner.Belief), some)
	}
	return name + " with " + a.config.String() + some
}

// String describes the actions and the belief of an agent with this Config, for a person.
func (c Config) String() string {
	actions := "arms"
	switch e := c.Encoding; {
	case e != nil && e.Arms > 0:
		actions = fmt.Sprintf("%d arms", e.Arms)
	case e != nil:
		actions = fmt.Sprintf("actions of %d numbers", e.Action)
	case c.Features > 0:
		actions = fmt.Sprintf("actions of %d numbers", c.Features)
	}
	if e := c.Encoding; e != nil && e.Context > 0 {
		actions += fmt.Sprintf(" in a context of %d numbers", e.Context)
	}
	return actions + ": " + beliefName(c.Learner.Belief)
}

// beliefName returns the types of a belief.
func beliefName(b hyper.Belief) string {
	if b == nil {
		return "no belief"
	}
	if m, ok := b.(hyper.Model); ok {
		return fmt.Sprintf("%T of %T", m.Hyper, m.Base)
	}
	return fmt.Sprintf("%T", b)
}

// String describes the action and its probability, for a person.
func (d Decision) String() string {
	text := fmt.Sprintf("action %d", d.Action)
	if d.Action >= 0 && d.Action < len(d.Probabilities) {
		text += fmt.Sprintf(" of %d, with probability %.3g", len(d.Probabilities), d.Prob())
	}
	if d.ID != "" {
		text += ", decision " + d.ID
	}
	return text
}
