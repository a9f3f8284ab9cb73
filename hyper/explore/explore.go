// Package explore maps sampled predictions to decisions (section 3): from the values [runs, indices, actions] that
// functions drawn from the hypermodel give to the actions, a policy makes action probabilities and draws an action.
package explore

import . "github.com/gomlx/gomlx/core/graph"

// Policy is an exploration scheme. Implementations are stateless and safe for concurrent use.
type Policy interface {
	// Samples is the number of functions to draw from the hypermodel for each decision.
	Samples() int
	// Decide returns the probabilities of the actions, [runs, actions], and the actions taken, int32 [runs], from the
	// values of the sampled functions, [runs, Samples, actions].
	Decide(values *Node) (probabilities, action *Node)
}
