package train

import . "github.com/gomlx/gomlx/core/graph"

// Rates holds the numbers of section 2.1 that do not shape the computation, float32 [runs] each. Runs of one batch may
// have different rates.
type Rates struct {
	Step         *Node // alpha
	NoiseVar     *Node // sigma_w^2: the loss divides the data's part by it
	PriorVar     *Node // sigma_p^2 of the regularizer
	Perturbation *Node // the standard deviation of the perturbations a^T z: sigma_w in the paper; 0 is none

	// MapStep multiplies the step size of C, the part of a linear hypermodel that multiplies the index. The step size
	// of mu does not change. nil is 1.
	MapStep *Node
	// Clip bounds the norm of the gradient of L~ / |D| over all parameters of a run. A longer gradient is scaled down
	// to the bound. nil or 0 is no bound.
	Clip *Node
	// KL is the strength of the regularizer KL. nil is 1.
	KL *Node
	// Weight is the weight of the datum that Observe adds, [runs], if the Config is Weighted. A datum of weight w
	// counts as w data with the same response. nil is 1.
	Weight *Node
	// Data is |D|, an int32 scalar, if the replay buffer holds a uniform sample of the data. Minibatches are drawn from
	// the sample and stand for all data. nil is the number of data in the buffer.
	Data *Node
}

// Batch holds data points of each run.
type Batch struct {
	X *Node // inputs [runs, inputs, features]
	Y *Node // responses [runs, inputs]
	A *Node // perturbation vectors [runs, inputs, width]
	W *Node // weights [runs, inputs]; nil is 1
}
