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

// policyPrefix is the prefix of the names of the policy's numbers.
const policyPrefix = "Policy."

// Numbers returns the learner's numbers that do not shape the computation, and may therefore differ between the runs of
// a batch. Their names are the names of the fields, with the prefix "Policy." for the policy's numbers. The learner
// must have its defaults.
func (l Learner) Numbers() map[string]float64 {
	out := hyper.NumbersOf(l)
	out["InitVariance"], out["Perturbation"] = max(l.InitVariance, 0), max(l.Perturbation, 0)
	if l.Clip > 0 { // without a bound, the program does not compute the norm
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

// rates returns the numbers of the learner in the form that the trainer needs.
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

// visited returns alpha divided by StepSize. A gradient is a mean over particles. Adam and others that divide by the
// size of gradients move a particle by their step size, whatever the number of particles. visited is 1 for all
// optimizers without LinearInGradients.
func (l Learner) visited() float64 {
	particles, finite := l.Belief.Index().(index.Enumerable)
	if !finite || !l.Train.LinearSteps() {
		return 1
	}
	if l.Train.Integrate <= train.Sampled {
		return float64(l.Train.Indices)
	}
	return float64(particles.Dim())
}

// norm2 is the name of the node in the state that bounds steps: the largest squared norm of the data's features so far,
// float64 [runs].
const norm2 = "norm2"

func double(runs int) shapes.Shape { return shapes.Make(dtypes.Float64, runs) }

// stepLimit returns the limit of StepSize for features with the given squared norm.
func (l Learner) stepLimit(norm2 float64) float64 {
	return l.Train.StepLimit(l.Belief, l.NoiseVariance, l.PriorVariance, l.MapStep, norm2) / l.visited()
}

// arms reports whether inputs are arms.
func (l Learner) arms() bool {
	c := hyper.CapabilitiesOf(l.Belief)
	return c.Linear != nil && c.Linear.Diagonal()
}

// armsLimit returns the limit of StepSize that follows from the configuration, or +Inf. The belief must be valid.
func (l Learner) armsLimit() float64 {
	if l.FreeSteps || !l.arms() {
		return math.Inf(1)
	}
	return l.stepLimit(1)
}

// boundsStep reports whether the data bound the step.
func (l Learner) boundsStep() bool {
	return !l.FreeSteps && !l.arms() && !math.IsInf(l.stepLimit(1), 1)
}

// largerNorm2 returns norm2 after a datum. x and actions are as in Observe.
func (l Learner) largerNorm2(before, x, actions *Node) *Node {
	phi := l.trainer().Features(x, actions)
	return Max(before, ReduceSum(Square(ConvertDType(phi, dtypes.Float64)), 1))
}

// boundedStep returns the step size for the data so far.
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
