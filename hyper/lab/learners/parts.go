// Package learners has the settings of learners, for any world: what `hyper run EXPERIMENT --agent NAME` runs, and what
// a tuned setting hands over to package agent.
//
// Each is a struct whose fields are keys, see lab.Key; Learner makes the learner.Learner of it for a problem. Structs
// share the parts in this file.
package learners

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Descent is the part of settings that says how steps of training are made.
type Descent struct {
	StepSize  float64         `run:"true" help:"constant step size: the step of theta; of an ensemble trained by sgd that of a particle each time it is visited, alpha over the particles visited by an SGD step"`
	Steps     int             `key:"sgd-steps" help:"SGD steps per period"`
	Batch     int             `help:"data points per SGD step, drawn with replacement"`
	Indices   int             `key:"index-samples" help:"indices z sampled per SGD step"`
	IndexSet  string          `help:"iid (the paper's), antithetic (z and -z) or frame (z and -z, orthogonal: exact first and second moments)"`
	Integrate string          `help:"sampled (the paper's), analytic (expectation over z in closed form; all particles), full-data (analytic, on all data by sufficient statistics) or exact (the minimiser itself; no SGD steps)"`
	Optimizer train.Optimizer `help:"sgd is the paper's; adam, adamax and rmsprop are GoMLX's"`
	Schedule  train.Schedule  `help:"how step sizes fall with the number of data"`
	MapStep   float64         `run:"true" help:"step size of the part of a linear hypermodel that sees the index, as a multiple of step-size"`
	Clip      float64         `run:"positive" help:"bound on the norm of a gradient of the loss over |D|; 0 is none"`
	Loss      train.Loss      `help:"what a prediction costs: gaussian is the paper's, for rewards with Gaussian noise"`
	Weights   string          `help:"how much each datum counts for each index: none (the paper's), or the bootstrap's bernoulli or exponential"`
}

// NewDescent has the paper's way to train.
func NewDescent() Descent {
	return Descent{
		Steps: 1, IndexSet: train.IID.String(), Integrate: train.Sampled.String(), Optimizer: train.SGD{}, Schedule: train.Constant{}, MapStep: 1,
		Loss: train.Gaussian{}, Weights: unweighted,
	}
}

// networkDescent is what searches of equal budget found for networks (notebooks/results/tuning), where the paper does
// not print its settings: Adam was the better optimizer for every agent of section 4.2.
func networkDescent() Descent {
	c := NewDescent()
	c.Steps, c.Batch, c.Indices, c.Optimizer = 4, 64, 16, train.Adam{}
	return c
}

// unweighted is the key's word for no weights.
const unweighted = "none"

