// Outsider is a module of its own that adds a belief, a world and a policy to the library, and sweeps them in the lab:
//
//	outsider DIR
//
// writes the results into DIR, on two workers, and prints the mean regret of each setting.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// tilted holds the settings of the agent, over which the lab can sweep.
type tilted struct {
	Index       int     `help:"dimension of the index"`
	StepSize    float64 `run:"true" help:"step size of Adam"`
	Temperature float64 `run:"true" help:"temperature of the policy"`
}

func (s *tilted) Validate(*bandit.Problem) error {
	if s.Index < 1 || !(s.StepSize > 0) || !(s.Temperature > 0) {
		return errors.New("index, step-size and temperature must be positive")
	}
	return nil
}

// Learner returns the learner: the library's defaults, except for the belief, the steps and the policy.
func (s *tilted) Learner(p bandit.Problem, periods int) learner.Learner {
	l := learner.Learner{
		Belief:   Tilted{Features: p.Actions, Dim: s.Index}, // arms as one-hot vectors
		Train:    train.Config{Optimizer: train.Adam{}, Batch: 16, Capacity: periods},
		StepSize: s.StepSize,
		Policy:   Boltzmann{Functions: 8, Temperature: s.Temperature},
	}
	return l.WithDefaults()
}

var seasons = lab.Experiment{
	Name:  "seasons",
	Title: "Arms that come and go with the season",
	World: func() bandit.World { return &Seasons{Arms: 4, Length: 200, Noise: 0.1} },
	Agents: map[string]func() lab.Learner{"tilted": func() lab.Learner {
		return &tilted{Index: 3, StepSize: 0.02, Temperature: 0.1}
	}},
	Order: []string{"tilted"},
	Quick: lab.Size{Periods: 100, Runs: 4},
}

var known = map[string]lab.Experiment{"seasons": seasons}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "worker" { // the lab starts this program again for each worker
		if err := lab.Worker(context.Background(), os.Stdin, os.Stdout, known, os.Args[2:]); err != nil {
			os.Exit(1)
		}
		return
	}
	if err := sweep(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sweep(dir string) error {
	spec, err := seasons.Spec(nil, []string{"temperature=0.05,0.5", "length=50,400"}, seasons.Quick, 1)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o := lab.Options{Dir: dir, Workers: 2, Process: []string{self, "worker"}}
	if _, err := lab.Run(context.Background(), spec, known, o); err != nil {
		return err
	}
	h, rows, err := lab.ReadResults(dir, known)
	if err != nil {
		return err
	}
	for _, c := range analysis.Curves(h, rows) {
		fmt.Printf("%v length %v: regret %.1f, %d of %d runs diverged\n", c.Settings["temperature"],
			c.Settings["length"], c.Mean[len(c.Mean)-1], c.Diverged, c.Runs)
	}
	return nil
}
