package base

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// Tabular has one parameter for each of K arms: f_theta(x) = theta_x (section 4.1). Its inputs are arms, int32 [runs,
// inputs, 1] with values 0..K-1. nil inputs mean all K arms in order.
type Tabular struct{ Arms int }

func (b Tabular) Validate() error {
	if err := faults.AtLeast("base.Tabular: Arms", b.Arms, 1); err != nil {
		return err
	}
	return faults.Size("base.Tabular: Arms", b.Arms)
}

func (b Tabular) Inputs() int { return 0 }

// Groups returns one group of K parameters.
func (b Tabular) Groups() []int { return []int{b.Arms} }

// Apply returns theta at the arms x: [runs, indices, inputs].
func (b Tabular) Apply(theta, x *Node) *Node {
	if x == nil {
		return theta
	}
	return Einsum("rnk,rbk->rnb", theta, b.oneHot(x))
}

func (b Tabular) Diagonal() bool { return true }

// NoData returns the Gram matrix of an empty data set.
func (b Tabular) NoData(g *Graph, runs int) *Node {
	return Zeros(g, shapes.Make(dtypes.Float32, runs, b.Arms))
}

// Gram returns the number of data at each arm, [runs, K]: the diagonal of Phi^T Phi.
func (b Tabular) Gram(x *Node) *Node {
	return Squeeze(b.Project(x, Ones(x.Graph(), shapes.Make(dtypes.Float32, x.Shape().Dim(0), x.Shape().Dim(1), 1))), 2)
}

// Project returns Phi^T v, the sums of v [runs, inputs, columns] at each arm: [runs, K, columns].
func (b Tabular) Project(x, v *Node) *Node { return row.Sum(v, Squeeze(x, 2), b.Arms) }

// GramMul returns (Phi^T Phi) v for v [runs, K, columns].
func (b Tabular) GramMul(gram, v *Node) *Node { return Mul(InsertAxes(gram, -1), v) }
func (b Tabular) oneHot(x *Node) *Node        { return OneHot(Squeeze(x, 2), b.Arms, dtypes.Float32) }
