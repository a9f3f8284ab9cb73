package paper

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Gaussian is the experiment of section 4.1: Thompson sampling with an ensemble and with a diagonal linear hypermodel,
// on a Gaussian bandit with independent arms. Both approximate exact Thompson sampling, which is also an agent here.
var Gaussian = lab.Experiment{
	Name:    "gaussian",
	Title:   "Gaussian bandit with independent arms",
	Section: "4.1",
	World:   func() bandit.World { return bandit.NewGaussian() },
	Agents: map[string]func() lab.Learner{
		"linear":       func() lab.Learner { return gaussianLinear() },
		"ensemble":     func() lab.Learner { return gaussianEnsemble() },
		"exact":        func() lab.Learner { return new(Exact) },
		"hypernetwork": func() lab.Learner { return gaussianHypernetwork() },
	},
	Order:   []string{"exact", "linear", "ensemble", "hypernetwork"},
	Quick:   lab.Size{Periods: 1000, Runs: 10},
	Full:    lab.Size{Periods: 10_000, Runs: 100},
	Failure: 0.15, // a tenth of the standard deviation of the mean rewards
}

// paperDescent returns the paper's training method, with a batch size and 64 indices for each step.
func paperDescent(stepSize float64, batch int) learners.Descent {
	d := learners.NewDescent()
	d.StepSize, d.Batch, d.Indices = stepSize, batch, 64
	return d
}

// gaussianLinear returns the agent with the diagonal linear hypermodel mu_x + (sigma_p b_x + c_x)^T z_x.
func gaussianLinear() *learners.Linear {
	c := learners.NewLinear(true)
	c.IndexDim, c.InitialMap, c.Perturbation = 10, 1, 1
	c.InitC, c.InitM = hyper.InitNormal(0.05), hyper.InitNormal(0.05)
	c.Descent = paperDescent(1, 1024)
	return c
}

// gaussianEnsemble returns the agent with the ensemble hypermodel.
func gaussianEnsemble() *learners.Ensemble {
	c := learners.NewEnsemble(true)
	c.Particles, c.Perturbation, c.InitNu = 100, 1, hyper.InitNormal(0.05)
	c.Descent = paperDescent(0.5, 1024)
	c.Integrate = train.Analytic.String()
	return c
}

// gaussianHypernetwork returns the agent with a hypernetwork, whose index is common to all arms.
func gaussianHypernetwork() *learners.Hypernetwork {
	c := learners.NewHypernetwork(true)
	c.IndexDim, c.HyperHidden, c.Perturbation = 10, []int{5}, 1
	c.Descent = paperDescent(0.01, 64)
	c.Steps, c.Optimizer = 4, train.Adam{}
	return c
}
