package agent

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Steps of SGD are stable up to a limit, see [train.Config.StepLimit], that for a base model linear in theta can be
// computed. For arms it follows from the configuration: a StepSize beyond it is an error. Elsewhere it depends on the
// largest squared norm of the data's features so far, "norm2" of the state, float64 [1]: the step made is the StepSize,
// or nine tenths of the limit where that is less. (The limit is that of data which are all alike; others may bear
// larger steps.)

// stepLimit is the limit for features of a squared norm.
func (c Config) stepLimit(norm2 float64) float64 {
	return c.Train.StepLimit(c.Model, c.NoiseVariance, c.PriorVariance, c.MapStep, norm2)
}

// armsLimit is the limit that follows from the configuration, or +Inf. Its model must be valid.
func (c Config) armsLimit() float64 {
	if c.Features > 0 {
		return math.Inf(1)
	}
	return c.stepLimit(1)
}

// defaultStep is 0.1, or half of armsLimit where that is less.
func (c Config) defaultStep() float64 {
	if c.Model.Validate() == nil {
		if best := c.armsLimit() / 2; best > 0 && best < 0.1 {
			return best
		}
	}
	return 0.1
}

// checkStep reports a StepSize beyond armsLimit.
func (c Config) checkStep() error {
	if limit := c.armsLimit(); limit > 0 && c.StepSize > limit {
		return fmt.Errorf("a StepSize of %v makes SGD diverge: with these variances and index samples steps are stable up to %.4g, "+
			"and best at half of it; or leave Train.Integrate empty, for train.Exact, which needs no step size", c.StepSize, limit)
	}
	return nil
}

// boundsStep tells whether the data bound the step.
func (c Config) boundsStep() bool { return c.Features > 0 && !math.IsInf(c.stepLimit(1), 1) }

// largerNorm2 is the state's norm2 after a datum x [1, features].
func (a *Agent) largerNorm2(state train.State, x *Node) *Node {
	phi := a.config.Model.Base.(hyper.LinearBase).Project(InsertAxes(x, 0), Const(x.Graph(), [][][]float32{{{1}}}))
	return Max(state["norm2"], ReduceSum(Square(ConvertDType(Squeeze(phi, 2), dtypes.Float64)), 1))
}

// boundedStep is the step for the data so far.
func (a *Agent) boundedStep(state train.State, step *Node) *Node {
	if !a.config.boundsStep() {
		return step
	}
	c := a.config
	c.NoiseVariance, c.PriorVariance = 1, math.Inf(1)
	most := 0.9 * c.stepLimit(1) // for a curvature of 1
	curvature := AddScalar(MulScalar(state["norm2"], 1/a.config.NoiseVariance), 1/a.config.PriorVariance)
	return Min(step, ConvertDType(MulScalar(Reciprocal(curvature), most), step.DType()))
}
