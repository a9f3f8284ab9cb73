package beyond_test

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// A single network of the Neural Testbed, and its dropout network, with the settings for a bandit.
func ExampleNewPlain() {
	for _, agent := range []func() testbed.Agent{testbed.MLP, testbed.Dropout} {
		c, p := beyond.NewPlain(agent), bandit.NewNeuralLogistic().Problem()
		fmt.Println(c.Validate(&p), c.Learner(p, 1000).Belief.Index(), "decay", c.Decay)
	}
	// Output:
	// <nil> {1} decay 0.2
	// <nil> {200 0.9} decay 0.2
}

// The testbed's hypermodel, with smaller fixed functions.
func ExampleNewHypermodel() {
	c, p := beyond.NewHypermodel(), bandit.NewNeuralLogistic().Problem()
	fmt.Println("prior scale", c.PriorScale)
	c.PriorScale = 1
	fmt.Println(c.Validate(&p), c.Learner(p, 1000).InitVariance)
	// Output:
	// prior scale 3.16
	// <nil> 1
}

// The testbed's epinet: 8 indices in each step.
func ExampleNewEpinet() {
	c, p := beyond.NewEpinet(), bandit.NewNeuralLogistic().Problem()
	l := c.Learner(p, 1000)
	fmt.Println("prior scale", c.PriorScale, "indices", l.Train.Indices, "batch", l.Train.Batch)
	// Output: prior scale 3 indices 8 batch 128
}

// A network plus a Gaussian process. Each step has one index, because only the network is trained.
func ExampleNewNetworkGP() {
	c, p := beyond.NewNetworkGP(), bandit.NewNeuralLogistic().Problem()
	c.Waves = 50
	l := c.Learner(p, 1000)
	fmt.Println(c.Validate(&p), "cosines", l.Belief.(hyper.NetworkGP).Waves, "indices", l.Train.Indices)
	// Output: <nil> cosines 50 indices 1
}

// An ensemble of 10 networks, with the decay of each.
func ExampleNewEnsemble() {
	c, p := beyond.NewEnsemble(), bandit.NewNeuralLogistic().Problem()
	fmt.Println(c.Particles, "particles, decay", c.Decay)
	c.Particles, c.Decay = 10, 0.02
	fmt.Println(c.Validate(&p), c.Learner(p, 1000).Belief.Index())
	// Output:
	// 100 particles, decay 0.002
	// <nil> {10}
}

// An ensemble whose networks are each added to a fixed network. With a scale of 0 the fixed networks have no effect.
func ExampleNewEnsemblePlus() {
	c, p := beyond.NewEnsemblePlus(), bandit.NewNeuralLogistic().Problem()
	fmt.Println("prior scale", c.PriorScale)
	c.Particles, c.PriorScale = 10, 0
	fmt.Println(c.Validate(&p), c.Learner(p, 1000).InitVariance)
	// Output:
	// prior scale 9.49
	// <nil> -1
}
