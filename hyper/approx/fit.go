package approx

import (
	"context"
	"math"

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

// fitting trains an MLP on pairs of inputs and outputs, in minibatches one after the other, by Adam with steps that
// fall as half a cosine. The loss is the mean magnitude of the errors.
type fitting struct {
	widths  []int
	steps   int
	seed    uint64
	backend string
	in, out [][]float64 // the pairs
	scale   float64     // of the outputs, to numbers of magnitude 1
}

// The minibatch, and the first step size.
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
	step, err := NewExec(b, o.step)
	if err != nil {
		return Network{}, err
	}
	defer step.Finalize()
	in, out := o.tensor(o.in, 1), o.tensor(o.out, o.scale)
	for i := range o.steps {
		if err := ctx.Err(); err != nil {
			return Network{}, err
		}
		size := fitStep * (0.001 + 0.999*(1+math.Cos(math.Pi*float64(i)/float64(o.steps)))/2)
		args := []any{in, out, int32(i * fitBatch % (len(o.in) - fitBatch + 1)), []float32{float32(size)}}
		for _, s := range state {
			args = append(args, s)
		}
		if state, err = step.Call(args...); err != nil {
			return Network{}, err
		}
	}
	return o.network(state[0])
}

func (o *fitting) mlp() base.MLP { return base.MLP{Layers: o.widths} }

// start makes the state: theta as [1, 1, N], and the optimizer's.
func (o *fitting) start(seed *Node) []*Node {
	net := o.mlp()
	theta := hyper.InitLayers(net)(rng.New(seed).Named("approx").Named("fit"), 0, 0, 1, hyper.NumTheta(net))
	return append([]*Node{theta}, train.Adam{}.Init([]*Node{theta})...)
}

// step makes a step of Adam: args are the pairs, where the minibatch begins, the step size, and the state.
func (o *fitting) step(args []*Node) []*Node {
	in, out, from, size, theta, state := args[0], args[1], args[2], args[3], args[4], args[5:]
	rows := Add(Iota(in.Graph(), shapes.Make(dtypes.Int32, fitBatch, 1), 0), from)
	x, y := InsertAxes(Gather(in, rows), 0), InsertAxes(Transpose(Gather(out, rows), 0, 1), 0, 0)
	loss := ReduceAllMean(Abs(Sub(o.mlp().Outputs(theta, x), y)))
	newState, nu := train.Adam{}.Update(state, []*Node{theta}, Gradient(loss, theta), size)
	return append(nu, newState...)
}

// tensor is rows of numbers times a scale, [rows, columns].
func (o *fitting) tensor(rows [][]float64, scale float64) *tensors.Tensor {
	k := len(rows[0])
	flat := make([]float64, 0, len(rows)*k)
	for _, row := range rows {
		for _, v := range row {
			flat = append(flat, v*scale)
		}
	}
	return tensor[float32](flat, len(rows), k)
}

// network takes the parameters apart, and brings the outputs back to their scale.
func (o *fitting) network(theta *tensors.Tensor) (Network, error) {
	flat, err := tensors.CopyFlatData[float32](theta)
	if err != nil {
		return Network{}, err
	}
	var net Network
	at := 0
	for i := range len(o.widths) - 1 {
		scale := 1.0
		if i == len(o.widths)-2 {
			scale = 1 / o.scale
		}
		l := Layer{W: rows(o.widths[i+1], o.widths[i]), B: make([]float64, o.widths[i+1])}
		for _, part := range append(l.W, l.B) {
			for j := range part {
				part[j] = scale * float64(flat[at])
				at++
			}
		}
		net.Layers = append(net.Layers, l)
	}
	return net, nil
}
