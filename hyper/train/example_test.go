package train_test

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// An ensemble of networks is trained by Adam on the Bayesian bootstrap; the example prints the route that the trainer
// takes. With a base model that is linear in its parameters the trainer takes a faster route.
func ExampleTrainer_Route() {
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
		fmt.Println(t.Validate(t.Belief), t.Route().Name)
	}
	// Output:
	// <nil> own gradient
	// <nil> features
}

// Each optimizer starts from 1 and makes two steps of size 0.1, with a gradient of 2 each time. An optimizer that
// divides by the size of gradients moves by the step size.
func ExampleOptimizer() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range []train.Optimizer{
		train.SGD{}, train.Momentum{}, train.Momentum{Nesterov: true}, train.Adam{}, train.Adamax{}, train.RMSProp{},
		train.FromGoMLX{Optimizer: optimizer.Adam().LearningRate(1).Done()},
	} {
		out, err := CallOnceN(b, func(in []*Node) []*Node {
			nu, grads := in[:1], in[1:2]
			state := o.Init(nu)
			state, first := o.Update(state, nu, grads, in[2])
			_, second := o.Update(state, first, grads, in[2])
			return []*Node{first[0], second[0]}
		}, []float32{1}, []float32{2}, []float32{0.1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T: %.3f %.3f\n", o, out[0].Value(), out[1].Value())
	}
	// Output:
	// train.SGD: [0.800] [0.600]
	// train.Momentum: [0.800] [0.420]
	// train.Momentum: [0.620] [0.078]
	// train.Adam: [0.900] [0.800]
	// train.Adamax: [0.900] [0.800]
	// train.RMSProp: [0.900] [0.800]
	// train.FromGoMLX: [0.900] [0.800]
}

// A schedule multiplies the step size by a factor, here with 0, 100, 300 and 1,000 data.
func ExampleSchedule() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []train.Schedule{
		train.Constant{}, train.InverseRoot{After: 100}, train.Cosine{Periods: 300, Final: 0.1},
	} {
		factors, err := CallOnce(b, s.Factor, []float32{0, 100, 300, 1000})
		fmt.Printf("%T: %.3f %v\n", s, factors.Value(), err)
	}
	// Output:
	// train.Constant: [1.000 1.000 1.000 1.000] <nil>
	// train.InverseRoot: [1.000 0.707 0.500 0.302] <nil>
	// train.Cosine: [1.000 0.775 0.100 0.100] <nil>
}

// The loss of a prediction of 1 where the response is 0, the derivative of the loss, and the mean response for the
// prediction.
func ExampleLoss() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range []train.Loss{train.Gaussian{}, train.LogisticLoss{}} {
		out, err := CallOnceN(b, func(in []*Node) []*Node {
			return []*Node{l.Value(in[0], in[1]), l.Gradient(in[0], in[1]), l.Link(in[0])}
		}, []float32{1}, []float32{0})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T: %.3f %.3f %.3f\n", l, out[0].Value(), out[1].Value(), out[2].Value())
	}
	// Output:
	// train.Gaussian: [0.500] [1.000] [1.000]
	// train.LogisticLoss: [1.313] [0.731] [0.731]
}

// The second of two arms gives 2. With variances of 1 its mean is then (2 + 0) / 2.
func ExampleTrainer() {
	arms := base.Tabular{Arms: 2}
	t := train.Trainer{
		Belief: hyper.Model{Base: arms, Hyper: hyper.Linear{
			Layout: hyper.PerParameter(2, 5), P: index.PerArm{Arms: 2, M: 5}, InitM: hyper.InitZeros,
		}},
		Config: train.Config{Integrate: train.Exact},
	}
	fmt.Println(t.Validate(t.Belief), t.Route().Name)
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	mu, err := CallOnce(b, func(seeds, one, size, arm, reward *Node) *Node {
		s := rng.New(seeds)
		rates := train.Rates{Step: one, NoiseVar: one, PriorVar: one, Perturbation: one}
		state := t.Init(s.Named("init"), nil)
		state = t.Observe(state, s.Named("observe"), size, arm, reward, nil, rates)
		return t.Params(state).Nu[0]
	}, []uint64{1}, []float32{1}, int32(0), []int32{1}, []float32{2})
	fmt.Printf("%.3f %v\n", mu.Value(), err)
	// Output:
	// <nil> exact
	// [[0.000 1.000]] <nil>
}
