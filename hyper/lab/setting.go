package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Learner holds the settings of an agent in a pointer to a struct, see [catalog.Key]. It is either a
// [catalog.LearnerMaker] or an [Oracle].
type Learner interface {
	// Validate returns all faults, joined by errors.Join. If p is nil, it checks only the settings themselves.
	// Otherwise it also checks the learner that they make for the problem.
	Validate(p *bandit.Problem) error
}

// Oracle holds the settings of an agent that is used only for comparison, because it knows more than a learner may
// know, such as an exact posterior.
type Oracle interface {
	Learner
	// Agent returns the agent. The settings must be valid.
	Agent(p bandit.Problem) Agent
}

// Setting is a world with the settings of a learner for it. If both have a key, the key sets both: the learner assumes
// what is true in the world.
type Setting struct {
	World   bandit.World `part:"true"`
	Learner Learner      `part:"true"`
	Delay   int          `help:"number of periods from an action until its reward arrives"`

	usual []string // keys whose values are the agent's defaults or the result of a search; set in a Spec
}

// Validate returns all faults of the setting, joined by errors.Join.
func (s *Setting) Validate() error {
	world := errors.Join(s.World.Validate(), faults.AtLeast("delay", s.Delay, 0))
	if world != nil {
		return distinct(world, s.Learner.Validate(nil))
	}
	p, features := s.World.Problem(), 1
	if p.Delays && s.Delay > 0 {
		return errors.New("this world delays rewards itself: leave delay at 0; if delay is a field of the world, name its " +
			"key otherwise, by the tag `key`")
	}
	if p.Moves {
		features = max(p.Features, 1)
	}
	learner := s.Learner.Validate(&p)
	if fault := checkProblem(s.World); learner != nil && fault != nil { // no learner suits such a world
		return fault
	}
	return errors.Join(faults.Size("delayed inputs, delay x features,", s.Delay, features), learner)
}

// shape returns a string that is equal for settings that one computation can serve.
func (s *Setting) shape() string {
	values := catalog.Shape(s)
	_, values["file_sha256"] = s.source()
	text, _ := json.Marshal(values) // sorted by key
	return string(text)
}

// source returns the name of the file that the world reads, and the SHA-256 of its contents. Both are "" if the world
// reads no file or cannot read it.
func (s *Setting) source() (file, sum string) {
	if w, ok := s.World.(bandit.FromFile); ok && w.Validate() == nil {
		return w.Source()
	}
	return "", ""
}

// sameSource returns an error if the contents of the world's file have another SHA-256 than sum. An empty sum means
// that the Spec does not record it.
func (s *Setting) sameSource(sum string) error {
	if file, now := s.source(); sum != "" && now != "" && sum != now {
		return fmt.Errorf("file %s has changed: its SHA-256 is %.12s..., and was %.12s...: restore the old file to "+
			"use these results, or run the Spec again in another folder", file, now, sum)
	}
	return nil
}

// recall makes a setting whose file is missing valid, to read its results.
func (s *Setting) recall(sum string, shape bandit.Shape) error {
	if w, ok := s.World.(bandit.Recalled); ok && errors.Is(w.Validate(), fs.ErrNotExist) {
		return w.Recall(sum, shape)
	}
	return nil
}

// reread reads the file of a setting that recall made valid, because runs need the file.
func (s *Setting) reread() error {
	w, ok := s.World.(bandit.Recalled)
	if !ok {
		return nil
	}
	file, sum := s.source()
	if !w.Forget() {
		return nil
	}
	if err := w.Validate(); err != nil {
		return fmt.Errorf("%w: these runs need the file: run this in the folder with %s, or put it back", err, file)
	}
	return s.sameSource(sum)
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
	maker, ok := s.Learner.(catalog.LearnerMaker)
	if !ok {
		return s.Learner.(Oracle).Agent(p)
	}
	l := maker.Learner(p, periods)
	if b, ok := l.Belief.(hyper.FixedInputs); ok && p.Features == 0 && b.Inputs() > 0 {
		return oneHot{learning{l}, p.Actions}
	}
	return learning{l}
}

// numbers returns the numbers of the world and the agent that do not shape the computation. Their names are "world." or
// "agent." and the name of the field.
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

// Handover returns the learner of a setting, as it is simulated for the given number of periods, and the number of
// features of an input. Package agent takes both. The number is 0 for arms, or the number of arms if the learner gets
// arms as one-hot vectors. An [Oracle] has no learner, which is an error.
func (s *Setting) Handover(periods int) (l learner.Learner, features int, err error) {
	maker, ok := s.Learner.(catalog.LearnerMaker)
	if !ok {
		return l, 0, fmt.Errorf("%T is an oracle for simulations, not a learner: package agent cannot use it", s.Learner)
	}
	if err := s.Validate(); err != nil {
		return l, 0, err
	}
	p := s.World.Problem()
	l, features = maker.Learner(p, periods), p.Features
	if b, ok := l.Belief.(hyper.FixedInputs); ok && b.Inputs() > 0 {
		features = b.Inputs() // arms as one-hot vectors
	}
	return l, features, nil
}
