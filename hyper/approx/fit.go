package approx

import (
	"context"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// fitting trains an MLP on pairs of inputs and outputs, by Adam with consecutive minibatches. The step size falls like
// half a cosine. The loss is the mean absolute error.
type fitting struct {
	widths  []int
	steps   int
	seed    uint64
	backend string
	in, out [][]float64 // the pairs
}

// The size of a minibatch, and the first step size.
const (
	fitBatch = 1024
	fitStep  = 3e-3
)

// run trains the network.
func (o *fitting) run(ctx context.Context) (Network, error) {
	b, err := backend.Open(o.backend)
	if err != nil {
		return Network{}, err
	}
	state, err := CallOnceN(b, o.start, []uint64{o.seed})
	if err != nil {
		return Network{}, err
	}
	in := tensor(slices.Concat(o.in...), len(o.in), len(o.in[0]))
	out := tensor(slices.Concat(o.out...), len(o.out), len(o.out[0]))
	state, err = iterate(ctx, b, o.step, o.steps, state, func(i int) []any {
		size := fitStep * (0.001 + 0.999*(1+math.Cos(math.Pi*float64(i)/float64(o.steps)))/2)
		return []any{in, out, int32(i * fitBatch % (len(o.in) - fitBatch + 1)), []float32{float32(size)}}
	})
	if err != nil {
		return Network{}, err
	}
	return o.network(state[0])
}

func (o *fitting) mlp() base.MLP { return base.MLP{Layers: o.widths} }

// start returns the initial state: theta as [1, 1, N], and the state of the optimizer.
func (o *fitting) start(seed *Node) []*Node {
	net := o.mlp()
	theta := hyper.InitLayers(net)(rng.New(seed).Named("approx").Named("fit"), 0, 0, 1, hyper.NumTheta(net))
	return append([]*Node{theta}, train.Adam{}.Init([]*Node{theta})...)
}

// step makes a step of Adam. args are the inputs, the outputs, the index of the minibatch's first pair, the step size,
// and the state.
func (o *fitting) step(args []*Node) []*Node {
	in, out, from, size, theta, state := args[0], args[1], args[2], args[3], args[4], args[5:]
	rows := Add(Iota(in.Graph(), shapes.Make(dtypes.Int32, fitBatch, 1), 0), from)
	x, y := InsertAxes(Gather(in, rows), 0), InsertAxes(Transpose(Gather(out, rows), 0, 1), 0, 0)
	loss := ReduceAllMean(Abs(Sub(o.mlp().Outputs(theta, x), y)))
	newState, nu := train.Adam{}.Update(state, []*Node{theta}, Gradient(loss, theta), size)
	return append(nu, newState...)
}

// network returns the trained network.
func (o *fitting) network(theta *tensors.Tensor) (Network, error) {
	flat, err := tensors.CopyFlatData[float32](theta)
	if err != nil {
		return Network{}, err
	}
	var net Network
	for i, in := range o.widths[:len(o.widths)-1] {
		l := Layer{W: rows(o.widths[i+1], in), B: make([]float64, o.widths[i+1])}
		for _, part := range append(l.W, l.B) {
			for j := range part {
				part[j] = float64(flat[j])
			}
			flat = flat[len(part):]
		}
		net.Layers = append(net.Layers, l)
	}
	return net, nil
}
