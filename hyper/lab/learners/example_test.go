package learners_test

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Every kind of learner as it begins with the neural bandit, with the way to the gradient that it takes.
func Example() {
	p := bandit.NewNeural().Problem()
	for _, s := range []lab.LearnerMaker{
		learners.NewLinear(false), learners.NewEnsemble(false), learners.NewHypernetwork(false), learners.NewDiagonal(false),
		learners.NewMeanField(false), learners.NewDropout(false), learners.NewSingle(false), learners.NewOneSparse(false),
		learners.NewGeneric(hyper.NewEpinet(0)),
	} {
		l := s.Learner(p, 1000)
		way := train.Trainer{Belief: l.Belief, Config: l.Train}.Way()
		fmt.Printf("%T: %s, %T\n", s, way.Name, l.Policy)
	}
	// Output:
	// *learners.Linear: own gradient, explore.Thompson
	// *learners.Ensemble: own gradient, explore.Thompson
	// *learners.Hypernetwork: own gradient, explore.Thompson
	// *learners.Diagonal: own gradient, explore.Thompson
	// *learners.MeanField: own gradient, explore.Thompson
	// *learners.Dropout: own gradient, explore.Thompson
	// *learners.Single: own gradient, explore.EpsilonGreedy
	// *learners.OneSparse: sums, explore.IDS
	// *learners.Generic: automatic differentiation, explore.Thompson
}

// A learner with settings of its own, in a world with as many actions as wanted: what the lab simulates, and what
// package agent takes.
func ExampleNewEnsemble() {
	world, c := bandit.NewNeural(), learners.NewEnsemble(false)
	world.Actions, c.Particles, c.Policy = 50, 30, explore.UCB{Quantile: 0.9}
	s := &lab.Setting{World: world, Learner: c}
	l, features, err := s.Handover(1000)
	fmt.Println(l.Policy, features, err)
	// Output: {0 0.9} 20 <nil>
}

// The name of the descent's fields are the keys of the command: --set step-size=0.1.
func ExampleNewDescent() {
	d := learners.NewDescent()
	d.StepSize, d.Batch, d.Indices = 0.1, 32, 8
	fmt.Println(d.Steps, d.Integrate, d.Optimizer)
	// Output: 1 sampled {}
}
