// Package learners has the settings of learners, for any world: what `hyper run EXPERIMENT --agent NAME` runs, and what
// a tuned setting hands over to package agent.
//
// Each kind is a struct whose fields are keys, see lab.Key; it has a belief, and shares the parts in this file. A part
// checks its own numbers, and sets those of the learner. The tag `want` of a number says what it must be: "positive",
// "not negative" or "at least 1".
package learners

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Descent is the part of settings that says how steps of training are made. StepSize is the step of theta; of an
// ensemble trained by sgd it is that of a particle each time it is visited, alpha over the particles that an SGD step
// visits. The IndexSet frame has exact first and second moments. Integrate is a [train.Integration]: sampled, or with
// the expectation over z in closed form; full-data takes all data by sufficient statistics, and exact is the minimiser
// itself, without SGD steps.
type Descent struct {
	StepSize float64 `run:"true" want:"positive" help:"constant step size of theta; of a particle, each visit's"`
	Steps    int     `key:"sgd-steps" help:"SGD steps per period"`
	Batch    int     `help:"data points per SGD step, drawn with replacement"`
	Indices  int     `key:"index-samples" help:"indices z sampled per SGD step"`

	IndexSet  string          `help:"iid (the paper's), antithetic (z and -z), frame (the same, orthogonal) or per-datum"`
	Integrate string          `help:"over z: sampled (the paper's), analytic, full-data (analytic) or exact (no SGD)"`
	Optimizer train.Optimizer `help:"sgd is the paper's; adam, adamax and rmsprop are GoMLX's"`
	Schedule  train.Schedule  `help:"how step sizes fall with the number of data"`

	MapStep float64 `run:"true" want:"positive" help:"step size of what sees the index, as a multiple of step-size"`
	Clip    float64 `run:"positive" want:"not negative" help:"bound on the norm of a gradient over |D|; 0 is none"`

	Loss    train.Loss `help:"what a prediction costs: gaussian is the paper's, for rewards with Gaussian noise"`
	Weights string     `help:"of a datum for an index: none (the paper's), or the bootstrap's bernoulli or exponential"`
}

// NewDescent has the paper's way to train.
func NewDescent() Descent {
	return Descent{
		Steps: 1, IndexSet: train.IID.String(), Integrate: train.Sampled.String(), Optimizer: train.SGD{},
		Schedule: train.Constant{}, MapStep: 1, Loss: train.Gaussian{}, Weights: unweighted,
	}
}

// networkDescent is what searches found for networks (notebooks/results/tuning), where the paper does not print its
// settings. Their budgets were not equal; those of package paper's settings with 1000 actions are.
func networkDescent() Descent {
	c := NewDescent()
	c.Steps, c.Batch, c.Indices, c.Optimizer = 4, 64, 16, train.Adam{}
	return c
}

// unweighted is the key's word for no weights.
const unweighted = "none"

func (c Descent) check() error {
	integrate := lab.OfWord[train.Integration](c.Integrate)
	weights := error(nil)
	if c.Weights != unweighted {
		weights = lab.CheckWord[train.Weights]("weights", c.Weights)
	}
	errs := []error{lab.CheckWord[train.IndexSet]("index-set", c.IndexSet),
		lab.CheckWord[train.Integration]("integrate", c.Integrate), weights}
	if integrate != train.Exact {
		errs = append(errs, faults.AtLeast("sgd-steps", c.Steps, 1))
	}
	if (train.Config{Integrate: integrate}).Replays() {
		errs = append(errs, faults.AtLeast("batch", c.Batch, 1))
	}
	if integrate == train.Sampled {
		errs = append(errs, faults.AtLeast("index-samples", c.Indices, 1))
	}
	return errors.Join(errs...)
}

func (c Descent) set(l *learner.Learner, p bandit.Problem) {
	l.StepSize, l.MapStep, l.Clip = c.StepSize, c.MapStep, c.Clip
	l.Train = train.Config{
		Steps: c.Steps, Batch: c.Batch, Indices: c.Indices, Optimizer: c.Optimizer, Loss: c.Loss,
		IndexSet:  lab.OfWord[train.IndexSet](c.IndexSet),
		Integrate: lab.OfWord[train.Integration](c.Integrate),
	}
	if c.Schedule != train.Schedule(train.Constant{}) {
		l.Train.Schedule = c.Schedule
	}
	if c.Weights != unweighted {
		l.Train.Weights = lab.OfWord[train.Weights](c.Weights)
	}
	if p.Moves {
		l.Train.Inputs = p.Features
	}
}

// Start is the part of settings that scales the parameters before any data.
type Start struct {
	InitialScale float64 `want:"not negative" help:"scale of the initial parameters, as a multiple of the usual"`
}

// scaled scales an initializer.
func (c Start) scaled(init hyper.Initializer) hyper.Initializer {
	if c.InitialScale == 1 {
		return init
	}
	return hyper.InitScaled(c.InitialScale, init)
}

