package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Linear is the linear hypermodel g_nu(z) = mu + C z (section 2.3; the paper's a + B z), with C constrained by a
// [Layout]: dense, diagonal, a block per layer, or a block per arm. nu is (mu [runs, N_theta], C [runs, N_theta, Width]).
type Linear struct {
	Layout
	P     index.Distribution // p_z; its dimension is the layout's IndexDim
	InitC Initializer        // of C; nil is InitGlorotUniform
	InitM Initializer        // of mu; nil is InitZeros
}

var _ Hypermodel = Linear{}

// Index is the reference distribution p_z.
func (h Linear) Index() index.Distribution { return h.P }

// NumTheta is the number of rows of C.
func (h Linear) NumTheta() int { return h.Rows() }

// NumInvolved counts mu and the entries of C.
func (h Linear) NumInvolved() int { return h.Rows() * (h.Width + 1) }

// Init draws mu and C.
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
