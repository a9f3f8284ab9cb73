package hyper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Linear is the linear hypermodel g_nu(z) = mu + C z (section 2.3; the paper's a + B z), with C constrained by a
// [Layout]: dense, diagonal, a block per layer, or a block per arm. nu is (mu [runs, N_theta], C [runs, N_theta,
// Width]).
type Linear struct {
	Layout
	P index.Distribution // p_z; its dimension is the layout's IndexDim
	// InitC draws C; nil is as [Model.Init] says: 0 with an additive prior, and else a prior of its own.
	InitC Initializer
	// InitM draws mu; nil is as [Model.Init] says: 0, but for the hidden layers of a network that has an additive prior
	// beside it.
	InitM Initializer
}

var _ Hypermodel = Linear{}

// Validate reports what is wrong with the layout or p_z.
func (h Linear) Validate() error {
	return faults.Prefix("hyper.Linear: ", errors.Join(h.Layout.Validate(), validateIndex(h.P)))
}

func (h Linear) Index() index.Distribution { return h.P }
func (h Linear) Structure() Layout         { return h.Layout }
func (h Linear) NumTheta() int             { return h.Rows() }
func (h Linear) NumInvolved() int          { return h.Rows() * (h.Width + 1) }

// startIn makes C z with nothing beside it a prior D B z.
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

// Init draws mu and C. It knows no model: a nil InitM is InitZeros here, and a nil InitC InitGlorotUniform.
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
