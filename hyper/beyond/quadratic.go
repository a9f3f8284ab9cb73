package beyond

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// QuadraticBandit is the quadratic bandit of Ensemble++. It compares the neural Ensemble++ to ensembles, an epinet and
// the paper's linear hypermodel. All agents have the settings of Ensemble++, as in that work: hidden layers of 64
// units, and in each period four steps of Adam of 1e-4 on 128 data. Neither that work nor this package tuned these
// settings.
var QuadraticBandit = lab.Experiment{
	Name:    "quadratic-bandit",
	Title:   "Quadratic bandit: the neural Ensemble++ and others",
	Section: "nonlinear bandits of Ensemble++ (Li et al.)",
	World:   func() bandit.World { return bandit.NewQuadratic() },
	Agents: map[string]func() lab.Learner{
		"ensemble-plus-plus-neural": func() lab.Learner { return quadraticPlusPlus() },
		"ensemble":                  func() lab.Learner { return quadraticEnsemble() },
		"epinet":                    func() lab.Learner { return quadraticEpinet() },
		"linear":                    func() lab.Learner { return quadraticLinear() },
	},
	Order:   []string{"ensemble-plus-plus-neural", "ensemble", "epinet", "linear"},
	Quick:   lab.Size{Periods: 500, Runs: 4, Sets: fewFeatures},
	Full:    lab.Size{Periods: 10_000, Runs: 10},
	Failure: 0.1,
}

// quadraticClaims returns the claims that the figure of Ensemble++ supports, with its settings.
func quadraticClaims() []study.Claim {
	quick := lab.Size{Periods: 500, Runs: 10, Sets: fewFeatures}
	full := lab.Size{Periods: 10_000, Runs: 10}
	growth := func(name, agent, text string, claimed study.Range) study.Claim {
		return study.Claim{Name: name, Text: text, Quick: quick, Full: full,
			Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
				_, rows, err := simulate([]string{agent}, nil, size)
				if err != nil {
					return study.Finding{}, err
				}
				slope, period, runs, err := analysis.LateSlope(rows, 0)
				if err != nil {
					return study.Finding{}, err
				}
				what := fmt.Sprintf("slope of the logarithm of %s's regret in that of the period, in the second half of %d", agent,
					period)
				return study.Comparison{Text: what, Kind: "late slope in periods", Estimate: slope, Claimed: claimed,
					Periods: period, Runs: runs}.Judge(), study.EnoughRuns(size, runs)
			}}
	}
	less := func(name, other string) study.Claim {
		return study.Claim{Name: name, Quick: quick, Full: full,
			Text: "the neural Ensemble++ has less regret than an " +
				other + ", all with its settings (Ensemble++, nonlinear bandits)",
			Test: study.RegretRatio{A: study.NewSide("ensemble-plus-plus-neural"), B: study.NewSide(other),
				Claimed: study.Below(1)}.Test}
	}
	nearOne := study.Range{Above: 0.9, Below: 1.1}
	const linear = "the regret of %s grows in proportion to the periods: a late slope within 0.1 of 1 (Ensemble++, nonlinear " +
		"bandits; the bound is ours)"
	return []study.Claim{
		growth("plus-plus-sublinear", "ensemble-plus-plus-neural",
			"the regret of the neural Ensemble++ grows less than the periods: a late slope below 1 "+
				"(Ensemble++, nonlinear bandits)", study.Below(1)),
		growth("ensemble-linear", "ensemble", fmt.Sprintf(linear, "an ensemble with prior functions"), nearOne),
		growth("epinet-linear", "epinet", fmt.Sprintf(linear, "an epinet"), nearOne),
		less("plus-plus-below-ensemble", "ensemble"),
		less("plus-plus-below-epinet", "epinet"),
	}
}

// quadraticTraining sets the training of Ensemble++. The loss of that work has squares without a half, lambda = 0.01
// and no sigma_w, so that sigma_p^2 is 2 sigma_w^2 / lambda.
func quadraticTraining(c *learners.Perturbed) {
	c.StepSize, c.Steps, c.Batch, c.Indices = 1e-4, 4, 128, members
	c.NoiseVariance, c.PriorVariance, c.IndexSet = 0.01, 2, train.IID.String()
}

const (
	members       = 8   // M of Ensemble++: the number of particles, and the length of an index
	quadraticBeta = 0.1 // 0.01 divided by sigma_w
)

// hidden returns the widths of the hidden layers of all agents.
func hidden() []int { return []int{64, 64} }

// quadraticPlusPlus returns the neural Ensemble++. Its fixed members have scale 5, its perturbations of the data scale
// 0.01.
func quadraticPlusPlus() *learners.Generic {
	c := learners.NewSharedEnsemble()
	b := hyper.NewSharedEnsemble(0)
	b.Hidden, b.Members, b.PriorScale = hidden(), members, 5
	c.Belief = b
	quadraticTraining(&c.Perturbed)
	c.IndexSet, c.Perturbation = train.Axes.String(), quadraticBeta
	return c
}

// quadraticEnsemble returns an ensemble that adds a fixed network of scale 5 to each particle.
func quadraticEnsemble() *learners.Ensemble {
	c := learners.NewEnsemble(false)
	quadraticTraining(&c.Perturbed)
	c.Hidden, c.Particles, c.PriorMultiplier = hidden(), members, 25
	return c
}

// quadraticEpinet returns an epinet with fixed networks of scale 5.
func quadraticEpinet() *learners.Generic {
	b := hyper.NewEpinet(0)
	b.Hidden, b.Dim, b.PriorScale = hidden(), members, 5
	c := learners.NewGeneric(b)
	quadraticTraining(&c.Perturbed)
	return c
}

// quadraticLinear returns the paper's hypermodel with one index for all parameters, and with prior functions of scale
// 5.
func quadraticLinear() *learners.Linear {
	c := learners.NewLinear(false)
	quadraticTraining(&c.Perturbed)
	c.Hidden, c.IndexDim, c.PriorMultiplier = hidden(), members, 25
	return c
}