func (c Descent) check() error {
	errs := []error{faults.Positive("step-size", c.StepSize), faults.Positive("map-step", c.MapStep), faults.NotNegative("clip", c.Clip)}
	integrate := lab.OfWord[train.Integration](c.Integrate)
	weights := error(nil)
	if c.Weights != unweighted {
		weights = lab.CheckWord[train.Weights]("weights", c.Weights)
	}
	errs = append(errs, lab.CheckWord[train.IndexSet]("index-set", c.IndexSet),
		lab.CheckWord[train.Integration]("integrate", c.Integrate), weights)
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

// learner is one that trains so.
func (c Descent) learner(b hyper.Belief, policy explore.Policy, p bandit.Problem, periods int) learner.Learner {
	l := learner.Learner{
		Belief: b, Policy: policy, FreeSteps: true, StepSize: c.StepSize, MapStep: c.MapStep, Clip: c.Clip, Perturbation: -1, InitVariance: 1,
		Train: train.Config{
			Steps: c.Steps, Batch: c.Batch, Indices: c.Indices, IndexSet: lab.OfWord[train.IndexSet](c.IndexSet),
			Integrate: lab.OfWord[train.Integration](c.Integrate), Optimizer: c.Optimizer, Loss: c.Loss, Capacity: periods,
		},
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
	return l
}

// Start is the part of settings that scales the parameters before any data.
type Start struct {
	InitialScale float64 `help:"scale of the initial parameters, as a multiple of what is usual"`
}

func (c Start) check() error { return faults.NotNegative("initial-scale", c.InitialScale) }

// scaled scales an initializer.
func (c Start) scaled(init hyper.Initializer) hyper.Initializer {
	if c.InitialScale == 1 {
		return init
	}
	return hyper.InitScaled(c.InitialScale, init)
}

// Perturbing is the part of settings that perturbs data.
type Perturbing struct {
	Perturbation float64 `run:"true" help:"scale of the data perturbations, as a multiple of sigma_w"`
}

func (c Perturbing) check() error { return faults.NotNegative("perturbation", c.Perturbation) }

// set sets the learner's perturbation, for which 0 is none.
func (c Perturbing) set(l *learner.Learner) { l.Perturbation = orNone(c.Perturbation) }

// orNone is a number of a learner, for which a negative number is 0.
func orNone(x float64) float64 {
	if x == 0 {
		return -1
	}
	return x
}

// Exploration is the part of settings that says how an agent decides: any policy goes with any belief and world.
type Exploration struct {
	Policy explore.Policy `help:"what maps sampled functions to a decision"`
}

func thompson() Exploration { return Exploration{explore.Thompson{}} }

// Check reports what is wrong.
func (c Exploration) Check() error { return ofChoice("policy", explore.Validate(c.Policy)) }

// ofChoice names the fields of a choice's value in an error by their keys.
func ofChoice(choice string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(valueField.ReplaceAllStringFunc(err.Error(), func(name string) string {
		return lab.KeyOfChoice(choice, name[strings.LastIndex(name, " ")+1:])
	}))
}

var valueField = regexp.MustCompile(`\b[a-z]+\.[A-Z][A-Za-z]+: [A-Z][A-Za-z0-9]*\b`)

// Net is the part of settings that describes the base model that is trained.
type Net struct {
	Hidden []int `help:"hidden widths of the trained network, as 10x10; none is a linear model, or with arms a number for each"`
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

// Variances are the part of settings that the loss takes for granted.
type Variances struct {
	NoiseVariance float64 `run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	PriorVariance float64 `run:"true" help:"sigma_p^2 of the loss's regularizer; 0 is what the world says, or else predictions of variance 1"`
}

func newVariances() Variances { return Variances{NoiseVariance: 1, PriorVariance: 2.25} }

func (v Variances) check() error {
	return errors.Join(faults.Positive("noise-variance", v.NoiseVariance), faults.NotNegative("prior-variance", v.PriorVariance))
}

func (v Variances) set(l *learner.Learner) {
	l.NoiseVariance, l.PriorVariance = v.NoiseVariance, v.PriorVariance
}

// Prior is the part of settings that describes the additive prior and its weight.
type Prior struct {
	Variances
	PriorMultiplier float64 `run:"true" help:"m: variance of the additive prior's parameters over that of the world's"`
	PriorFactor     float64 `run:"true" help:"multiplies sigma_p^2 of the loss's regularizer"`
}

func newPrior() Prior { return Prior{Variances: newVariances(), PriorMultiplier: 1, PriorFactor: 1} }

func (c Prior) check() error {
	return errors.Join(c.Variances.check(), faults.NotNegative("prior-multiplier", c.PriorMultiplier), faults.Positive("prior-factor", c.PriorFactor))
}

func (c Prior) set(l *learner.Learner, p bandit.Problem) {
	c.Variances.set(l)
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

// single rounds to single precision, in which programs compute.
func single(x float64) float64 { return float64(float32(x)) }

// additive is the additive prior with an index in blocks: the world's own distribution of functions, where it is
// known, and else one like the base model.
func (c Prior) additive(p bandit.Problem, b hyper.BaseModel, layout func(hyper.BaseModel) hyper.Layout, rows hyper.RowLaw) *hyper.Prior {
	out := &hyper.Prior{Base: b, Rows: rows}
	if p.Truth != nil && sameInputs(p.Truth.Base, b) {
		out.Base, out.StdDev = p.Truth.Base, p.Truth.StdDev
	}
	out.Layout = layout(out.Base)
	return out
}

// sameInputs tells whether two base models take the same inputs.
func sameInputs(a, b hyper.BaseModel) bool {
	x, ok := a.(hyper.FixedInputs)
	y, known := b.(hyper.FixedInputs)
	return ok && known && x.Inputs() == y.Inputs()
}

// faultsOf returns the faults of settings: of their own numbers and, where these are well, of the learner they make.
func faultsOf(own error, p *bandit.Problem, d Descent, made func(p bandit.Problem, periods int) learner.Learner) error {
	if own != nil || p == nil { // no learner can be made of them
		return errors.Join(own, inKeys(d.learner(nil, nil, bandit.Problem{}, 1).Train.ValidateNames()))
	}
	return inKeys(made(*p, 1).Validate())
}

// inKeys names the fields of a learner in its errors by the keys of settings.
func inKeys(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(fieldName.ReplaceAllStringFunc(err.Error(), func(name string) string {
		name = strings.TrimPrefix(name, "Train.")
		field, ok := reflect.TypeFor[Descent]().FieldByName(name)
		if !ok {
			return name
		}
		return lab.KeyName(field)
	}))
}

var fieldName = regexp.MustCompile(`\b(Train\.)?(Steps|Batch|Indices|IndexSet|Integrate|Optimizer|StepSize|Weights|Clip|MapStep)\b`)
