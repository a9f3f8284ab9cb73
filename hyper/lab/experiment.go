// Package lab runs experiments: many independent runs of an agent against an environment, compiled into one step over a
// State of tensors, with append-only results that a killed process resumes exactly.
//
// The path of an experiment: a [Setting] (a plain struct of numbers) builds an [Environment] and an [Agent]; a [Spec] lists
// settings, periods, runs and seed; [Run] plans it into batches of runs, compiles one program for each distinct shape,
// advances the batches over the periods, and writes rows; [Summarize] turns rows into statistics.
package lab

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// State is what an environment or an agent carries from period to period: nodes by name, with the runs axis first.
type State = map[string]*Node

// Inputs are the numbers of a Setting that do not shape the computation, float32 [runs] each, by key.
type Inputs = map[string]*Node

// Environment answers actions. Its methods build graphs for a batch of runs.
type Environment interface {
	// Init draws the truth of each run.
	Init(s rng.Stream, in Inputs) State
	// Actions returns the inputs of all actions, [runs, actions, features], or nil for arms.
	Actions(state State) *Node
	// Step returns the reward of each run's action (int32 [runs]) and its expected regret, each [runs]. The stream is that
	// of the period.
	Step(state State, in Inputs, s rng.Stream, action *Node) (reward, regret *Node)
}

// Agent chooses actions and learns. Its methods build graphs for a batch of runs.
type Agent interface {
	Init(s rng.Stream, in Inputs) State
	// Act returns the action of each run, int32 [runs], and the values it was chosen by, [runs, ...]: a run whose values
	// are not finite has diverged. period counts from 0 (int32 scalar).
	Act(state State, in Inputs, s rng.Stream, period, actions *Node) (action, values *Node)
	// Learn returns the state after the reward [runs] of an action.
	Learn(state State, in Inputs, s rng.Stream, period, action, reward, actions *Node) State
	// Computation is the paper's measure of arithmetic per period (section 4.1): n_sgd n_z n_data n_params.
	Computation() float64
}

// Setting is a configuration of an agent and its environment: a pointer to a struct whose exported fields (embedded
// structs included) are its keys. The tag `key` names a field, `help` explains it, and `run:"true"` marks a float64 that does not
// shape the computation, so that runs with different values share one compilation; `run:"positive"` marks one that 0 turns off, for a
// computation without it: Inputs then lack the key.
type Setting interface {
	// Validate reports everything that is wrong, one fault each as joined by errors.Join.
	Validate() error
	// Build returns the environment and the agent for runs of so many periods.
	Build(periods int) (Environment, Agent)
}

// Experiment is a named family of settings, one for each agent.
type Experiment struct {
	Name, Title, Section string
	Agents               map[string]func() Setting // with their defaults
	Order                []string                  // of the agents
	Sets                 []string                  // settings that a Spec has unless it is given others for their keys, see [Experiment.Spec]
	Quick, Full          Size
	Failure              float64 // regret per period, late in a run, above which it counts as failed
	Claims               []Claim
	// Target is the average regret per period, over runs of the Full size, below which a setting performs well; nil when there is no such thing.
	Target func(Setting) float64
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
