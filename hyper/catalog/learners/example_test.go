package learners_test

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// The linear hypermodel of section 4.1 for 10 arms, with a smaller index, and the training of its learner in 500
// periods.
func ExampleNewLinear() {
	c, p := learners.NewLinear(true), bandit.NewGaussian().Problem()
	c.IndexDim, c.Integrate = 5, train.Exact.String()
	fmt.Println(c.Validate(&p), c.Model(p).NumInvolved(), "parameters")
	l := c.Learner(p, 500)
	fmt.Println(train.Trainer{Belief: l.Belief, Config: l.Train}.Route().Name, l.Policy)
	// Output:
	// <nil> 60 parameters
	// exact {0}
}

// An ensemble of 30 networks for the bandit of section 4.2, with information-directed sampling.
func ExampleNewEnsemble() {
	c, p := learners.NewEnsemble(false), bandit.NewNeural().Problem()
	c.Particles, c.Policy = 30, explore.IDS{N: 100}
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), l.Belief.Index(), l.Train.Optimizer, l.Train.Capacity)
	// Output: <nil> {30} {0 0 0 0} 1000
}

// A hypernetwork with about as many parameters as the linear hypermodel for the same world.
func ExampleNewHypernetwork() {
	c, p := learners.NewHypernetwork(false), bandit.NewNeural().Problem()
	fmt.Println(c.Validate(&p), c.Model(p).NumInvolved(), learners.NewLinear(false).Model(p).NumInvolved())
	// Output: <nil> 10105 10261
}

// A diagonal hypermodel for a wider network, so that it has about as many parameters as the linear hypermodel: each
// parameter of the network has a mean and its own number of the index.
func ExampleNewDiagonal() {
	c, p := learners.NewDiagonal(false), bandit.NewNeural().Problem()
	fmt.Println(c.Validate(&p), c.Model(p).NumInvolved())
	// Output: <nil> 9962
}

// Bayes by Backprop: a mean and a deviation for each of the 4,981 parameters of a network.
func ExampleNewMeanField() {
	c, p := learners.NewMeanField(false), bandit.NewNeural().Problem()
	fmt.Println(c.Validate(&p), c.Model(p).NumInvolved(), c.Learner(p, 1000).Train.Regularize)
	// Output: <nil> 9962 kl
}

// Dropout that keeps nine of ten units of a network. The index is a mask of all hidden units.
func ExampleNewDropout() {
	c, p := learners.NewDropout(false), bandit.NewNeural().Problem()
	c.Keep = 0.9
	fmt.Println(c.Validate(&p), c.Model(p).Index())
	// Output: <nil> {200 0.9}
}

// One network, with random exploration.
func ExampleNewSingle() {
	c, p := learners.NewSingle(false), bandit.NewNeural().Problem()
	c.Hidden = []int{20}
	fmt.Printf("%v %d parameters, %T\n", c.Validate(&p), c.Model(p).NumInvolved(), c.Policy)
	// Output: <nil> 441 parameters, explore.EpsilonGreedy
}

// The hypermodel of section 5 for the bandit of that section.
func ExampleNewOneSparse() {
	c, p := learners.NewOneSparse(false), bandit.NewOneSparse().Problem()
	fmt.Printf("%v %d parameters, %T\n", c.Validate(&p), c.Model(p).NumInvolved(), c.Policy)
	// Output: <nil> 50 parameters, explore.IDS
}

// An epinet, as an example of a belief for inputs with any number of features: it gets 10 arms as one-hot vectors.
func ExampleNewGeneric() {
	c, p := learners.NewGeneric(hyper.NewEpinet(1)), bandit.NewGaussian().Problem()
	fmt.Println(c.Validate(&p), c.Learner(p, 1000).Belief.(hyper.Epinet).Features)
	// Output: <nil> 10
}

// Ensemble++ on a network uses 16 indices in each step: plus and minus along each of 8 axes.
func ExampleNewSharedEnsemble() {
	c, p := learners.NewSharedEnsemble(), bandit.NewNeural().Problem()
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), l.Belief.Index(), l.Train.IndexSet, l.Train.Regularize)
	// Output: <nil> {8 sphere sphere 0} axes decay
}

// A network with deviations around it uses one index in each step, because only the mean is trained.
func ExampleNewNetworkGP() {
	c, p := learners.NewNetworkGP(), bandit.NewNeural().Problem()
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), l.Train.Indices, l.Belief.(hyper.NetworkGP).NumInvolved())
	// Output: <nil> 1 3651
}

// The paper's way to train: one step of SGD per period. Other settings change some fields of it.
func ExampleNewDescent() {
	c := learners.NewDescent()
	fmt.Printf("%d %T %s\n", c.Steps, c.Optimizer, c.Integrate)
	// Output: 1 train.SGD sampled
}

// Bayesian linear regression on 200 random cosines, one for each of four classes of a table with eight columns.
func ExampleNewBayesianLinear() {
	c, p := learners.NewBayesianLinear(false), bandit.Problem{Actions: 4, Features: 32, Blocks: 4, Moves: true}
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), l.Belief, l.Policy)
	// Output: <nil> {32 4 false 200 1 false true} {0 0.84}
}

// Ensemble++ with four columns in ten features: its exact minimiser, of 50 parameters.
func ExampleNewEnsemblePlusPlus() {
	c, p := learners.NewEnsemblePlusPlus(false), bandit.Problem{Actions: 100, Features: 10, PriorVariance: 10}
	c.Size = 4
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), c.Belief(p).NumInvolved(), train.Trainer{Belief: l.Belief, Config: l.Train}.Route().Name)
	// Output: <nil> 50 exact
}
