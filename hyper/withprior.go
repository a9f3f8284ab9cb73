package hyper

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// WithPrior adds a belief that is never trained to a belief that is trained. The belief that is never trained is an
// additive prior (section 2.5) of any kind, such as a network of a different shape, a hypernetwork, or a belief of
// another package. An index identifies one function of each belief, and the prediction is the sum of the two. A [Prior]
// in a [Model] does the same for D B z, and can be faster.
//
// The trained belief starts as it would without the prior. If predictions before any data are to be the prior's, give
// the trained belief initializers of zeros.
type WithPrior struct {
	Belief Belief // is trained
	Prior  Belief // is never trained; its indices must have the distribution of Belief's indices
}

var (
	_ Capable  = WithPrior{}
	_ Additive = WithPrior{}
)

// Validate reports faults of the parts, and different distributions of their indices.
func (w WithPrior) Validate() error {
	var errs []error
	part := func(name string, b Belief) {
		err := faults.Value(name, b)
		if err == nil {
			err = faults.Prefix(name+": ", faults.Of(b))
		}
		errs = append(errs, err)
	}
	part("Belief", w.Belief)
	part("Prior", w.Prior)
	if err := errors.Join(errs...); err != nil {
		return faults.Prefix("hyper.WithPrior: ", err)
	}
	if CapabilitiesOf(w.Belief).Conditioned != nil || CapabilitiesOf(w.Prior).Conditioned != nil {
		return errors.New("hyper.WithPrior: a belief that is hyper.Conditioned, as hyper.NetworkGP, goes with no other " +
			"prior: data decide its deviations from a mean")
	}
	if a, b := inputsOf(w.Belief), inputsOf(w.Prior); a != b && a >= 0 && b >= 0 {
		return fmt.Errorf("hyper.WithPrior: Belief takes inputs of %d features, but Prior of %d", a, b)
	}
	if a, b := w.Belief.Index(), w.Prior.Index(); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("hyper.WithPrior: Belief has indices of %T %+v, but Prior of %T %+v; give both the same",
			a, a, b, b)
	}
	return nil
}

func (w WithPrior) Inputs() int { return max(inputsOf(w.Belief), inputsOf(w.Prior)) }

// inputsOf returns the number of features of the inputs of a base model or a belief, or -1 if it does not know them.
func inputsOf(b any) int {
	if f, ok := b.(FixedInputs); ok {
		return f.Inputs()
	}
	return -1
}

func (w WithPrior) Index() index.Distribution { return w.Belief.Index() }

// prefix returns the beginning of the names of the prior's parameters in Params.Fixed. It is also the name of the
// prior's stream, which no nested belief uses.
func (w WithPrior) prefix() string {
	depth := 1
	for inner, ok := w.Belief.(WithPrior); ok; inner, ok = inner.Belief.(WithPrior) {
		depth++
	}
	return fmt.Sprintf("with.%d.", depth)
}

// Init draws the parameters of both beliefs. The trained belief draws the same parameters as without the prior.
func (w WithPrior) Init(s rng.Stream, scale *Node) Params {
	p, prior := w.Belief.Init(s, scale), w.Prior.Init(s.Named(w.prefix()), scale)
	fixed := map[string]*Node{}
	maps.Copy(fixed, p.Fixed)
	for i, v := range prior.Nu {
		fixed[w.prefix()+strconv.Itoa(i)] = v
	}
	for name, v := range prior.Fixed {
		fixed[w.prefix()+"fixed."+name] = v
	}
	p.Fixed = fixed
	return p
}

// priorParams returns the parameters of the prior, after it applies each to every node.
func (w WithPrior) priorParams(p Params, each func(*Node) *Node) Params {
	prior := Params{Fixed: map[string]*Node{}}
	for v := p.Fixed[w.prefix()+"0"]; v != nil; v = p.Fixed[w.prefix()+strconv.Itoa(len(prior.Nu))] {
		prior.Nu = append(prior.Nu, each(v))
	}
	for name, v := range p.Fixed {
		if rest, ok := strings.CutPrefix(name, w.prefix()+"fixed."); ok {
			prior.Fixed[rest] = each(v)
		}
	}
	return prior
}

// Predict returns the sum of both predictions, [runs, indices, inputs].
func (w WithPrior) Predict(p Params, z index.Set, x *Node) *Node {
	return Add(w.Belief.Predict(p, z, x), w.added(p, z, x, 1))
}

// FixedPart returns the predictions of the prior, plus the fixed part of the trained belief if there is one; see
// [Additive].
func (w WithPrior) FixedPart(p Params, z index.Set, x *Node, steps int) *Node {
	f := w.added(p, z, x, steps)
	if inner := CapabilitiesOf(w.Belief).Additive; inner != nil {
		f = Add(f, inner.FixedPart(p, z, x, steps))
	}
	return f
}

// added returns the predictions of the prior for several steps, in the shapes of FixedPart.
func (w WithPrior) added(p Params, z index.Set, x *Node, steps int) *Node {
	if steps > 1 {
		z = z.Split(steps)
	}
	prior := w.priorParams(p, func(v *Node) *Node { return repeated(v, steps) })
	return StopGradient(w.Prior.Predict(prior, z, x))
}

// repeated returns v, [runs, ...], with several copies of each run, one after the other: [runs * times, ...].
func repeated(v *Node, times int) *Node {
	if times == 1 {
		return v
	}
	dims := append([]int{v.Shape().Dim(0), times}, v.Shape().Dimensions[1:]...)
	v = BroadcastToDims(InsertAxes(v, 1), dims...)
	return Reshape(v, append([]int{dims[0] * times}, dims[2:]...)...)
}

// Capabilities returns the capabilities of the trained belief, and Additive. It removes the capabilities that describe
// the distribution of theta or of values, because they would not include this prior: Marginals, Conjugate and
// Predictive.
func (w WithPrior) Capabilities() Capabilities {
	c := CapabilitiesOf(w.Belief)
	c.Additive, c.Marginals, c.Conjugate, c.Predictive = w, nil, nil, nil
	return c
}
