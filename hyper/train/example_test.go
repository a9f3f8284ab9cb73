package train_test

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// An ensemble of networks, trained by Adam on the Bayesian bootstrap, and the way it takes; with a base model that is
// linear in its parameters it takes a faster one.
func ExampleTrainer_Way() {
	net, line := base.MLP{Layers: []int{4, 20, 1}}, base.Linear{Features: 4}
	c := train.Config{
		Steps: 4, Batch: 64, Indices: 16, Capacity: 1000,
		Loss: train.Gaussian{}, Weights: train.Exponential, Optimizer: train.Adam{WeightDecay: 1e-4},
	}
	for _, b := range []hyper.BaseModel{net, line} {
		t := train.Trainer{
			Belief: hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: 30, Params: hyper.NumTheta(b)}},
			Config: c,
		}
		fmt.Println(t.Validate(t.Belief), t.Way().Name)
	}
	// Output:
	// <nil> own gradient
	// <nil> features
}
