// Package explore maps sampled predictions to decisions (section 3): from the values [runs, indices, actions] that
// functions drawn from the hypermodel give to the actions, a policy makes action probabilities and draws an action.
package explore

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Policy is an exploration scheme. Implementations are stateless and safe for concurrent use.
type Policy interface {
	// Samples is the number of functions to draw from the hypermodel for each decision.
	Samples() int
	// Decide returns the probabilities of the actions, [runs, actions], and the actions taken, int32 [runs], from the
	// values of the sampled functions, [runs, Samples, actions].
	Decide(values *Node, now Moment) (probabilities, action *Node)
}

// Moment is when a decision is taken, and with what: what a policy may use beside the values.
type Moment struct {
	Stream rng.Stream // of random numbers, for this decision alone
	Period *Node      // decisions taken before, an int32 scalar
	Anneal *Node      // c of annealed policies, [runs]; nil where a policy does not anneal
	// Actions is how many actions there are, an int32 scalar: the values after those are padding, which repeats the
	// values of the first action. nil is all. A [Padder] alone is given it.
	Actions *Node
}

// Names lists the policies that [Named] knows.
var Names = []string{"thompson", "ids", "greedy", "egreedy", "ucb", "top-two"}

// Named returns the policy of that name, which draws n functions for each decision; n = 0 is the policy's own number.
func Named(name string, n int) (Policy, error) {
	switch name {
	case "thompson":
		return Thompson{N: n}, nil
	case "ids":
		return IDS{N: n}, nil
	case "greedy":
		return Greedy{N: n}, nil
	case "egreedy":
		return EpsilonGreedy{N: n}, nil
	case "ucb":
		return UCB{N: n}, nil
	case "top-two":
		return TopTwo{N: n}, nil
	}
	return nil, fmt.Errorf("unknown policy %q%s; choose %s", name, nearest.Hint(name, Names), strings.Join(Names, ", "))
}