// Exploration is the part of settings that says how an agent decides: any policy goes with any belief and world.
type Exploration struct {
	Policy explore.Policy `help:"what maps sampled functions to a decision"`
}

func thompson() Exploration { return Exploration{explore.Thompson{}} }

// Check reports what is wrong.
func (c Exploration) Check() error { return ofChoice("policy", explore.Validate(c.Policy)) }

func (c Exploration) check() error { return c.Check() }

func (c Exploration) set(l *learner.Learner, _ bandit.Problem) { l.Policy = c.Policy }

// Net is the part of settings that describes the base model that is trained.
type Net struct {
	Hidden []int `help:"hidden widths of the network, as 10x10; none is a linear model, or one number an arm"`
}

func (n Net) check() error {
	for _, w := range n.Hidden {
		if w < 1 {
			return fmt.Errorf("hidden must be positive widths, got %v", n.Hidden)
		}
	}
	return nil
}

// base is the base model for a problem. A network sees arms as one-hot vectors.
func (n Net) base(p bandit.Problem) hyper.BaseModel {
	switch {
	case len(n.Hidden) > 0:
		return n.network(p)
	case p.Features == 0:
		return base.Tabular{Arms: p.Actions}
	}
	return base.Linear{Features: p.Features}
}

func (n Net) network(p bandit.Problem) base.MLP {
	return base.MLP{Layers: append(append([]int{n.features(p)}, n.Hidden...), 1)}
}

// features is how many a network sees.
func (n Net) features(p bandit.Problem) int {
	if p.Features == 0 {
		return p.Actions
	}
	return p.Features
}

// Variances are the part of settings that the loss takes for granted. A PriorVariance of 0 is what the world says, or
// else that with which predictions have variance 1.
type Variances struct {
	NoiseVariance float64 `run:"true" want:"positive" help:"sigma_w^2 of the loss: the weight of the data"`
	PriorVariance float64 `run:"true" want:"not negative" help:"sigma_p^2 of the loss; 0 is what the world says"`
}

func newVariances() Variances { return Variances{NoiseVariance: 1, PriorVariance: 2.25} }

func (v Variances) set(l *learner.Learner, _ bandit.Problem) {
	l.NoiseVariance, l.PriorVariance = v.NoiseVariance, v.PriorVariance
}

// Prior is the part of settings that describes the additive prior and its weight.
type Prior struct {
	Variances
	PriorMultiplier float64 `run:"true" want:"not negative" help:"multiplies the variance of the additive prior"`
	PriorFactor     float64 `run:"true" want:"positive" help:"multiplies sigma_p^2 of the loss's regularizer"`
}

func newPrior() Prior { return Prior{Variances: newVariances(), PriorMultiplier: 1, PriorFactor: 1} }

func (c Prior) set(l *learner.Learner, p bandit.Problem) {
	if l.PriorVariance == 0 {
		l.PriorVariance = p.PriorVariance
	}
	if b, ok := l.Belief.(hyper.Model); ok && l.PriorVariance == 0 {
		l.PriorVariance = b.UnitVariance()
	}
	l.PriorVariance = single(single(l.PriorVariance) * single(c.PriorFactor))
	l.InitVariance = orNone(c.PriorMultiplier)
	if p.Truth != nil {
		l.InitVariance = orNone(p.Truth.Variance * c.PriorMultiplier)
	}
}

// Perturbed is the parts of settings of most learners: they train on perturbed data, beside an additive prior.
type Perturbed struct {
	Prior
	Descent
	Perturbation float64 `run:"true" want:"not negative" help:"scale of data perturbations: times sigma_w"`
	Exploration
}

// perturbed has settings that suit networks.
func perturbed() Perturbed {
	return Perturbed{Prior: newPrior(), Descent: networkDescent(), Exploration: thompson()}
}

// set sets the learner's perturbation, for which 0 is none.
func (c Perturbed) set(l *learner.Learner, _ bandit.Problem) { l.Perturbation = orNone(c.Perturbation) }

// orNone is a number of a learner, for which a negative number is 0.
func orNone(x float64) float64 {
	if x == 0 {
		return -1
	}
	return x
}

func single(x float64) float64 { return float64(float32(x)) }

// additive is the additive prior with an index in blocks: the world's own distribution of functions, where it is
// known, and else one like the base model.
func (c Prior) additive(p bandit.Problem, b hyper.BaseModel, layout func(hyper.BaseModel) hyper.Layout,
	rows hyper.RowLaw) *hyper.Prior {
	out := &hyper.Prior{Base: b, Rows: rows}
	if p.Truth != nil && sameInputs(p.Truth.Base, b) {
		out.Base, out.StdDev = p.Truth.Base, p.Truth.StdDev
	}
	out.Layout = layout(out.Base)
	return out
}

func sameInputs(a, b hyper.BaseModel) bool {
	x, ok := a.(hyper.FixedInputs)
	y, known := b.(hyper.FixedInputs)
	return ok && known && x.Inputs() == y.Inputs()
}
