package testbed

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// testInputs are batches of tau inputs. An agent has to predict the classes of a batch together.
//
// Independent inputs hardly show the uncertainty of an agent if D is large, because all inputs are nearly orthogonal.
// Polyadic sampling (Osband et al., "Evaluating high-order predictive distributions in deep learning", UAI 2022) draws
// the tau inputs from a small number of anchors, so that an agent has to predict the class of one input several times.
type testInputs struct {
	Batches int // the testbed has 1000
	Tau     int // number of classes predicted together
	// Anchors is the number of different inputs of a batch, drawn from N(0, I). The tau inputs are drawn from them with
	// replacement; dyadic sampling has 2. 0 means tau independent inputs.
	Anchors int
}

// Distinct returns the number of inputs of a batch at which an agent predicts. If tau is 1, anchors make no difference:
// the single input is drawn as an independent one.
func (t testInputs) Distinct() int {
	if t.independent() {
		return t.Tau
	}
	return t.Anchors
}

func (t testInputs) independent() bool { return t.Anchors == 0 || t.Tau == 1 }

// drawnTests holds test inputs and the classes that the truth drew there. The order of classes at one input does not
// matter, so their counts suffice.
type drawnTests struct {
	X           *Node // [runs, batches * distinct, D]
	Truth       *Node // the log odds of class 1 at X, [runs, batches * distinct]
	Ones, Zeros *Node // number of times that each class was drawn at X, float32 [runs, batches, distinct]
}

// Draw draws test inputs, and their classes from the runs' truths theta.
func (t testInputs) Draw(s rng.Stream, e networkTruth, theta, rho *Node) drawnTests {
	x := s.Named("x").Normal(t.Batches*t.Distinct(), e.Inputs)
	return t.Classes(s, x, e.Logit(theta, x, rho))
}

// Classes draws classes at given inputs x, [runs, batches * distinct, D], with log odds of class 1 truth, [runs,
// batches * distinct].
func (t testInputs) Classes(s rng.Stream, x, truth *Node) drawnTests {
	p := Reshape(Sigmoid(truth), s.Runs(), t.Batches, 1, t.Distinct())
	u := InsertAxes(s.Named("y").Uniform(t.Batches, t.Tau), -1)
	if t.independent() { // each input once
		u = Reshape(u, s.Runs(), t.Batches, 1, t.Tau)
		ones := Squeeze(ConvertDType(LessThan(u, p), dtypes.Float32), 2)
		return drawnTests{X: x, Truth: truth, Ones: ones, Zeros: OneMinus(ones)}
	}
	which := s.Named("which").Intn(Const(s.Graph(), int32(t.Anchors)), t.Batches, t.Tau)
	at := OneHot(which, t.Anchors, dtypes.Float32) // [runs, batches, tau, distinct]
	shape := at.Shape().Dimensions
	one := ConvertDType(LessThan(BroadcastToDims(u, shape...), BroadcastToDims(p, shape...)), dtypes.Float32)
	return drawnTests{X: x, Truth: truth, Ones: ReduceSum(Mul(at, one), 2), Zeros: ReduceSum(Mul(at, OneMinus(one)), 2)}
}

// nodes returns the test inputs and classes by name. drawn is its inverse.
func (d drawnTests) nodes() named[*Node] {
	return named[*Node]{"x": d.X, "truth": d.Truth, "ones": d.Ones, "zeros": d.Zeros}
}

func drawn(in named[*Node]) drawnTests {
	return drawnTests{X: in["x"], Truth: in["truth"], Ones: in["ones"], Zeros: in["zeros"]}
}
