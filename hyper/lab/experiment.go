// Package lab runs experiments: many independent runs of an agent in a world, compiled into one step over a State of
// tensors, with append-only results that a killed process resumes exactly.
//
// The path of an experiment: a [Setting] is a world with the settings of a learner for it; a [Spec] lists settings,
// periods, runs and seed; [Run] plans it into batches of runs, compiles one program for each distinct shape, advances
// the batches over the periods, and writes rows; [Summarize] turns rows into statistics.
package lab

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// Experiment is a world with learners for it.
type Experiment struct {
	Name, Title, Section string
	World                func() bandit.World       // with its defaults
	Agents               map[string]func() Learner // with the defaults that they have in this world
	Order                []string                  // of the agents
	// Others are kinds of learners that can be run as well, by name, as they begin in a world of arms or of features.
	Others      map[string]func(arms bool) Learner
	Sets        []string // settings that a Spec has unless it is given others for their keys, see [Experiment.Spec]
	Tuned       []Tuned  // what searches found: for what a Spec is not given, and before the agents' defaults
	Quick, Full Size
	Failure     float64 // regret per period, late in a run, above which it counts as failed
	Claims      []Claim
	// Target is the average regret per period, over runs of the Full size, below which a setting performs well; nil is
	// none.
	Target func(*Setting) float64

	usual map[string]*Setting // instead of an agent's default, see WithLearner
	kinds map[string]string   // of learners with settings of their own, see WithLearner
}

// Size is how much of an experiment is run.
type Size struct {
	Periods int `json:"periods"`
	Runs    int `json:"runs"`
	// Sets are settings of this size that go before the experiment's own Sets.
	Sets []string `json:"-"`
}

// String is the size in words.
func (s Size) String() string {
	text := fmt.Sprintf("%d runs of %d periods", s.Runs, s.Periods)
	if len(s.Sets) > 0 {
		text += " with " + strings.Join(s.Sets, " ")
	}
	return text
}
