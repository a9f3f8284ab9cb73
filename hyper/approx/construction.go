package approx

import (
	"context"
	"fmt"
)

// Construction makes ReLU networks H~ close to a transport map.
type Construction interface {
	// Name is the construction's key in Constructions.
	Name() string
	// Suits returns why the construction cannot be used for a transport map from R^k, or nil.
	Suits(h Map, k int) error
	// Build returns a network from R^K to R^K. Each level, from 0, is finer than the one before: more knots, steeper,
	// or a wider network that is trained longer.
	Build(ctx context.Context, t Task, level int) (Network, error)
}

// Task is what a Construction is given.
type Task struct {
	Map            Map
	Reference      Reference
	K              int
	Bound          float64 // B, of the values of H
	Epsilon, Delta float64 // wanted: |H~(z) - H(z)| <= Epsilon in the sup norm, with probability at least 1 - Delta
	Reach          float64 // for Gaussian z, the network is used on [-Reach, Reach]^K
	Seed           uint64
	Backend        string // for training; as for backend.Open
}

// domain is the interval of each component of z that the network is used on.
func (t Task) domain() (low, high float64) {
	if t.Reference == Uniform {
		return 0, 1
	}
	return -t.Reach, t.Reach
}

// Constructions are the known ones.
var Constructions = map[string]Construction{
	"coordinatewise": Coordinatewise{},
	"steps":          Steps{},
	"max-affine":     MaxAffine{},
	"kuhn":           Kuhn{},
	"trained":        Trained{},
}

// natural is the construction that a transport map gets unless another is asked for: the first exact one that suits.
func natural(h Map, k int) Construction {
	for _, c := range []Construction{Coordinatewise{}, Steps{}, MaxAffine{}} {
		if c.Suits(h, k) == nil {
			return c
		}
	}
	return Trained{}
}

// unsuited is the error of a construction that is for other maps.
func unsuited(c Construction, what string, h Map) error {
	return fmt.Errorf("construction %s is for %s, not for %T; use trained", c.Name(), what, h)
}
