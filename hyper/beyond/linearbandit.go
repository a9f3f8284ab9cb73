package beyond

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// LinearBandit is the linear bandit of Ensemble++ (Li et al., "Scalable exploration via Ensemble++", figure 2):
// Thompson sampling with the exact posterior, and with a square root of its covariance that has few columns.
var LinearBandit = lab.Experiment{
	Name:    "linear-bandit",
	Title:   "Linear bandit: Ensemble++ against exact Thompson sampling",
	Section: "figure 2 of Ensemble++ (Li et al.)",
	World:   func() bandit.World { return bandit.NewLinear() },
	Agents: map[string]func() lab.Learner{
		"exact":              func() lab.Learner { return linearExact() },
		"ensemble-plus-plus": func() lab.Learner { return learners.NewEnsemblePlusPlus(false) },
	},
	Order:   []string{"exact", "ensemble-plus-plus"},
	Quick:   lab.Size{Periods: 300, Runs: 20},
	Full:    lab.Size{Periods: 1000, Runs: 200, Sets: wide},
	Failure: 0.5,
}

// wide selects the largest bandit of figure 2.
var wide = []string{"features=50", "actions=10000"}

// linearExact returns Thompson sampling by Bayesian linear regression on the features themselves.
func linearExact() *learners.BayesianLinear {
	c := learners.NewBayesianLinear(false)
	c.Waves, c.Plain, c.Standardize, c.PriorVariance = 0, true, false, 0
	c.NoiseVariance, c.Policy = 1, explore.Thompson{}
	return c
}

// linearClaims returns the claims about the bandit. At full size it has 50 features and 10,000 actions.
func linearClaims() []study.Claim {
	claim := func(name, text string, bound float64, a, b study.Side) study.Claim {
		return study.Claim{Name: name, Text: text, Test: study.RegretRatio{A: a, B: b, Claimed: study.Below(bound)}.Test,
			Quick: lab.Size{Periods: 300, Runs: 40, Sets: []string{"features=10", "actions=1000"}},
			Full:  lab.Size{Periods: 1000, Runs: 200, Sets: wide}}
	}
	exact := study.NewSide("exact")
	coordinate := func(size string) study.Side { return plusPlus(size, "reference=coordinate") }
	return []study.Claim{
		claim("eight-columns-near-exact",
			"Ensemble++ with 8 columns and a Gaussian index has nearly the regret of exact Thompson "+
				"sampling (Ensemble++, figure 2a; the bound is ours)", 1.1, plusPlus("size=8"), exact),
		claim("columns-32-near-exact", "Ensemble++ with 32 columns and a Gaussian index has nearly the regret of exact "+
			"Thompson sampling (ours)", 1.1, plusPlus("size=32"), exact),
		claim("gaussian-below-coordinate", "with 8 columns a Gaussian index has less regret than a coordinate one, which is "+
			"ensemble sampling of signed particles (Ensemble++, figure 2)", 1, plusPlus("size=8"), coordinate("size=8")),
		claim("gaussian-below-coordinate-4", "with 4 columns a Gaussian index has less regret than a coordinate one "+
			"(Ensemble++, figure 2)", 1, plusPlus("size=4"),
			coordinate("size=4")),
	}
}

func plusPlus(sets ...string) study.Side { return study.NewSide("ensemble-plus-plus", sets...) }
