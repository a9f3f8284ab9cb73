package hyper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Linear is the linear hypermodel g_nu(z) = mu + C z (section 2.3, where the paper writes a + B z). A [Layout]
// constrains C: dense, diagonal, one block per layer, or one block per arm. nu is (mu [runs, N_theta], C
// [runs, N_theta, Width]).
type Linear struct {
	Layout
	P index.Distribution // p_z; its dimension is the layout's IndexDim
	// InitC draws C. nil means the default of [Model.Init]: 0 with an additive prior, and a prior's D B without one.
	InitC Initializer
	// InitM draws mu. nil means the default of [Model.Init]: 0, except for the hidden layers of a network with an
	// additive prior.
	InitM Initializer
}

var _ Hypermodel = Linear{}

// Validate reports an invalid layout and an invalid p_z.
func (h Linear) Validate() error {
	return faults.Prefix("hyper.Linear: ", errors.Join(h.Layout.Validate(), validateIndex(h.P)))
}

func (h Linear) Index() index.Distribution { return h.P }
func (h Linear) Structure() Layout         { return h.Layout }
func (h Linear) NumTheta() int             { return h.Rows() }
func (h Linear) NumInvolved() int          { return h.Rows() * (h.Width + 1) }

// startIn sets the nil initializers. Without an additive prior, C z starts as a prior D B z.
func (h Linear) startIn(m Model, scale *Node) Hypermodel {
	if h.InitM == nil {
		h.InitM = m.centre()
	}
	if h.InitC == nil && m.Prior != nil {
		h.InitC = InitZeros
	}
	if h.InitC == nil {
		m.Prior = &Prior{Layout: h.Layout}
		h.InitC = func(s rng.Stream, _, _ int, _ ...int) *Node { return m.prior().Init(s, scale) }
	}
	return h
}

// Init draws mu and C. It does not know the model: here a nil InitM means InitZeros, and a nil InitC means
// InitGlorotUniform.
func (h Linear) Init(s rng.Stream) []*Node {
	initC, initM := h.InitC, h.InitM
	if initC == nil {
		initC = InitGlorotUniform
	}
	if initM == nil {
		initM = InitZeros
	}
	rows, width := h.Rows(), h.Width
	return []*Node{initM(s.Named("mu"), 1, rows, rows), initC(s.Named("C"), width, rows, rows, width)}
}

// Theta returns mu + C z.
func (h Linear) Theta(nu []*Node, z index.Set) *Node {
	return Add(InsertAxes(nu[0], 1), h.Mul(nu[1], z.Dense()))
}
