package hyper

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Initializer draws initial weights, float32 [runs, dims...], of a linear map with the given fans. It is GoMLX's
// initializers' role; those draw from one stateful generator, while here every run has its own named stream.
type Initializer func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node

// InitZeros starts at zero.
func InitZeros(s rng.Stream, _, _ int, dims ...int) *Node {
	return zeros(s, dims)
}

// InitNormal draws from N(0, sd^2); the paper's section 4.1 has sd 0.05.
func InitNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node { return MulScalar(s.Normal(dims...), sd) }
}

// InitTruncatedNormal draws from N(0, sd^2) conditioned on two standard deviations; the paper's section 4.2 has sd 0.05.
func InitTruncatedNormal(sd float64) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		// Inverse of the truncated distribution function: u is uniform on (Phi(-2), Phi(2)), mapped by the quantile.
		half := math.Erf(2 / math.Sqrt2)
		u := MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), half)
		return MulScalar(ClipScalar(MulScalar(erfInv(u), math.Sqrt2), -2, 2), sd)
	}
}

// InitGlorotUniform draws uniformly on +-sqrt(6 / (fanIn + fanOut)).
func InitGlorotUniform(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
	limit := math.Sqrt(6 / float64(fanIn+fanOut))
	return MulScalar(AddScalar(MulScalar(s.Uniform(dims...), 2), -1), limit)
}

// erfInv is the inverse error function in single precision (Giles, "Approximating the erfinv function", 2012), with
// a relative error below 4e-7 for |x| < 0.99.
func erfInv(x *Node) *Node {
	w := Neg(Log(Mul(OneMinus(x), OnePlus(x))))
	central := horner(AddScalar(w, -2.5), 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
	tail := horner(AddScalar(Sqrt(MaxScalar(w, 0.0)), -3), -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)
	return Mul(Where(LessThan(w, Scalar(w.Graph(), w.DType(), 5.0)), central, tail), x)
}

func horner(w *Node, coefficients ...float64) *Node {
	p := AddScalar(MulScalar(w, 0.0), coefficients[0])
	for _, c := range coefficients[1:] {
		p = AddScalar(Mul(p, w), c)
	}
	return p
}

func zeros(s rng.Stream, dims []int) *Node {
	return BroadcastToDims(Const(s.Graph(), float32(0)), append([]int{s.Runs()}, dims...)...)
}
