package lab

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Learner is the settings of an agent: a pointer to a struct, see [Key]. It is a [LearnerMaker] or a [Yardstick].
type Learner interface {
	// Validate reports everything that is wrong, one fault each as joined by errors.Join: of the settings alone where p
	// is nil, and else of what they make for a problem, too.
	Validate(p *bandit.Problem) error
}

// LearnerMaker is settings of a learner for any world.
type LearnerMaker interface {
	Learner
	// Learner returns it for runs of the given number of periods, with its defaults. The settings must be valid. One
	// that takes features sees arms as one-hot vectors.
	Learner(p bandit.Problem, periods int) learner.Learner
}

// Yardstick is settings of an agent that knows more than a learner may, as an exact posterior: to compare with.
type Yardstick interface {
	Learner
	// Agent returns it. The settings must be valid.
	Agent(p bandit.Problem) Agent
}

// Setting is a world with the settings of a learner for it. A key that both have is one number: what the world says of
// itself, the learner takes for granted.
type Setting struct {
	World   bandit.World
	Learner Learner
	Delay   int `help:"periods after an action until its reward comes"`

	usual []string // of a Spec: the keys whose values are the agent's defaults there, or what a search found
}

// Validate reports everything that is wrong, one fault each as joined by errors.Join.
func (s *Setting) Validate() error {
	world := errors.Join(s.World.Validate(), faults.AtLeast("delay", s.Delay, 0))
	if world != nil {
		return once(world, s.Learner.Validate(nil))
	}
	p := s.World.Problem()
	return s.Learner.Validate(&p)
}

// source names the file that the world reads, with the SHA-256 of its contents. Both are "" where it reads none, or
// cannot.
func (s *Setting) source() (file, sum string) {
	if w, ok := s.World.(bandit.FromFile); ok && w.Validate() == nil {
		return w.Source()
	}
	return "", ""
}

// sameSource returns an error unless the world's file has these contents; "" is of a Spec that does not tell.
func (s *Setting) sameSource(sum string) error {
	if file, now := s.source(); sum != "" && now != "" && sum != now {
		return fmt.Errorf("file %s has changed: its SHA-256 is %.12s..., and was %.12s...: bring back the old file to "+
			"use these results, or run anew in another folder", file, now, sum)
	}
	return nil
}

// once joins errors, with each fault that several have once.
func once(errs ...error) error {
	var all []error
	seen := map[string]bool{}
	for _, err := range errs {
		for _, fault := range parts(err) {
			if !seen[fault.Error()] {
				seen[fault.Error()] = true
				all = append(all, fault)
			}
		}
	}
	return errors.Join(all...)
}

// parts takes a joined error apart.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, parts(one)...)
	}
	return all
}

// Build returns the world and the agent for runs of the given number of periods. The setting must be valid.
func (s *Setting) Build(periods int) (bandit.World, Agent) {
	agent := s.agent(s.World.Problem(), periods)
	if s.Delay == 0 {
		return s.World, agent
	}
	return &bandit.Delayed{World: s.World, Periods: s.Delay}, agent
}

func (s *Setting) agent(p bandit.Problem, periods int) Agent {
	maker, ok := s.Learner.(LearnerMaker)
	if !ok {
		return s.Learner.(Yardstick).Agent(p)
	}
	l := maker.Learner(p, periods)
	if b, ok := l.Belief.(hyper.FixedInputs); ok && p.Features == 0 && b.Inputs() > 0 {
		return oneHot{learning{l}, p.Actions}
	}
	return learning{l}
}

// numbers are those of world and agent that do not shape the computation, by "world." and "agent." and the name of
// their field.
func (s *Setting) numbers(periods int) map[string]float64 {
	out := map[string]float64{}
	_, agent := s.Build(periods)
	for name, x := range hyper.NumbersOf(s.World) {
		out[worldPrefix+name] = x
	}
	for name, x := range agent.Numbers() {
		out[agentPrefix+name] = x
	}
	return out
}

const (
	worldPrefix = "world."
	agentPrefix = "agent."
)
