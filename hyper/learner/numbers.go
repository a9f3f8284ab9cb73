package learner

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// policyPrefix begins the names of the policy's numbers.
const policyPrefix = "Policy."

// Numbers are the learner's numbers that do not shape the computation, by the names of their fields, those of the
// policy after "Policy.": what the runs of one batch may differ in. The learner must have its defaults.
func (l Learner) Numbers() map[string]float64 {
	out := hyper.NumbersOf(l)
	out["InitVariance"], out["Perturbation"] = max(l.InitVariance, 0), max(l.Perturbation, 0)
	if l.Clip > 0 { // without a bound the norm need not be known
		out["Clip"] = l.Clip
	}
	if l.Train.Regularize == train.KL {
		out["KL"] = max(l.KL, 0)
	}
	for name, x := range hyper.NumbersOf(l.Policy) {
		out[policyPrefix+name] = x
	}
	return out
}

// rates are the trainer's.
func (l Learner) rates(n hyper.Numbers, s rng.Stream) train.Rates {
	r := train.Rates{
		Step:     MulScalar(n.Of(s, "StepSize", l.StepSize), l.visited()),
		NoiseVar: n.Of(s, "NoiseVariance", l.NoiseVariance),
		PriorVar: n.Of(s, "PriorVariance", l.PriorVariance),
		MapStep:  n.Of(s, "MapStep", l.MapStep),
	}
	r.Perturbation = Mul(n.Of(s, "Perturbation", max(l.Perturbation, 0)), Sqrt(r.NoiseVar))
	if l.Clip > 0 {
		r.Clip = n.Of(s, "Clip", l.Clip)
	}
	if l.Train.Regularize == train.KL {
		r.KL = n.Of(s, "KL", max(l.KL, 0))
	}
	return r
}

// visited is alpha over the StepSize. The gradient is a mean over particles; an optimizer that divides by the
// gradient's size moves a particle by its step whatever their number.
func (l Learner) visited() float64 {
	particles, finite := l.Belief.Index().(index.Enumerable)
	if !finite || !train.IsLinear(l.Train.Optimizer) {
		return 1
	}
	if l.Train.Integrate <= train.Sampled {
		return float64(l.Train.Indices)
	}
	return float64(particles.Dim())
}

// norm2 is the part of the state that bounds steps: the largest squared norm of the data's features so far, float64
// [runs].
const norm2 = "norm2"

func double(runs int) shapes.Shape { return shapes.Make(dtypes.Float64, runs) }

// stepLimit is the limit of the StepSize for features of a squared norm.
func (l Learner) stepLimit(norm2 float64) float64 {
	return l.Train.StepLimit(l.Belief, l.NoiseVariance, l.PriorVariance, l.MapStep, norm2) / l.visited()
}

// arms tells whether inputs are arms.
func (l Learner) arms() bool {
	c := hyper.CapabilitiesOf(l.Belief)
	return c.Linear != nil && c.Linear.Diagonal()
}

// armsLimit is the limit that follows from the configuration, or +Inf. The belief must be valid.
func (l Learner) armsLimit() float64 {
	if l.FreeSteps || !l.arms() {
		return math.Inf(1)
	}
	return l.stepLimit(1)
}

// boundsStep tells whether the data bound the step.
func (l Learner) boundsStep() bool {
	return !l.FreeSteps && !l.arms() && !math.IsInf(l.stepLimit(1), 1)
}

// largerNorm2 is norm2 after a datum; x and actions are as in Observe.
func (l Learner) largerNorm2(before, x, actions *Node) *Node {
	phi := train.Features(hyper.CapabilitiesOf(l.Belief).Linear, x, actions)
	return Max(before, ReduceSum(Square(ConvertDType(phi, dtypes.Float64)), 1))
}

// boundedStep is the step for the data so far.
func (l Learner) boundedStep(state train.State, r train.Rates) *Node {
	if !l.boundsStep() {
		return r.Step
	}
	free := l
	free.NoiseVariance, free.PriorVariance = 1, math.Inf(1)
	most := 0.9 * free.stepLimit(1) * l.visited() // for a curvature of 1
	wide := func(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }
	curvature := Add(Div(state[norm2], wide(r.NoiseVar)), Reciprocal(wide(r.PriorVar)))
	return Min(r.Step, ConvertDType(MulScalar(Reciprocal(curvature), most), r.Step.DType()))
}
