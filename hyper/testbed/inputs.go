package testbed

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Tests are batches of tau inputs whose classes an agent has to predict together.
//
// With independent inputs the uncertainty of an agent hardly shows in a batch if D is large: all inputs are about
// orthogonal. Polyadic sampling (Osband et al., "Evaluating high-order predictive distributions in deep learning", UAI
// 2022) draws the tau inputs from a few, so that an agent has to predict the class of one input again and again.
type Tests struct {
	Batches int // the testbed has 1000
	Tau     int // classes predicted at once
	// Anchors, of N(0, I), are the different inputs of a batch, from which its tau inputs are drawn with replacement;
	// dyadic sampling has 2. 0 is for tau independent inputs.
	Anchors int
}

// Validate reports every number that is out of its range.
func (t Tests) Validate() error {
	errs := errors.Join(faults.AtLeast("Batches", t.Batches, 1), faults.AtLeast("Tau", t.Tau, 1),
		faults.AtLeast("Anchors", t.Anchors, 0))
	if errs == nil {
		errs = faults.Size("the inputs drawn", t.Batches, t.Tau, t.Distinct())
	}
	return faults.Prefix("testbed.Tests: ", errs)
}

// Distinct is the number of inputs of a batch at which an agent is asked. A single input of some anchors is as an
// independent one.
func (t Tests) Distinct() int {
	if t.independent() {
		return t.Tau
	}
	return t.Anchors
}

func (t Tests) independent() bool { return t.Anchors == 0 || t.Tau == 1 }

// Drawn are test inputs and the classes that the truth drew. Classes at one input may change places, so that their
// counts are enough.
type Drawn struct {
	X           *Node // [runs, batches * distinct, D]
	Truth       *Node // the logarithm of the odds of class 1 there, [runs, batches * distinct]
	Ones, Zeros *Node // how often each class was drawn there, float32 [runs, batches, distinct]
}

// Draw draws inputs of the runs' truths theta, and their classes.
func (t Tests) Draw(s rng.Stream, e Environment, theta, rho *Node) Drawn {
	x := s.Named("x").Normal(t.Batches*t.Distinct(), e.Inputs)
	return t.Classes(s, x, e.Logit(theta, x, rho))
}

// Classes is Draw for given inputs x, [runs, batches * distinct, D], with the logarithm of the odds of class 1 there,
// [runs, batches * distinct].
func (t Tests) Classes(s rng.Stream, x, truth *Node) Drawn {
	p := Reshape(Sigmoid(truth), s.Runs(), t.Batches, 1, t.Distinct())
	u := InsertAxes(s.Named("y").Uniform(t.Batches, t.Tau), -1)
	if t.independent() { // each input once
		u = Reshape(u, s.Runs(), t.Batches, 1, t.Tau)
		ones := Squeeze(ConvertDType(LessThan(u, p), dtypes.Float32), 2)
		return Drawn{X: x, Truth: truth, Ones: ones, Zeros: OneMinus(ones)}
	}
	which := s.Named("which").Intn(Const(s.Graph(), int32(t.Anchors)), t.Batches, t.Tau)
	at := OneHot(which, t.Anchors, dtypes.Float32) // [runs, batches, tau, distinct]
	shape := at.Shape().Dimensions
	one := ConvertDType(LessThan(BroadcastToDims(u, shape...), BroadcastToDims(p, shape...)), dtypes.Float32)
	return Drawn{X: x, Truth: truth, Ones: ReduceSum(Mul(at, one), 2), Zeros: ReduceSum(Mul(at, OneMinus(one)), 2)}
}

// Slice leaves the batches from one on and before another: what an agent is asked at once takes memory.
func (d Drawn) Slice(from, to int) Drawn {
	each := d.Ones.Shape().Dim(2)
	of := func(x *Node, each int) *Node { return Slice(x, AxisRange(), AxisRange(from*each, to*each)) }
	return Drawn{X: of(d.X, each), Truth: of(d.Truth, each), Ones: of(d.Ones, 1), Zeros: of(d.Zeros, 1)}
}
