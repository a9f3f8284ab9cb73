package hyper

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Initializer draws the initial weights of a linear map with the given fans, float32 [runs, dims...]. It has the role
// of GoMLX's initializers. These draw from one stateful generator, but here every run has its own named stream.
type Initializer func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node

// InitZeros sets every number to 0.
func InitZeros(s rng.Stream, _, _ int, dims ...int) *Node {
	return zeros(s, dims)
}

// InitConstant sets every number to x.
func InitConstant(x float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node { return AddScalar(zeros(s, dims), x) }
}

// InitOneHot draws one-hot vectors along the last axis, each with the same probability: the distribution of theta* in
// section 5.
func InitOneHot(s rng.Stream, _, _ int, dims ...int) *Node {
	last := len(dims) - 1
	which := s.Intn(Const(s.Graph(), int32(dims[last])), dims[:last]...)
	return OneHot(which, dims[last], dtypes.Float32)
}

// InitNormal draws from N(0, sd^2). Section 4.1 of the paper uses sd 0.05.
func InitNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node { return MulScalar(s.Normal(dims...), sd) }
}

// InitTruncatedNormal draws from N(0, sd^2), truncated at two standard deviations. Section 4.2 of the paper uses
// sd 0.05.
func InitTruncatedNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		// Apply the quantile function of the normal distribution to a u that is uniform on (Phi(-2), Phi(2)).
		half := math.Erf(2 / math.Sqrt2)
		u := MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), half)
		return MulScalar(ClipScalar(MulScalar(rng.ErfInv(u), math.Sqrt2), -2, 2), sd)
	}
}

// InitGlorotUniform draws uniformly from +-sqrt(6 / (fanIn + fanOut)).
func InitGlorotUniform(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
	limit := math.Sqrt(6 / float64(fanIn+fanOut))
	return MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), limit)
}

// InitScaled multiplies the numbers that another initializer draws by scale.
func InitScaled(scale float64, init Initializer) Initializer {
	return func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
		return MulScalar(init(s, fanIn, fanOut, dims...), scale)
	}
}

// InitLayers draws the parameters of a network, in the network's order: Glorot uniform weights, layer by layer, and
// biases of 0. The last axis must be the axis of the network's parameters.
func InitLayers(net base.MLP) Initializer {
	limits := ofWeights(net, func(in, out int) float64 { return math.Sqrt(6 / float64(in+out)) })
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		u := AddScalar(MulScalar(s.Uniform(dims...), 2), -1)
		return Mul(u, ExpandLeftToRank(Const(s.Graph(), limits), u.Rank()))
	}
}

// InitTruncatedLayers draws the parameters of a network, in the network's order, as haiku and therefore the Neural
// Testbed (Osband et al. 2022) do. Weights are from N(0, 1/fan-in), truncated at two standard deviations; their
// standard deviation after truncation is 0.88/sqrt(fan-in). Biases are 0, except for the biases of the first layer,
// which are from N(0, firstBias^2). The testbed's functions and prior networks use firstBias = 1/sqrt(inputs). The last
// axis must be the axis of the network's parameters.
func InitTruncatedLayers(net base.MLP, firstBias float64) Initializer {
	sd := ofWeights(net, func(in, _ int) float64 { return 1 / math.Sqrt(float64(in)) })
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		theta := InitTruncatedNormal(1)(s, 0, 0, dims...)
		theta = Mul(theta, ExpandLeftToRank(Const(s.Graph(), sd), theta.Rank()))
		if firstBias == 0 {
			return theta
		}
		lead, at, width := dims[:len(dims)-1], net.Layers[0]*net.Layers[1], net.Layers[1]
		part := func(from, to int) *Node { return SliceAxis(theta, theta.Rank()-1, AxisRange(from, to)) }
		biases := MulScalar(s.Named("bias").Normal(append(slices.Clone(lead), width)...), firstBias)
		return Concatenate([]*Node{part(0, at), biases, part(at+width, len(sd))}, -1)
	}
}

// ofWeights returns a scale for each parameter of a network, in the network's order: scale(in, out) for the weights of
// a layer with these fans, and 0 for biases.
func ofWeights(net base.MLP, scale func(in, out int) float64) []float32 {
	var scales []float32
	for i := range len(net.Layers) - 1 {
		in, out := net.Layers[i], net.Layers[i+1]
		scales = append(scales, slices.Repeat([]float32{float32(scale(in, out))}, in*out)...)
		scales = append(scales, make([]float32, out)...)
	}
	return scales
}

func zeros(s rng.Stream, dims []int) *Node {
	return BroadcastToDims(Const(s.Graph(), float32(0)), append([]int{s.Runs()}, dims...)...)
}
