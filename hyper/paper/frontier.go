package paper

import (
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Frontier is the experiment of figure 2: the least computation with which an agent performs well, for ensembles and
// diagonal linear hypermodels. An agent performs well if its average regret over 10,000 periods is below 0.01 sqrt(K).
// The agents are the agents of [Gaussian], by default trained by the paper's algorithm.
var Frontier = lab.Experiment{
	Name:    "frontier",
	Title:   "Least computation for good performance",
	Section: "4.1, figure 2",
	World:   Gaussian.World,
	Agents: map[string]func() lab.Learner{
		"linear": func() lab.Learner {
			c := gaussianLinear()
			c.IndexDim, c.Indices, c.StepSize = 3, 4, 0.6
			return c
		},
		"ensemble": func() lab.Learner {
			c := gaussianEnsemble()
			c.Integrate, c.Indices = train.Sampled.String(), 16
			return c
		},
		"exact": Gaussian.Agents["exact"],
	},
	Order:   []string{"linear", "ensemble", "exact"},
	Quick:   lab.Size{Periods: 10_000, Runs: 4},
	Full:    lab.Size{Periods: 10_000, Runs: 100},
	Failure: Gaussian.Failure,
	Target:  paperTarget,
}

// paperTarget returns the paper's bound on the average regret: 0.01 sqrt(K), where K is the number of arms.
func paperTarget(s *lab.Setting) float64 {
	return 0.01 * math.Sqrt(float64(catalog.Values(s)["arms"].(int)))
}

// RegretBound names an upper bound on the average regret. A point of figure 2 is the least computation with which an
// agent stays below the bound: the 95% interval of its average regret is below.
type RegretBound string

// The bounds of figure 2.
const (
	// PerformsWell is the paper's bound.
	PerformsWell RegretBound = "0.01 sqrt(K)"
	// TwiceExact is twice the regret of exact Thompson sampling (not in the paper). Agents that approximate exact
	// Thompson sampling can pass it with any number of arms.
	TwiceExact RegretBound = "twice exact"
)

// RegretBounds lists all bounds.
var RegretBounds = []RegretBound{PerformsWell, TwiceExact}

// target returns a function that gives the bound on the average regret of a setting with a number of arms.
func (b RegretBound) target(simulate study.Simulator, size lab.Size, arms int) (func(*lab.Setting) float64, error) {
	switch b {
	case PerformsWell:
		return paperTarget, nil
	case TwiceExact:
		exact, err := exactAgainstTarget(simulate, size, arms)
		if err != nil {
			return nil, err
		}
		return func(*lab.Setting) float64 { return 2 * float64(exact.Estimate.Value) }, nil
	}
	return nil, fmt.Errorf("unknown bound on the average regret %q", b)
}
