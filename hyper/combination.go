package hyper

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Combination is the linear combinations of networks by the numbers of an index, f(x, z) = sigma_p sum_i z_i f_i(x).
// The Neural Testbed uses it as the prior of an epinet (Osband et al. 2022). As the Prior of a [WithPrior] it is a
// prior for any belief. If E z z^T = s I, the second moment at x is s sigma_p^2 sum_i f_i(x)^2. With one-hot indices
// Combination is an ensemble; a [Prior] with an InitB is the same ensemble, in less work. nu is the networks,
// [runs, N_z, N_theta].
type Combination struct {
	Net    base.MLP           // the shape of each network
	P      index.Distribution // p_z
	InitNu Initializer        // draws the networks; nil is InitTruncatedLayers(Net, 0)
}

var _ Belief = Combination{}

// Validate reports invalid networks and an invalid p_z.
func (b Combination) Validate() error {
	err := errors.Join(faults.Prefix("Net: ", b.Net.Validate()), validateIndex(b.P))
	if err == nil && b.Net.NumOutputs() != 1 {
		err = fmt.Errorf("Net must predict one number, but its last layer has %d", b.Net.NumOutputs())
	}
	return faults.Prefix("hyper.Combination: ", err)
}

func (b Combination) Index() index.Distribution { return b.P }
func (b Combination) Inputs() int               { return b.Net.Inputs() }

// Init draws the networks. It stores scale, which multiplies predictions.
func (b Combination) Init(s rng.Stream, scale *Node) Params {
	init, n := b.InitNu, NumTheta(b.Net)
	if init == nil {
		init = InitTruncatedLayers(b.Net, 0)
	}
	scale = orOnes(s, scale)
	nu := []*Node{init(s.Named("nu"), 1, n, b.P.Dim(), n)}
	return Params{Nu: nu, Fixed: map[string]*Node{"scale": scale}}
}

// Predict returns f(x, z), [runs, indices, inputs].
func (b Combination) Predict(p Params, z index.Set, x *Node) *Node {
	f := Einsum("rdb,rnd->rnb", b.Net.Apply(p.Nu[0], x), z.Dense())
	return Mul(f, InsertAxes(p.Fixed["scale"], -1, -1))
}
