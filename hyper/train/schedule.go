package train

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Schedule makes steps shorter as data come in. Implementations are comparable values.
type Schedule interface {
	// Factor returns the factor of a step size for |D| data, at most 1. data is |D|, a float32 scalar or [runs].
	Factor(data *Node) *Node
}

// Constant keeps the step size.
type Constant struct{}

// Factor returns 1.
func (Constant) Factor(data *Node) *Node { return OnesLike(data) }

// InverseRoot shortens steps like 1/sqrt(|D|).
type InverseRoot struct {
	After float64 `help:"the number of data after which steps are 1/sqrt(2) as long; 0 is 100"`
}

// Factor returns 1 / sqrt(1 + |D| / After).
func (s InverseRoot) Factor(data *Node) *Node {
	return Rsqrt(OnePlus(DivScalar(data, cmp.Or(s.After, 100))))
}

// Validate reports an After that is negative or not finite.
func (s InverseRoot) Validate() error { return faults.NotNegative("After", s.After) }
