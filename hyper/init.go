package hyper

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Initializer draws initial weights, float32 [runs, dims...], of a linear map with the given fans. It is GoMLX's
// initializers' role; those draw from one stateful generator, while here every run has its own named stream.
type Initializer func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node

// InitZeros starts at zero.
func InitZeros(s rng.Stream, _, _ int, dims ...int) *Node {
	return zeros(s, dims)
}

// InitConstant starts at x.
func InitConstant(x float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node { return AddScalar(zeros(s, dims), x) }
}

// InitOneHot draws one-hot vectors along the last axis, all equally likely: the distribution of theta* in section 5.
func InitOneHot(s rng.Stream, _, _ int, dims ...int) *Node {
	last := len(dims) - 1
	which := s.Intn(Const(s.Graph(), int32(dims[last])), dims[:last]...)
	return OneHot(which, dims[last], dtypes.Float32)
}

// InitNormal draws from N(0, sd^2); the paper's section 4.1 has sd 0.05.
func InitNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node { return MulScalar(s.Normal(dims...), sd) }
}

// InitTruncatedNormal draws from N(0, sd^2) conditioned on two standard deviations; the paper's section 4.2 has sd
// 0.05.
func InitTruncatedNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		// Inverse of the truncated distribution function: u is uniform on (Phi(-2), Phi(2)), mapped by the quantile.
		half := math.Erf(2 / math.Sqrt2)
		u := MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), half)
		return MulScalar(ClipScalar(MulScalar(rng.ErfInv(u), math.Sqrt2), -2, 2), sd)
	}
}

// InitGlorotUniform draws uniformly on +-sqrt(6 / (fanIn + fanOut)).
func InitGlorotUniform(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
	limit := math.Sqrt(6 / float64(fanIn+fanOut))
	return MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), limit)
}

// InitScaled multiplies what another initializer draws.
func InitScaled(scale float64, init Initializer) Initializer {
	return func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
		return MulScalar(init(s, fanIn, fanOut, dims...), scale)
	}
}

// InitLayers draws the parameters of a network, in its order: Glorot uniform weights, layer by layer, and zero biases.
// The last axis must be the network's parameters.
func InitLayers(net base.MLP) Initializer {
	limits := ofWeights(net, func(in, out int) float64 { return math.Sqrt(6 / float64(in+out)) })
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		u := AddScalar(MulScalar(s.Uniform(dims...), 2), -1)
		return Mul(u, ExpandLeftToRank(Const(s.Graph(), limits), u.Rank()))
	}
}

// InitTruncatedLayers draws the parameters of a network, in its order, as haiku does and with it the Neural Testbed
// (Osband et al. 2022): weights from N(0, 1/fan-in) conditioned on two standard deviations, whose own is therefore 0.88
// of 1/sqrt(fan-in), and zero biases; those of the first layer are from N(0, firstBias^2), as the testbed's functions
// and prior networks have them with firstBias = 1/sqrt(inputs). The last axis must be the network's parameters.
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

// ofWeights are scales of a network's parameters, in its order: that of the fans for the weights of a layer, and 0 for
// biases.
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
