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

// The distributions of the paper: N(0, I), for one-hot indices, and uniform on the unit sphere, for Gaussian ones.
// Either way a parameter of the prior has variance 1, before D scales it.
const (
	RowsGaussian RowLaw = iota + 1
	RowsSphere
)

func (r RowLaw) String() string { return enum.Word(r, "gaussian", "sphere") }

// Prior is the additive prior f~_{DBz} of section 2.5: a base model whose parameters D B z are fixed at initialisation
// and never trained. The rows of B have the given distribution within the layout; D is diagonal. Without a Base the
// prior adds to the parameters instead of the predictions, f_{DBz + g_nu(z)}, the single network of appendix D.
type Prior struct {
	Base   BaseModel // nil: the prior is in the parameters of the Model's Base
	Layout Layout
	Rows   RowLaw // 0 gives each parameter variance 1: RowsSphere for Gaussian indices, else RowsGaussian
	// StdDev is the diagonal of D, one for each parameter; Model.Init multiplies it by sigma_p. nil makes D B z as wide
	// as sigma_p: each parameter of a base model that is linear in theta has standard deviation sigma_p, which is the
	// prior of the loss, so that predictions have sigma_p |phi(x)|; predictions of a network have standard deviation
	// sigma_p over standardised inputs, whatever its depth and width (its parameters are scaled by fan-in, see
	// [base.MLP.Deviations]).
	StdDev []float64
	// InitB draws the columns of B as the parameters of networks, [runs, Width, N_theta], in the place of Rows: with
	// one-hot indices each is the prior network of a particle, as InitTruncatedLayers draws it. A nil StdDev is then all
	// ones.
	InitB Initializer
	// Output is the parameter from which on sigma_p multiplies D, where StdDev or InitB is given: 0 is all of D. From
	// the first parameter of a network's output layer on ([base.MLP.Output]) sigma_p multiplies the prior's predictions.
	Output int
}

// Init draws the entries of D B within the layout, [runs, N_theta, Width]. scale multiplies D, one number for each run
// ([runs]), or is nil for 1. It knows no model: a nil StdDev is all ones here, and no Rows are RowsSphere.
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

// shares tells whether the prior is the same function of its parameters as b.
func (p Prior) shares(b BaseModel) bool { return p.Base == nil || reflect.DeepEqual(p.Base, b) }
