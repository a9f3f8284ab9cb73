package train

import (
	"errors"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Cosine shortens steps along half a wave of the cosine (Loshchilov and Hutter 2017), and then keeps their size.
type Cosine struct {
	Periods float64 `help:"the number of data after which steps are no longer shortened"`
	Final   float64 `help:"size of the last steps, as a share of the first step's size"`
}

// Factor returns Final + (1 - Final) (1 + cos(pi min(|D| / Periods, 1))) / 2.
func (s Cosine) Factor(data *Node) *Node {
	wave := Cos(MulScalar(MinScalar(DivScalar(data, s.Periods), 1), math.Pi))
	return AddScalar(MulScalar(OnePlus(wave), (1-s.Final)/2), s.Final)
}

// Validate reports numbers out of range.
func (s Cosine) Validate() error {
	err := faults.NotNegative("Final", s.Final)
	if err == nil && s.Final > 1 {
		err = faults.New("Final", "must be at most 1, because a schedule only shortens steps, got %v", s.Final)
	}
	return errors.Join(faults.Positive("Periods", s.Periods), err)
}
