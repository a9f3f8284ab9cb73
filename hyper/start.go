package hyper

import (
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// UnitBase is a base model that computes which standard deviations of its parameters give its predictions a standard
// deviation of 1. A network needs this, because its layers multiply. A model uses UnitBase for its default start. Other
// base models are assumed to predict with the standard deviation of their parameters.
type UnitBase interface {
	BaseModel
	// Deviations returns standard deviations of the parameters. If the parameters have mean 0 and these standard
	// deviations, predictions have standard deviation 1 over standardised inputs. shared is the dimension of a Gaussian
	// index that all parameters share, or 0.
	Deviations(shared int) []float64
	// Output returns the index of the first parameter of the output layer: predictions are linear in the parameters
	// from this index on. To multiply these parameters by sigma_p is to multiply predictions by sigma_p.
	Output() int
}

// starter is a hypermodel whose nil initializers depend on the model that contains it.
type starter interface {
	// startIn returns the hypermodel with every initializer set.
	startIn(m Model, scale *Node) Hypermodel
}

// initNu draws nu_0 of the model's hypermodel.
func (m Model) initNu(s rng.Stream, scale *Node) []*Node {
	if h, ok := m.Hyper.(starter); ok {
		return h.startIn(m, scale).Init(s)
	}
	return m.Hyper.Init(s)
}

// UnitVariance returns the sigma_p^2 for which predictions of a default prior have variance 1 over standardised inputs.
// It is 1/Features for a linear base model, all of whose parameters have variance sigma_p^2, as in the loss. Otherwise
// it is 1, also if the prior's StdDev or InitB is given.
func (m Model) UnitVariance() float64 {
	b, ok := m.Base.(interface{ UnitVariance() float64 })
	if !ok || !m.linearInTheta() || m.Prior != nil && (m.Prior.StdDev != nil || m.Prior.InitB != nil) {
		return 1
	}
	return b.UnitVariance()
}

// prior returns the additive prior with its defaults set.
func (m Model) prior() Prior {
	p, b := *m.Prior, m.Prior.Base
	if b == nil {
		b = m.Base
	}
	if p.Rows == 0 {
		p.Rows = RowsSphere
		if !m.gaussian() {
			p.Rows = RowsGaussian
		}
	}
	if p.StdDev == nil && p.InitB == nil {
		p.StdDev, p.Output = m.deviations(b, p.Layout)
		p.normalise(m.Index())
	}
	return p
}

// deviations returns the standard deviations of a base model's parameters for predictions of standard deviation 1, and
// the index of the first parameter that is to be multiplied by sigma_p. A nil d means all ones.
func (m Model) deviations(b BaseModel, l Layout) (d []float64, output int) {
	u, ok := b.(UnitBase)
	if !ok {
		return nil, 0
	}
	shared := 0
	if m.gaussian() && len(l.Sizes) == 1 {
		shared = l.Width
	}
	return u.Deviations(shared), u.Output()
}

// normalise divides StdDev by the standard deviation of B z, which depends on the distributions of the rows of B and of
// the index. The parameters D B z then have the standard deviations that StdDev had before.
func (p *Prior) normalise(d index.Distribution) {
	variance := d.Moments().Second
	if p.Rows != RowsSphere {
		variance *= float64(p.Layout.Width)
	}
	if math.Abs(variance-1) < 1e-12 {
		return
	}
	if p.StdDev == nil {
		p.StdDev = slices.Repeat([]float64{1}, p.Layout.Rows())
	}
	for i := range p.StdDev {
		p.StdDev[i] /= math.Sqrt(variance)
	}
}

// centre returns the initializer of a theta that is not itself the prior. It sets theta to 0, except for the hidden
// units of a network, which must not all be equal. The network's output layer is 0. The network therefore predicts 0,
// and predictions before any data are the additive prior's.
func (m Model) centre() Initializer {
	u, ok := m.Base.(UnitBase)
	if !ok || m.Prior == nil || m.Prior.Base == nil || u.Output() == 0 {
		return InitZeros
	}
	d := u.Deviations(0)
	clear(d[u.Output():])
	return initDeviations(d, 0, nil)
}

// initDeviations returns an initializer that draws from N(0, d_i^2) along the last axis. From parameter output on,
// numbers are multiplied by scale, [runs]. A nil d means all ones, and a nil scale means 1.
func initDeviations(d []float64, output int, scale *Node) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		return widened(s.Normal(dims...), d, output, scale, len(dims))
	}
}

// widened multiplies v, [runs, ...], by d along an axis. From parameter output on, it also multiplies by scale, [runs].
func widened(v *Node, d []float64, output int, scale *Node, axis int) *Node {
	along := func(x *Node) *Node { // x is [runs or 1, parameters or 1]
		dims := slices.Repeat([]int{1}, v.Rank())
		dims[0], dims[axis] = x.Shape().Dim(0), x.Shape().Dim(1)
		return Reshape(x, dims...)
	}
	if d != nil {
		v = Mul(v, along(InsertAxes(Const(v.Graph(), float32s(d)), 0)))
	}
	if scale == nil {
		return v
	}
	factor := InsertAxes(scale, -1)
	if output > 0 {
		runs, n := scale.Shape().Dim(0), v.Shape().Dim(axis)
		factor = BroadcastToDims(factor, runs, n-output)
		factor = Concatenate([]*Node{BroadcastToDims(OnesLike(InsertAxes(scale, -1)), runs, output), factor}, 1)
	}
	return Mul(v, along(factor))
}

// orOnes returns scale, [runs], or ones if scale is nil.
func orOnes(s rng.Stream, scale *Node) *Node {
	if scale != nil {
		return scale
	}
	return Ones(s.Graph(), shapes.Make(dtypes.Float32, s.Runs()))
}

func float32s(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
