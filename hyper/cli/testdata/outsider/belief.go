package main

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Tilted is a belief outside of the library: f_z(x) = (w + V tanh(z))^T x, with trained w and V and a fixed prior P
// tanh(z). It has no capabilities: training differentiates it automatically.
type Tilted struct {
	Features int
	Dim      int `help:"dimension of the index"`
}

var _ hyper.Sized = Tilted{}

// ForInputs returns the belief for inputs of any number of features.
func (b Tilted) ForInputs(features int) hyper.Belief { return Tilted{features, b.Dim} }

func (b Tilted) Index() index.Distribution { return index.Gaussian{N: b.Dim} }

// Inputs returns the number of features. A world of arms then gives them as one-hot vectors.
func (b Tilted) Inputs() int { return b.Features }

func (b Tilted) Init(s rng.Stream, scale *Node) hyper.Params {
	w := Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), b.Features))
	v := Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), b.Features, b.Dim))
	prior := s.Named("prior").Normal(b.Features, b.Dim)
	if scale != nil {
		prior = Mul(prior, InsertAxes(scale, -1, -1))
	}
	nu := []*Node{w, v}
	return hyper.Params{Nu: nu, Fixed: map[string]*Node{"prior": prior}}
}

func (b Tilted) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	tilt := Einsum("rfd,rnd->rnf", Add(p.Nu[1], p.Fixed["prior"]), Tanh(z.Dense()))
	return Einsum("rnf,rbf->rnb", Add(InsertAxes(p.Nu[0], 1), tilt), x)
}
