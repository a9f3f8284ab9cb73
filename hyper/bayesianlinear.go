package hyper

import (
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// BayesianLinear is Bayesian linear regression, f(x) = phi(x)^T theta, under the prior N(0, sigma_p^2 I) and Gaussian
// noise. The posterior N(mu, sigma_p^2 Q) is updated exactly with each datum. With z ~ N(0, I),
//
//	theta = mu + sigma_p S z,   S S^T = Q
//
// phi(x) is x with an intercept and, if Waves is positive, random cosines of x (Rahimi and Recht 2007). The cosines
// make f nonlinear; f approaches a Gaussian process as Waves grows. For an x of d numbers
//
//	phi(x) = (sqrt(2/Waves) cos(w_j^T x + b_j), c x / sqrt(d), c),   w_j ~ N(0, I / (d Length^2)),   b_j ~ U(0, 2 pi)
//
// with c = 0.3. Without cosines phi(x) = (x, 1) / sqrt(d + 1). Features should have a mean of about 0 and a variance of
// about 1. Plain sets phi(x) = x, for linear bandits.
//
// With Blocks an input consists of Blocks blocks of d numbers, and only the numbers of one block may differ from 0. If
// Numbered is set, an input is instead the number of a block, followed by d numbers. Each block has its own part of
// theta: the blocks are disjoint models, one for each action, of a context (Li et al. 2010). An input of zeros belongs
// to the first block.
//
// nu is (mu [runs, N_theta], S [runs, Blocks, size, size]), where size is the number of parameters in a block. Only
// train.Exact can train this belief.
//
// With Line there is a second regression, on (x, 1) alone, in addition to the regression with cosines. Random cosines
// of many features need many data to find a line, and a line can find nothing else. The data give each regression a
// probability; Share is the probability of the line. f is Gaussian, with the mean and the covariances of this mixture:
//
//	f = (1 - Share) f_c + Share f_l,   var f = (1 - Share) var f_c + Share var f_l + Share (1 - Share) (f_l - f_c)^2
//
// where f_c and f_l in the last term are means. Functions of two blocks remain independent. In each block of theta the
// parameters of the line follow the parameters of the cosines, and nu is (mu, S, S of the line, Share [runs]).
type BayesianLinear struct {
	Features int     // number of features of an input
	Blocks   int     // number of blocks; 0 means 1
	Numbered bool    // an input is the number of its block, followed by d numbers
	Waves    int     `help:"random cosines of an action's features; 0 is none, a linear function"`
	Length   float64 `help:"length scale of the cosines, times the root of the number of features"`
	Plain    bool    // phi(x) is x itself: f has no intercept, and x is not scaled
	Line     bool    // adds a regression on (x, 1) with its own posterior
}

var (
	_ Sized      = BayesianLinear{}
	_ Capable    = BayesianLinear{}
	_ Conjugate  = BayesianLinear{}
	_ Predictive = BayesianLinear{}
)

// linearShare is c. For features of variance 1 the linear part and the intercept each have a prior variance of c^2, and
// the cosines have 1.
const linearShare = 0.3

// ForInputs returns the belief for inputs of the given number of features.
func (b BayesianLinear) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b BayesianLinear) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Blocks", b.Blocks, 0),
		faults.AtLeast("Waves", b.Waves, 0)}
	if b.Waves > 0 {
		errs = append(errs, faults.Positive("Length", b.Length))
	}
	if b.Plain && b.Waves > 0 {
		errs = append(errs, fmt.Errorf("Waves must be 0 with Plain, got %d", b.Waves))
	}
	if b.Line && b.Waves < 1 {
		errs = append(errs, fmt.Errorf("Waves must be 1 at least with Line, got %d: without cosines there is the line alone",
			b.Waves))
	}
	if b.Numbered && b.Features < 2 {
		errs = append(errs, fmt.Errorf("Features must be 2 or more with Numbered (the number of the block, and its "+
			"numbers), got %d", b.Features))
	}
	if !b.Numbered && b.Features%b.blocks() != 0 {
		errs = append(errs, fmt.Errorf("Features must be a multiple of Blocks, got %d features for %d blocks",
			b.Features, b.Blocks))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("Blocks x size x size", b.blocks(), b.whole(), b.whole()),
			faults.Size("Waves x features", b.Waves, b.width()))
	}
	return faults.Prefix("hyper.BayesianLinear: ", errors.Join(errs...))
}

func (b BayesianLinear) blocks() int { return max(b.Blocks, 1) }

// size returns the number of parameters in a block, without the parameters of the line.
func (b BayesianLinear) size() int {
	if b.Plain {
		return b.width()
	}
	return b.Waves + b.width() + 1
}

// Parts returns the number of parameters in a block, without the line, and with Line the number of parameters of the
// line.
func (b BayesianLinear) Parts() []int {
	if b.Line {
		return []int{b.size(), b.width() + 1}
	}
	return []int{b.size()}
}

// whole returns the number of all parameters in a block.
func (b BayesianLinear) whole() int {
	if b.Line {
		return b.size() + b.width() + 1
	}
	return b.size()
}

