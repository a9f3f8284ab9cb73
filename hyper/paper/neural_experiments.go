package paper

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The defaults of package learners are settings that searches found (notebooks/results/tuning), with Adam and without
// perturbations. The budgets of these searches were not equal. An experiment replaces the defaults by the results of
// searches of equal budget, where there are any, see winners.

func neuralBandit() bandit.World { return bandit.NewNeural() }

func neuralLinear() lab.Learner   { return learners.NewLinear(false) }
func neuralEnsemble() lab.Learner { return learners.NewEnsemble(false) }

// neuralFull is the paper's size: the paper's curves end at 100,000 periods. The paper gives the number of seeds, 500,
// for one figure only.
var neuralFull = lab.Size{Periods: 100_000, Runs: 100}

// neuralFailure is a tenth of the standard deviation of the mean rewards.
const neuralFailure = 0.25

// Neural is the experiment of section 4.2: all agents on the neural network bandit.
var Neural = lab.Experiment{
	Name:    "neural",
	Title:   "Neural network bandit",
	Section: "4.2, figure 3",
	World:   neuralBandit,
	Agents: map[string]func() lab.Learner{
		"linear":       neuralLinear,
		"ensemble":     neuralEnsemble,
		"egreedy":      func() lab.Learner { return learners.NewSingle(false) },
		"independent":  func() lab.Learner { return new(Independent) },
		"hypernetwork": func() lab.Learner { return learners.NewHypernetwork(false) },
	},
	Order:   []string{"linear", "ensemble", "egreedy", "independent", "hypernetwork"},
	Sets:    []string{"particles=10,30,100,300"},
	Tuned:   bestTuned(),
	Quick:   lab.Size{Periods: 300, Runs: 8},
	Full:    neuralFull,
	Failure: neuralFailure,
}

// AdditivePrior is the experiment of appendix B: ensembles with and without an additive prior.
var AdditivePrior = lab.Experiment{
	Name:    "additive-prior",
	Title:   "Ensembles with and without additive priors",
	Section: "appendix B, figure 5",
	World:   neuralBandit,
	Agents:  map[string]func() lab.Learner{"ensemble": neuralEnsemble},
	Order:   []string{"ensemble"},
	Sets:    []string{"particles=10,30,100,300", "additive-prior=yes,no"},
	Tuned:   neuralTuned(),
	Quick:   lab.Size{Periods: 200, Runs: 8},
	Full:    neuralFull,
	Failure: neuralFailure,
}

// sensitivityTo returns an experiment of appendix C, on the sensitivity of the linear hypermodel to settings.
func sensitivityTo(name, title, figure string, full lab.Size, sets ...string) lab.Experiment {
	return lab.Experiment{
		Name:    name,
		Title:   title,
		Section: "appendix C, " + figure,
		World:   neuralBandit,
		Agents:  map[string]func() lab.Learner{"linear": neuralLinear},
		Order:   []string{"linear"},
		Sets:    sets,
		Tuned:   neuralTuned(),
		Quick:   lab.Size{Periods: 300, Runs: 8},
		Full:    full,
		Failure: neuralFailure,
	}
}

// NoiseSensitivity is the experiment of appendix C on the scale of the perturbations and the noise of the rewards.
var NoiseSensitivity = sensitivityTo("noise-sensitivity", "Scale of the perturbations against the noise", "figure 6",
	neuralFull, "noise=0,1,2", "perturbation=0,1,2")

// PriorSensitivity is the experiment of appendix C on prior networks whose parameters have the wrong variance.
var PriorSensitivity = sensitivityTo("prior-sensitivity", "Misspecified priors", "figure 7",
	neuralFull, "prior-multiplier=0.01,0.03,0.1,0.3,1,3,10,30")

// IndexDimension is the experiment of appendix C on the index dimension of each layer. The paper averages over 500
// seeds.
var IndexDimension = sensitivityTo("index-dimension", "Index dimension of each layer", "figure 8",
	lab.Size{Periods: 100_000, Runs: 500}, "index-dim=1,2,3,5,10")

// PosteriorApproximations is the experiment of appendices D and E: other approximations of the posterior, with about
// the same number of parameters. Each SGD step has 4 indices.
var PosteriorApproximations = lab.Experiment{
	Name:    "posterior-approximations",
	Title:   "Bayes by Backprop and dropout",
	Section: "appendices D and E, figure 9",
	World:   neuralBandit,
	Agents: map[string]func() lab.Learner{
		"linear":   neuralLinear,
		"diagonal": func() lab.Learner { return learners.NewDiagonal(false) },
		"bbb":      func() lab.Learner { return learners.NewMeanField(false) },
		"dropout":  func() lab.Learner { return learners.NewDropout(false) },
	},
	Order:   []string{"linear", "diagonal", "bbb", "dropout"},
	Sets:    []string{"index-samples=4"},
	Tuned:   neuralTuned(),
	Quick:   lab.Size{Periods: 200, Runs: 8},
	Full:    neuralFull,
	Failure: neuralFailure,
}
