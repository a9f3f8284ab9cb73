package hyper

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// UnitBase is a base model that knows how wide a distribution of its parameters makes its predictions: a network, whose
// layers multiply. A model starts from it where it is not told otherwise. Other base models are taken to be as wide as
// their parameters.
type UnitBase interface {
	BaseModel
	// Deviations returns standard deviations of the parameters, of mean 0, under which predictions have standard
	// deviation 1 over standardised inputs. shared is the dimension of a Gaussian index that all parameters share, or
	// 0.
	Deviations(shared int) []float64
	// Output is where the parameters begin that predictions are linear in: to multiply these by sigma_p is to multiply
	// predictions by it.
	Output() int
}

// starter is a hypermodel that starts as the model it is part of needs, where its own fields do not say how.
type starter interface {
	// startIn returns the hypermodel with every initializer given.
	startIn(m Model, scale *Node) Hypermodel
}

// initNu draws nu_0 of the model's hypermodel.
func (m Model) initNu(s rng.Stream, scale *Node) []*Node {
	if h, ok := m.Hyper.(starter); ok {
		return h.startIn(m, scale).Init(s)
	}
	return m.Hyper.Init(s)
}

// UnitVariance is the sigma_p^2 under which predictions of a default prior have variance 1 over standardised inputs:
// 1/Features for a linear base model, whose parameters all have variance sigma_p^2 as the loss has it, and else 1. It
// is 1 also where the prior's StdDev or InitB is given.
func (m Model) UnitVariance() float64 {
	b, ok := m.Base.(interface{ UnitVariance() float64 })
	if !ok || !m.linearInTheta() || m.Prior != nil && (m.Prior.StdDev != nil || m.Prior.InitB != nil) {
		return 1
	}
	return b.UnitVariance()
}

// prior is the additive prior with its defaults.
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

// deviations are those of the parameters of a base model whose predictions are to have standard deviation sigma_p,
// before they are multiplied by sigma_p from parameter output on; nil is all ones.
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

// normalise makes up for distributions of rows and index that together give the parameters of D B z another variance
// than D's.
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

// centre draws theta where it begins without a prior of its own: 0, but for the hidden units of a network, which must
// not be all alike. The network's output layer is 0, so that it predicts 0, and an additive prior is all that is seen
// before data.
func (m Model) centre() Initializer {
	u, ok := m.Base.(UnitBase)
	if !ok || m.Prior == nil || m.Prior.Base == nil || u.Output() == 0 {
		return InitZeros
	}
	d := u.Deviations(0)
	clear(d[u.Output():])
	return initDeviations(d, 0, nil)
}

// initDeviations draws from N(0, d_i^2) along the last axis; from parameter output on, multiplied by scale, [runs]. nil
// d is all ones, and nil scale is 1.
func initDeviations(d []float64, output int, scale *Node) Initializer {
	return func(s rng.Stream, _, _ int, dims ...int) *Node {
		return widened(s.Normal(dims...), d, output, scale, len(dims))
	}
}

// widened multiplies v, [runs, ...], along an axis by d and then, from parameter output on, by scale, [runs].
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

func float32s(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
