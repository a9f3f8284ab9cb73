package hyper

import (
	"reflect"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// RowLaw is the distribution of the rows of the prior's matrix B.
type RowLaw int

// RowsGaussian is the paper's distribution for one-hot indices, N(0, I). RowsSphere is the paper's distribution for
// Gaussian indices, uniform on the unit sphere. In both cases a parameter of the prior has variance 1 before D scales
// it.
const (
	RowsGaussian RowLaw = iota + 1
	RowsSphere
)

func (r RowLaw) String() string { return enum.Word(r, "gaussian", "sphere") }

// Prior is the additive prior f~_{DBz} of section 2.5: a base model whose parameters D B z are fixed at initialisation
// and never trained. The rows of B have the distribution Rows within the layout; D is diagonal. Without a Base the
// prior is added to the parameters and not to the predictions, f_{DBz + g_nu(z)}: the single network of appendix D.
type Prior struct {
	Base   BaseModel // nil: the prior is added to the parameters of the Model's Base
	Layout Layout
	Rows   RowLaw // 0 gives each parameter variance 1: RowsSphere for Gaussian indices, otherwise RowsGaussian
	// StdDev is the diagonal of D, one number for each parameter; Model.Init multiplies StdDev by sigma_p. If StdDev is
	// nil, the standard deviations of D B z follow from sigma_p and the base model. For a base model that is linear in
	// theta, each parameter has standard deviation sigma_p, as in the prior of the loss, so that predictions have
	// standard deviation sigma_p |phi(x)|. For a network, predictions have standard deviation sigma_p over standardised
	// inputs, for every depth and width; the parameters are scaled by fan-in, see [base.MLP.Deviations].
	StdDev []float64
	// InitB draws the columns of B as the parameters of networks, [runs, Width, N_theta], and replaces Rows. With
	// one-hot indices each column is the prior network of a particle, for example as InitTruncatedLayers draws it. A
	// nil StdDev then means all ones.
	InitB Initializer
	// Output is the index of the first parameter whose entry of D is multiplied by sigma_p, if StdDev or InitB is
	// given. 0 multiplies all of D. If Output is the first parameter of a network's output layer ([base.MLP.Output]),
	// sigma_p multiplies the prior's predictions.
	Output int
}

// Init draws the entries of D B within the layout, [runs, N_theta, Width]. scale multiplies D; scale has one number for
// each run, [runs], and nil means 1. Init does not know the model: here a nil StdDev means all ones, and Rows 0 means
// RowsSphere.
func (p Prior) Init(s rng.Stream, scale *Node) *Node {
	return widened(p.drawB(s, p.Layout.Rows(), p.Layout.Width), p.StdDev, p.Output, scale, 1)
}

// drawB draws the entries of B, [runs, rows, width].
func (p Prior) drawB(s rng.Stream, rows, width int) *Node {
	switch {
	case p.InitB != nil:
		return Transpose(p.InitB(s, width, rows, width, rows), 1, 2)
	case p.Rows == RowsGaussian:
		return s.Normal(rows, width)
	}
	return s.Sphere(rows, width)
}

// Theta returns D B z, [runs, indices, N_theta]. No gradient flows into it.
func (p Prior) Theta(db *Node, z index.Set) *Node {
	if z.ID != nil && len(p.Layout.Sizes) == 1 {
		return StopGradient(takeRows(Transpose(db, 1, 2), z))
	}
	return StopGradient(p.Layout.Mul(db, z.Dense()))
}

// shares reports whether the prior and b are the same function of their parameters.
func (p Prior) shares(b BaseModel) bool { return p.Base == nil || reflect.DeepEqual(p.Base, b) }
