package hyper

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// WithPrior adds a belief that is never trained to another: an additive prior (section 2.5) of any kind, such as a
// network of another shape, a hypernetwork, or a belief of another package. An index identifies a function of each, and
// their sum is predicted. A [Prior] in a [Model] is the same for D B z, and can be faster.
//
// The trained belief starts as it would alone. To see the prior alone before any data, give it initializers of zeros.
type WithPrior struct {
	Belief Belief // is trained
	Prior  Belief // stays as it was drawn; its indices have the distribution of the other's
}

var (
	_ Capable  = WithPrior{}
	_ Additive = WithPrior{}
)

// Validate reports what is wrong with the parts, and indices that differ.
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

func inputsOf(b Belief) int {
	if f, ok := b.(FixedInputs); ok {
		return f.Inputs()
	}
	return -1
}

func (w WithPrior) Index() index.Distribution { return w.Belief.Index() }

// prefix begins the names of the prior's parameters in Params.Fixed, and is its stream: one that no belief inside has.
func (w WithPrior) prefix() string {
	depth := 1
	for inner, ok := w.Belief.(WithPrior); ok; inner, ok = inner.Belief.(WithPrior) {
		depth++
	}
	return fmt.Sprintf("with.%d.", depth)
}

// Init draws both. The trained belief draws what it would without the prior.
func (w WithPrior) Init(s rng.Stream, scale *Node) Params {
	p, prior := w.Belief.Init(s, scale), w.Prior.Init(s.Named(w.prefix()), scale)
	fixed := map[string]*Node{}
	for name, v := range p.Fixed {
		fixed[name] = v
	}
	for i, v := range prior.Nu {
		fixed[w.prefix()+strconv.Itoa(i)] = v
	}
	for name, v := range prior.Fixed {
		fixed[w.prefix()+"fixed."+name] = v
	}
	p.Fixed = fixed
	return p
}

// priorParams are the parameters of the prior among all, each as the function makes it.
func (w WithPrior) priorParams(p Params, each func(*Node) *Node) Params {
	prior := Params{Fixed: map[string]*Node{}}
	for v := p.Fixed[w.prefix()+"0"]; v != nil; v = p.Fixed[w.prefix()+strconv.Itoa(len(prior.Nu))] {
		prior.Nu = append(prior.Nu, each(v))
	}
	prior.Nu0 = prior.Nu
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

// FixedPart returns the predictions of the prior, and of a fixed part of the other belief: see [Additive].
func (w WithPrior) FixedPart(p Params, z index.Set, x *Node, steps int) *Node {
	f := w.added(p, z, x, steps)
	if inner := CapabilitiesOf(w.Belief).Additive; inner != nil {
		f = Add(f, inner.FixedPart(p, z, x, steps))
	}
	return f
}

// added returns the predictions of the prior, as FixedPart has them.
func (w WithPrior) added(p Params, z index.Set, x *Node, steps int) *Node {
	if steps > 1 {
		z = z.Split(steps)
	}
	prior := w.priorParams(p, func(v *Node) *Node { return repeated(v, steps) })
	return StopGradient(w.Prior.Predict(prior, z, x))
}

// repeated makes each run of v, [runs, ...], so many runs one after the other.
func repeated(v *Node, times int) *Node {
	if times == 1 {
		return v
	}
	dims := append([]int{v.Shape().Dim(0), times}, v.Shape().Dimensions[1:]...)
	v = BroadcastToDims(InsertAxes(v, 1), dims...)
	return Reshape(v, append([]int{dims[0] * times}, dims[2:]...)...)
}

// Capabilities are those of the trained belief, but for its distribution of theta with a prior, which this prior is not
// in.
func (w WithPrior) Capabilities() Capabilities {
	c := CapabilitiesOf(w.Belief)
	c.Additive, c.Marginals, c.Conjugate, c.Predictive = w, nil, nil, nil
	return c
}
