package paper

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Frontier is figure 2: the least computation with which an agent performs well, which is an average regret below 0.01
// sqrt(K) over 10,000 periods, for ensembles and for diagonal linear hypermodels. Its agents are those of Gaussian,
// trained by the paper's algorithm unless told otherwise; exact Thompson sampling shows what both approximate.
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
	Others:  learners.Known,
	Order:   []string{"linear", "ensemble", "exact"},
	Quick:   lab.Size{Periods: 10_000, Runs: 4},
	Full:    lab.Size{Periods: 10_000, Runs: 100},
	Failure: Gaussian.Failure,
	Target:  performsWell,
	Claims:  frontierClaims(),
}

// performsWell is 0.01 sqrt(K).
func performsWell(s *lab.Setting) float64 {
	return 0.01 * math.Sqrt(float64(lab.Values(s)["arms"].(int)))
}

// Bar is what the average regret of an agent has to be below, to count for the frontier.
type Bar string

// The bars.
const (
	PerformsWell Bar = "0.01 sqrt(K)" // the paper's
	TwiceExact   Bar = "twice exact"  // twice that of exact Thompson sampling (ours), which agents that approximate it can meet with any number of arms
)

// Bars are all of them.
var Bars = []Bar{PerformsWell, TwiceExact}

// target is what the average regret of each setting has to be below, with a number of arms.
func (b Bar) target(simulate lab.Simulator, size lab.Size, arms int) (func(*lab.Setting) float64, error) {
	if b == PerformsWell {
		return performsWell, nil
	}
	exact, err := exactAgainstTarget(simulate, size, arms)
	return func(*lab.Setting) float64 { return 2 * float64(exact.Estimate) }, err
}
