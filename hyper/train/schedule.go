package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Schedule makes steps shorter as data come in. Implementations are comparable values.
type Schedule interface {
	// Factor is what multiplies a step size with so many data, |D|, a float32 scalar or [runs]: at most 1.
	Factor(data *Node) *Node
}

// Constant leaves steps as they are.
type Constant struct{}

// Factor is 1.
func (Constant) Factor(data *Node) *Node { return OnesLike(data) }

// InverseRoot shortens steps like 1/sqrt(|D|), the most that stochastic approximation needs.
type InverseRoot struct {
	After float64 `help:"the number of data after which steps are 1/sqrt(2) as long; 0 is 100"`
}

// Factor is 1 / sqrt(1 + |D| / After).
func (s InverseRoot) Factor(data *Node) *Node {
	after := s.After
	if after == 0 {
		after = 100
	}
	return Rsqrt(OnePlus(DivScalar(data, after)))
}

// Validate reports a number that is negative or not finite.
func (s InverseRoot) Validate() error { return faults.NotNegative("After", s.After) }
