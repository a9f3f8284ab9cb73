package catalog

import (
	"slices"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// LearnerMaker holds the settings of a learner for any world, in a pointer to a struct, see [Key].
type LearnerMaker interface {
	// Validate returns all faults, joined by errors.Join. If p is nil, it checks only the settings themselves.
	// Otherwise it also checks the learner that they make for the problem.
	Validate(p *bandit.Problem) error
	// Learner returns the learner for runs of the given number of periods, with defaults that depend on the number. The
	// settings must be valid. A learner that takes features gets arms as one-hot vectors.
	Learner(p bandit.Problem, periods int) learner.Learner
}

// Learners lists the learners that run in every world. The function of an entry returns the default settings, for a
// world of arms or for a world of actions with features.
func Learners() []Entry[func(arms bool) LearnerMaker] { return makers.all() }

// AddLearner adds a learner with settings of its own. A belief needs only [AddBelief].
func AddLearner(name, doc string, defaults func(arms bool) LearnerMaker) {
	makers.add(Entry[func(arms bool) LearnerMaker]{name, doc, defaults}, checkFields(structOf(defaults(true)).Type(), true))
}

var makers = &list[func(arms bool) LearnerMaker]{kind: "learner", entries: known()}

func known() []Entry[func(arms bool) LearnerMaker] {
	all := []Entry[func(arms bool) LearnerMaker]{
		{"linear", "linear hypermodel with an additive prior, which the paper proposes (section 2.3)",
			func(arms bool) LearnerMaker { return learners.NewLinear(arms) }},
		{"ensemble", "ensemble, with additive priors unless they are switched off (section 2.2)",
			func(arms bool) LearnerMaker { return learners.NewEnsemble(arms) }},
		{"hypernetwork", "a network from the index to the parameters (section 2.4)",
			func(arms bool) LearnerMaker { return learners.NewHypernetwork(arms) }},
		{"diagonal", "linear hypermodel with a diagonal matrix (appendix D)",
			func(arms bool) LearnerMaker { return learners.NewDiagonal(arms) }},
		{"bbb", "Bayes by Backprop: a mean and a deviation of each parameter (appendix D)",
			func(arms bool) LearnerMaker { return learners.NewMeanField(arms) }},
		{"dropout", "a network with random masks of units (appendix E)",
			func(arms bool) LearnerMaker { return learners.NewDropout(arms) }},
		{"egreedy", "one network with epsilon-greedy exploration (section 4.2)",
			func(arms bool) LearnerMaker { return learners.NewSingle(arms) }},
		{"one-sparse", "nearly one-hot functions, for the bandit of section 5",
			func(arms bool) LearnerMaker { return learners.NewOneSparse(arms) }},
		{"bayesian-linear", "the exact posterior of Bayesian linear regression on random cosines",
			func(arms bool) LearnerMaker { return learners.NewBayesianLinear(arms) }},
		{"ensemble-plus-plus", "Ensemble++ of linear functions (Li et al. 2024), trained exactly",
			func(arms bool) LearnerMaker { return learners.NewEnsemblePlusPlus(arms) }},
		{"ensemble-plus-plus-neural", "Ensemble++ on the last layer of a network, trained as in its paper",
			func(bool) LearnerMaker { return learners.NewSharedEnsemble() }},
		{"network-gp", "a network, with the deviations of a Gaussian process around it",
			func(bool) LearnerMaker { return learners.NewNetworkGP() }},
	}
	for _, b := range Beliefs() { // the other beliefs have usual training
		if !slices.Contains(Names(all), b.Name) {
			all = append(all, Entry[func(arms bool) LearnerMaker]{b.Name, b.Doc, generic(b.Value)})
		}
	}
	return all
}

// generic returns a function that returns the usual settings for a belief.
func generic(b hyper.Sized) func(arms bool) LearnerMaker {
	return func(bool) LearnerMaker { return learners.NewGeneric(b) }
}
