package hyper

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OnFeatures is a belief on the outputs of a network of GoMLX, the features phi(x): f(x, z) = g(phi(x), z) for a belief
// g. Features should have a mean of about 0 and a variance of about 1, as the inputs of any belief; a normalization at
// the end of the network without variables does this.
//
// A frozen network keeps its values, which all runs share, and OnFeatures has the capabilities of g: a BayesianLinear
// stays exact. A network that is Trained is a part of nu, the last one, [runs, parameters], with one copy for each run
// and the same one for all indices. It starts with the values of the ModelFunction, towards which the loss pulls it.
type OnFeatures struct {
	Function ModelFunction // phi
	Belief   Belief        // g; its inputs are Beside numbers and the outputs of Function
	Trained  bool          // whether the network is trained too; otherwise it is frozen
	// Beside is the number of numbers at the beginning of an input that Belief gets as they are, in front of the
	// features, such as the number of an arm. Function gets the others.
	Beside int

	asked int // number of features that ForInputs was asked for; 0 for none
}

var (
	_ Sized   = OnFeatures{}
	_ Capable = OnFeatures{}
)

// ForInputs returns the belief as it is, because the number of inputs of a network is given. Validate reports another
// number of features.
func (b OnFeatures) ForInputs(features int) Belief {
	b.asked = features
	return b
}

// Validate reports faults of the parts, and parts that do not fit together.
func (b OnFeatures) Validate() error {
	err := errors.Join(b.Function.Validate(), faults.Value("Belief", b.Belief), faults.AtLeast("Beside", b.Beside, 0))
	if err == nil {
		err = faults.Prefix("Belief: ", faults.Of(b.Belief))
	}
	if err != nil {
		return faults.Prefix("hyper.OnFeatures: ", err)
	}
	c := CapabilitiesOf(b.Belief)
	switch n := inputsOf(b.Belief); {
	case n >= 0 && n != b.Beside+b.Function.NumOutputs():
		return fmt.Errorf("hyper.OnFeatures: Belief takes inputs of %d numbers, but Function and Beside make %d + %d", n,
			b.Function.NumOutputs(), b.Beside)
	case b.Trained && (c.Conjugate != nil || c.Conditioned != nil):
		return fmt.Errorf("hyper.OnFeatures: Trained is not for %T, which keeps what it knows of features that training "+
			"would change; leave the network frozen", b.Belief)
	case b.asked != 0 && b.asked != b.Inputs():
		return fmt.Errorf("hyper.OnFeatures: inputs have %d numbers, but the network takes %d, and %d are beside it",
			b.asked, b.Function.Inputs(), b.Beside)
	case b.Trained && NumTheta(b.Function) == 0:
		return errors.New("hyper.OnFeatures: Trained needs a Function that trains a variable")
	}
	return nil
}

func (b OnFeatures) Index() index.Distribution { return b.Belief.Index() }
func (b OnFeatures) Inputs() int               { return b.Beside + b.Function.Inputs() }

// UnitVariance returns the sigma_p^2 for which predictions before any data have variance 1 over standardised features.
func (b OnFeatures) UnitVariance() float64 {
	if u, ok := b.Belief.(interface{ UnitVariance() float64 }); ok {
		return u.UnitVariance()
	}
	return 1
}

// Init draws the parameters of Belief, and appends the network's if it is Trained.
func (b OnFeatures) Init(s rng.Stream, scale *Node) Params {
	p := b.Belief.Init(s, scale)
	if b.Trained {
		theta := b.Function.InitTrained(s, 0, 0, NumTheta(b.Function))
		p.Nu = append(slices.Clip(p.Nu), theta)
	}
	return p
}

// Predict returns the predictions of Belief at the features of x, [runs, indices, inputs].
func (b OnFeatures) Predict(p Params, z index.Set, x *Node) *Node {
	if !b.Trained {
		return b.Belief.Predict(p, z, b.features(nil, x))
	}
	last := len(p.Nu) - 1
	x = b.features(p.Nu[last], x)
	p.Nu = p.Nu[:last]
	return b.Belief.Predict(p, z, x)
}

// features returns the inputs of Belief, [runs, inputs, Beside + outputs]. theta is the parameters of a network that is
// Trained, [runs, parameters], and nil for a frozen network.
func (b OnFeatures) features(theta, x *Node) *Node {
	runs, inputs := x.Shape().Dim(0), x.Shape().Dim(1)
	own := Slice(x, AxisRange(), AxisRange(), AxisRange(b.Beside))
	var phi *Node
	if theta == nil {
		phi = Reshape(b.Function.call(nil, Reshape(own, runs*inputs, -1)), runs, inputs, -1)
	} else {
		var all []*Node
		for run := range runs {
			all = append(all, b.Function.call(Squeeze(Slice(theta, AxisElem(run)), 0), Squeeze(Slice(own, AxisElem(run)), 0)))
		}
		phi = Stack(all, 0)
	}
	if b.Beside == 0 {
		return phi
	}
	return Concatenate([]*Node{Slice(x, AxisRange(), AxisRange(), AxisRange(0, b.Beside)), phi}, 2)
}

