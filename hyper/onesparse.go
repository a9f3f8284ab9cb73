package hyper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OneSparse is the hypermodel of section 5, g_nu(z)_m = softmax_m(Beta nu_m (z_m^2 + Alpha)) with z ~ N(0, I). For a
// large Beta its functions are nearly one-hot. If all nu_m are equal, all components are equally likely. To lower nu_m
// is to rule out component m. nu is one node, [runs, N], and starts as ones.
type OneSparse struct {
	N     int     // N_theta, which is also the dimension of the index
	Alpha float64 // 0.01 in the paper
	Beta  float64 // 10 in the paper
}

var _ Hypermodel = OneSparse{}

func (h OneSparse) Validate() error {
	return faults.Prefix("hyper.OneSparse: ", errors.Join(faults.AtLeast("N", h.N, 1),
		faults.NotNegative("Alpha", h.Alpha), faults.Positive("Beta", h.Beta)))
}

func (h OneSparse) Index() index.Distribution { return index.Gaussian{N: h.N} }
func (h OneSparse) NumTheta() int             { return h.N }
func (h OneSparse) NumInvolved() int          { return h.N }

// Init sets every number to 1.
func (h OneSparse) Init(s rng.Stream) []*Node { return []*Node{AddScalar(zeros(s, []int{h.N}), 1)} }

// Theta returns the softmax, [runs, n, N].
func (h OneSparse) Theta(nu []*Node, z index.Set) *Node {
	return Softmax(Mul(InsertAxes(MulScalar(nu[0], h.Beta), 1), AddScalar(Square(z.Dense()), h.Alpha)), -1)
}
