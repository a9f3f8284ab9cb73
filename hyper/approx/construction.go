package approx

import (
	"context"
	"fmt"
)

// Construction builds ReLU networks H~ that are close to a transport map.
type Construction interface {
	// Name is the construction's key in Constructions.
	Name() string
	// Suits returns nil if the construction can approximate the transport map from R^k, else an error with the reason.
	Suits(h Map, k int) error
	// Build returns a network from R^K to R^K. A higher level gives a finer network: with more knots, with steeper
	// ramps, or wider and trained longer. Levels begin at 0.
	Build(ctx context.Context, t Task, level int) (Network, error)
}

// Task holds the arguments of a Construction.
type Task struct {
	Map            Map
	Reference      Reference
	K              int
	Bound          float64 // B, the bound of the values of H
	Epsilon, Delta float64 // the goal: |H~(z) - H(z)| <= Epsilon in the sup norm, with probability at least 1 - Delta
	Reach          float64 // for Gaussian z, the network is used on [-Reach, Reach]^K
	Seed           uint64
	Backend        string // backend of training; as for backend.Open
}

// domain returns the interval in which each component of z lies.
func (t Task) domain() (low, high float64) {
	if t.Reference == Uniform {
		return 0, 1
	}
	return -t.Reach, t.Reach
}

// Constructions has the constructions by name.
var Constructions = map[string]Construction{
	"coordinatewise": Coordinatewise{},
	"steps":          Steps{},
	"max-affine":     MaxAffine{},
	"kuhn":           Kuhn{},
	"trained":        Trained{},
}

// natural returns the default construction of a transport map: the first exact construction that suits it, else
// Trained.
func natural(h Map, k int) Construction {
	for _, c := range []Construction{Coordinatewise{}, Steps{}, MaxAffine{}} {
		if c.Suits(h, k) == nil {
			return c
		}
	}
	return Trained{}
}

// unsuited returns the error of a construction that is for other maps.
func unsuited(c Construction, what string, h Map) error {
	return fmt.Errorf("construction %s supports %s, not %T; use trained", c.Name(), what, h)
}