// Capabilities returns the capabilities of Belief with a frozen network. With a network that is Trained, they are the
// parameters theta alone, which include the network's.
func (b OnFeatures) Capabilities() Capabilities {
	c := CapabilitiesOf(b.Belief)
	on := onFrozen{b, c}
	if b.Trained {
		if c.Parametric == nil {
			return Capabilities{}
		}
		return Capabilities{Parametric: withNetwork{c.Parametric, b}}
	}
	if c.Additive != nil {
		c.Additive = on
	}
	if c.Linear != nil {
		c.Linear = linearOn{c.Linear, b}
	}
	if c.Marginals != nil {
		c.Marginals = on
	}
	if c.Gradient != nil {
		c.Gradient = on
	}
	if c.Each != nil {
		c.Each = on
	}
	if c.Conjugate != nil {
		c.Conjugate = conjugateOn{c.Conjugate, b}
	}
	if c.Predictive != nil {
		c.Predictive = on
	}
	if c.Conditioned != nil {
		c.Conditioned = conditionedOn{c.Conditioned, b}
	}
	return c
}

// withNetwork is a Parametric belief whose theta ends with the network's parameters.
type withNetwork struct {
	Parametric
	on OnFeatures
}

func (p withNetwork) NumTheta() int { return p.Parametric.NumTheta() + NumTheta(p.on.Function) }

func (p withNetwork) Trained(nu []*Node, z index.Set) *Node {
	last := len(nu) - 1
	theta, net := p.Parametric.Trained(nu[:last], z), InsertAxes(nu[last], 1)
	net = BroadcastToDims(net, theta.Shape().Dim(0), theta.Shape().Dim(1), net.Shape().Dim(2))
	return Concatenate([]*Node{theta, net}, 2)
}

func (p withNetwork) Complete(theta *Node, _ Params, _ index.Set) *Node { return theta }

// onFrozen has the capabilities of a belief at the features of a frozen network, where inputs are the only difference.
type onFrozen struct {
	on OnFeatures
	of Capabilities
}

func (f onFrozen) FixedPart(p Params, z index.Set, x *Node, steps int) *Node {
	return f.of.Additive.FixedPart(p, z, f.on.features(nil, x), steps)
}

func (f onFrozen) Marginal(p Params) (mu, sd *Node) { return f.of.Marginals.Marginal(p) }

func (f onFrozen) PredictAt(theta, x *Node) *Node {
	return f.of.Marginals.PredictAt(theta, f.on.features(nil, x))
}

func (f onFrozen) Forward(theta, x *Node) (*Node, func(df *Node) *Node) {
	return f.of.Gradient.Forward(theta, f.on.features(nil, x))
}

func (f onFrozen) PredictEach(nu []*Node, z index.Set, x *Node) *Node {
	return f.of.Each.PredictEach(nu, z, f.on.features(nil, x))
}

func (f onFrozen) Draw(p Params, s rng.Stream, n int, x *Node) *Node {
	return f.of.Predictive.Draw(p, s, n, f.on.features(nil, x))
}

// linearOn is a base model that is linear in theta, at the features of a frozen network.
type linearOn struct {
	LinearBase
	on OnFeatures
}

func (l linearOn) Apply(theta, x *Node) *Node {
	return l.LinearBase.Apply(theta, l.on.features(nil, x))
}
func (l linearOn) Gram(x *Node) *Node       { return l.LinearBase.Gram(l.on.features(nil, x)) }
func (l linearOn) Project(x, v *Node) *Node { return l.LinearBase.Project(l.on.features(nil, x), v) }

// conjugateOn is a Gaussian posterior at the features of a frozen network.
type conjugateOn struct {
	Conjugate
	on OnFeatures
}

func (c conjugateOn) Phi(p Params, x *Node) (phi, block *Node) {
	return c.Conjugate.Phi(p, c.on.features(nil, x))
}

// conditionedOn is a Conditioned belief at the features of a frozen network.
type conditionedOn struct {
	Conditioned
	on OnFeatures
}

func (c conditionedOn) Mean() Belief {
	c.on.Belief = c.Conditioned.Mean()
	return c.on
}

func (c conditionedOn) Keep(p Params, x, precision *Node) map[string]*Node {
	return c.Conditioned.Keep(p, c.on.features(nil, x), precision)
}
