// Package learners holds the settings of learners for any world. `hyper run EXPERIMENT --agent NAME` runs these
// learners, and package agent takes a learner with tuned settings.
//
// Each kind of learner is a struct whose fields are keys, see catalog.Key. It has a belief, and embeds parts that
// several kinds share, such as [Descent] and [Exploration]. Its method Learner sets the numbers of the parts in a
// learner.Learner, and its method Validate checks them. The tag `want` states the range of a number: "positive", "not
// negative" or "at least 1".
package learners

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Start is the part of settings that scales the initial parameters.
type Start struct {
	InitialScale float64 `want:"not negative" help:"scale of the initial parameters, relative to the usual scale"`
}

// scaled returns init with its values multiplied by InitialScale.
func (c Start) scaled(init hyper.Initializer) hyper.Initializer {
	if c.InitialScale == 1 {
		return init
	}
	return hyper.InitScaled(c.InitialScale, init)
}

// Exploration is the part of settings that chooses how an agent decides. Any policy works with any belief and world.
type Exploration struct {
	Policy explore.Policy `help:"the method that turns sampled functions into a decision"`
}

func thompson() Exploration { return Exploration{explore.Thompson{}} }

// Check returns an error if the policy is missing or has faults.
func (c Exploration) Check() error { return ofChoice("policy", c.Policy, explore.Validate(c.Policy)) }

func (c Exploration) set(l *learner.Learner, _ bandit.Problem) { l.Policy = c.Policy }

// Net is the part of settings that describes the trained base model.
type Net struct {
	Hidden []int `help:"widths of the network's hidden layers, as 10x10; none: a linear model, or one number per arm"`
}

func (n Net) check() error {
	for _, w := range n.Hidden {
		if w < 1 {
			return fmt.Errorf("hidden must be positive widths, got %v", n.Hidden)
		}
	}
	return nil
}

// base returns the base model for a problem. A network gets arms as one-hot vectors.
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

// features returns the number of inputs of a network.
func (n Net) features(p bandit.Problem) int {
	if p.Features == 0 {
		return p.Actions
	}
	return p.Features
}

// Variances is the part of settings with the variances that the loss assumes. If PriorVariance is 0, the learner uses
// the variance that the world states, or else the variance with which predictions have variance 1.
type Variances struct {
	NoiseVariance float64 `run:"true" want:"positive" help:"sigma_w^2 of the loss; sets the weight of the data"`
	PriorVariance float64 `run:"true" want:"not negative" help:"sigma_p^2 of the loss; 0 means the world's own"`
}

func newVariances() Variances { return Variances{NoiseVariance: 1, PriorVariance: 2.25} }

func (v Variances) set(l *learner.Learner, _ bandit.Problem) {
	l.NoiseVariance, l.PriorVariance = v.NoiseVariance, v.PriorVariance
}

// Prior is the part of settings that describes the additive prior and its weight.
type Prior struct {
	Variances
	PriorMultiplier float64 `run:"true" want:"not negative" help:"factor of the variance of the additive prior"`
	PriorFactor     float64 `run:"true" want:"positive" help:"factor of sigma_p^2 in the loss's regularizer"`
}

func newPrior() Prior { return Prior{Variances: newVariances(), PriorMultiplier: 1, PriorFactor: 1} }

func (c Prior) set(l *learner.Learner, p bandit.Problem) {
	c.Variances.set(l, p)
	l.PriorVariance = cmp.Or(l.PriorVariance, p.PriorVariance)
	if b, ok := l.Belief.(hyper.Model); ok && l.PriorVariance == 0 {
		l.PriorVariance = b.UnitVariance()
	}
	l.PriorVariance = single(single(l.PriorVariance) * single(c.PriorFactor))
	l.InitVariance = orNone(c.PriorMultiplier)
	if p.Truth != nil {
		l.InitVariance = orNone(p.Truth.Variance * c.PriorMultiplier)
	}
}

// Perturbed combines the parts of settings of most learners, which train on perturbed data and have an additive prior.
type Perturbed struct {
	Prior
	Descent
	Perturbation float64 `run:"true" want:"not negative" help:"scale of the perturbations of data, relative to sigma_w"`
	Exploration
}

// perturbed returns settings that suit networks.
func perturbed() Perturbed {
	return Perturbed{Prior: newPrior(), Descent: networkDescent(), Exploration: thompson()}
}

func (c Perturbed) check() error { return errors.Join(c.Descent.check(), c.Exploration.Check()) }

// set sets the numbers of all parts, and the perturbation: 0 means no perturbation.
func (c Perturbed) set(l *learner.Learner, p bandit.Problem) {
	c.Prior.set(l, p)
	c.Descent.set(l, p)
	c.Exploration.set(l, p)
	l.Perturbation = orNone(c.Perturbation)
}

// orNone converts a setting to a number of a learner, for which 0 means the default and a negative number means 0.
func orNone(x float64) float64 {
	if x == 0 {
		return -1
	}
	return x
}

func single(x float64) float64 { return float64(float32(x)) }

// additive returns the additive prior, with an index in blocks. It uses the world's own distribution of functions if
// that is known, and otherwise a distribution over functions like the base model.
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
