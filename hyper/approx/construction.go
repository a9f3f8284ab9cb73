package approx

import "context"

// Construction builds ReLU networks H~ that are close to a transport map. The maps to one Gaussian and to finitely many
// functions have constructions of their own, which are exact but for narrow ramps. [Trained] approximates every map.
type Construction interface {
	// Name is the name in a [Certificate].
	Name() string
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

// natural returns the default construction of a transport map: its own if it has one, else Trained.
func natural(h Map) Construction {
	if c, ok := h.(Construction); ok {
		return c
	}
	return Trained{}
}