// deviations returns the number of normal numbers from which the deviations of a block's functions from their mean are
// computed: one for each parameter and, with Line, one more for the difference of the two means.
func (b BayesianLinear) deviations() int {
	if b.Line {
		return b.whole() + 1
	}
	return b.size()
}

// width returns d.
func (b BayesianLinear) width() int {
	if b.Numbered {
		return b.Features - 1
	}
	return b.Features / b.blocks()
}

func (b BayesianLinear) Index() index.Distribution {
	return index.Gaussian{N: b.blocks() * b.deviations()}
}
func (b BayesianLinear) Inputs() int { return b.Features }

// NumTheta returns N_theta.
func (b BayesianLinear) NumTheta() int { return b.blocks() * b.whole() }

// NumInvolved returns the number of numbers in nu of one run.
func (b BayesianLinear) NumInvolved() int {
	n := b.NumTheta()
	for _, part := range b.Parts() {
		n += b.blocks() * part * part
	}
	if b.Line {
		n++
	}
	return n
}

// UnitVariance returns the sigma_p^2 for which predictions before any data have variance 1 over standardised inputs.
func (b BayesianLinear) UnitVariance() float64 {
	if b.Plain {
		return 1 / float64(b.width())
	}
	if b.Waves == 0 {
		return 1
	}
	return 1 / (1 + 2*linearShare*linearShare)
}

// Init draws the cosines, and sets the posterior to the prior. scale is sigma_p, [runs]; nil means 1.
func (b BayesianLinear) Init(s rng.Stream, scale *Node) Params {
	g, runs := s.Graph(), s.Runs()
	nu := []*Node{Zeros(g, shapes.Make(dtypes.Float32, runs, b.NumTheta()))}
	for _, n := range b.Parts() {
		at := func(axis int) *Node { return Iota(g, shapes.Make(dtypes.Int32, runs, b.blocks(), n, n), axis) }
		nu = append(nu, ConvertDType(Equal(at(2), at(3)), dtypes.Float32))
	}
	if b.Line {
		nu = append(nu, MulScalar(Ones(g, shapes.Make(dtypes.Float32, runs)), 0.5))
	}
	fixed := map[string]*Node{"scale": orOnes(s, scale)}
	if b.Waves > 0 {
		w := s.Named("waves").Normal(b.width(), b.Waves)
		fixed["waves"] = MulScalar(w, 1/(b.Length*math.Sqrt(float64(b.width()))))
		fixed["phases"] = MulScalar(s.Named("phases").Uniform(b.Waves), 2*math.Pi)
	}
	return Params{Nu: nu, Fixed: fixed}
}

// Phi returns phi(x) within the block of each input, [runs, inputs, size], and the index of each input's block, int32
// [runs, inputs]. With Line the features of the line follow, and the last axis has the length of both parts.
func (b BayesianLinear) Phi(p Params, x *Node) (phi, block *Node) {
	d := b.width()
	x, block = b.blockOf(x)
	if b.Plain {
		return x, block
	}
	one := OnesLike(Slice(x, AxisRange(), AxisRange(), AxisRange(0, 1)))
	if b.Waves == 0 {
		return MulScalar(Concatenate([]*Node{x, one}, 2), 1/math.Sqrt(float64(d+1))), block
	}
	angle := Add(Einsum("rid,rdw->riw", x, p.Fixed["waves"]), InsertAxes(p.Fixed["phases"], 1))
	all := []*Node{
		MulScalar(Cos(angle), math.Sqrt(2/float64(b.Waves))),
		MulScalar(x, linearShare/math.Sqrt(float64(d))),
		MulScalar(one, linearShare)}
	if b.Line {
		all = append(all, MulScalar(x, b.lineScale()), MulScalar(one, b.lineScale()))
	}
	return Concatenate(all, 2), block
}

// lineScale returns the factor of (x, 1) with which the line predicts, before any data, with the same variance as the
// cosines.
func (b BayesianLinear) lineScale() float64 {
	return 1 / math.Sqrt(b.UnitVariance()*float64(b.width()+1))
}

// blockOf returns the d numbers of each input, [runs, inputs, d], and the index of each input's block, int32
// [runs, inputs].
func (b BayesianLinear) blockOf(x *Node) (numbers, block *Node) {
	runs, inputs, d := x.Shape().Dim(0), x.Shape().Dim(1), b.width()
	if b.Numbered {
		number := Squeeze(Slice(x, AxisRange(), AxisRange(), AxisRange(0, 1)), 2)
		return Slice(x, AxisRange(), AxisRange(), AxisRange(1)), ConvertDType(number, dtypes.Int32)
	}
	x = Reshape(x, runs, inputs, b.blocks(), d)
	return ReduceSum(x, 2), ArgMax(ReduceMax(Abs(x), 3), 2, dtypes.Int32)
}

// Capabilities returns the capabilities of the belief: Conjugate and Predictive.
func (b BayesianLinear) Capabilities() Capabilities { return Capabilities{Conjugate: b, Predictive: b} }
