package hyper

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Dropout is dropout as a hypermodel (appendix E; Gal and Ghahramani 2016). The index is a mask over the hidden units
// of a network, with the entry 1/Keep or 0 for each unit. g_nu(z) is nu, with the weights that leave a unit multiplied
// by the unit's entry. To mask the weights is the same as to mask the activations: one index is one network, the same
// for all inputs. nu is one node, [runs, N_theta]. Dropout is usually trained with a different mask for each datum;
// train.PerDatum does this.
type Dropout struct {
	Net    base.MLP
	Keep   float64     // probability of keeping a unit
	InitNu Initializer // nil is InitLayers(Net)
}

var _ Hypermodel = Dropout{}

// Validate reports a network without hidden units, and a probability that is out of range.
func (h Dropout) Validate() error {
	errs := []error{faults.Prefix("Net: ", h.Net.Validate())}
	if n := len(h.Net.Layers); n == 2 {
		errs = append(errs, fmt.Errorf("Net needs hidden layers, got widths %v", h.Net.Layers))
	}
	if !(h.Keep > 0 && h.Keep <= 1) {
		errs = append(errs, fmt.Errorf("Keep must be in (0, 1], got %v", h.Keep))
	}
	return faults.Prefix("hyper.Dropout: ", errors.Join(errs...))
}

// FitsBase reports a base model other than Net.
func (h Dropout) FitsBase(b BaseModel) error {
	net, ok := b.(base.MLP)
	relu := base.ActivationReLU // 0 means ReLU too
	if ok && slices.Equal(net.Layers, h.Net.Layers) && max(net.Activation, relu) == max(h.Net.Activation, relu) {
		return nil
	}
	return fmt.Errorf("hyper.Dropout: Net %v must be the base model, got %T %v", h.Net, b, b)
}

func (h Dropout) Index() index.Distribution {
	units := 0
	for _, width := range h.Net.Layers[1:max(len(h.Net.Layers)-1, 1)] {
		units += width
	}
	return index.Bernoulli{N: units, Keep: h.Keep}
}

func (h Dropout) NumTheta() int    { return NumTheta(h.Net) }
func (h Dropout) NumInvolved() int { return h.NumTheta() }

// Init draws the network.
func (h Dropout) Init(s rng.Stream) []*Node {
	init := h.InitNu
	if init == nil {
		init = InitLayers(h.Net)
	}
	return []*Node{init(s.Named("nu"), 1, h.NumTheta(), h.NumTheta())}
}

// PredictEach masks the activations; see [Each].
func (h Dropout) PredictEach(nu []*Node, z index.Set, x *Node) *Node {
	masks := InsertAxes(Transpose(z.Dense(), 1, 2), 1) // [runs, 1, units, inputs]
	return Squeeze(h.Net.ApplyMasked(InsertAxes(nu[0], 1), x, masks), 1)
}

// Theta masks the weights, and returns the parameters of each index's network, [runs, n, N_theta].
func (h Dropout) Theta(nu []*Node, z index.Set) *Node {
	mask, runs, n := z.Dense(), nu[0].Shape().Dim(0), z.Len()
	var parts []*Node
	at, unit := 0, 0
	take := func(size int) *Node {
		at += size
		return Slice(nu[0], AxisRange(), AxisRange(at-size, at))
	}
	for i := range len(h.Net.Layers) - 1 {
		in, out := h.Net.Layers[i], h.Net.Layers[i+1]
		w, b := InsertAxes(take(in*out), 1), InsertAxes(take(out), 1)
		w = BroadcastToDims(w, runs, n, in*out)
		if i > 0 {
			layer := Slice(mask, AxisRange(), AxisRange(), AxisRange(unit, unit+in)) // [runs, n, in]
			w = Reshape(Mul(Reshape(w, runs, n, out, in), InsertAxes(layer, 2)), runs, n, in*out)
			unit += in
		}
		parts = append(parts, w, BroadcastToDims(b, runs, n, out))
	}
	return Concatenate(parts, 2)
}
