package paper

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/hypermodels/hypermodels/hyper/bandit"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// independentGaussian computes the exact posterior of K independent arms under the prior N(0, sigma_p^2) and Gaussian
// noise: arm k with n_k rewards of sum s_k has precision 1/sigma_p^2 + n_k/sigma_w^2 and mean
// (s_k/sigma_w^2)/precision.
type independentGaussian struct{ arms int }

// init returns the state before any data: the counts and the sums of rewards, [runs, K].
func (b independentGaussian) init(g *Graph, runs int) bandit.State {
	zero := Zeros(g, shapes.Make(dtypes.Float32, runs, b.arms))
	return bandit.State{"count": zero, "sum": zero}
}

// observe adds a reward y [runs] of arm x (int32 [runs]).
func (b independentGaussian) observe(state bandit.State, x, y *Node) bandit.State {
	at := OneHot(x, b.arms, dtypes.Float32)
	return bandit.State{"count": Add(state["count"], at), "sum": Add(state["sum"], Mul(at, InsertAxes(y, -1)))}
}

// posterior returns the mean and standard deviation of each arm, [runs, K].
func (b independentGaussian) posterior(state bandit.State, priorVariance, noiseVariance *Node) (mean, sd *Node) {
	noise := InsertAxes(noiseVariance, -1)
	precision := Add(InsertAxes(Reciprocal(priorVariance), -1), Div(state["count"], noise))
	return Div(Div(state["sum"], noise), precision), Rsqrt(precision)
}
