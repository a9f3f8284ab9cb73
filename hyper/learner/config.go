package learner

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// quadratic reports whether the loss is quadratic in nu. An SGD step is then stable up to a limit that does not depend
// on nu.
func (l Learner) quadratic() bool {
	c := hyper.CapabilitiesOf(l.Belief)
	return (c.Affine != nil || c.Particles != nil) && c.Linear != nil && c.Additive == nil &&
		(l.Train.Loss == nil || l.Train.Loss.Quadratic())
}

// WithDefaults returns the learner with defaults in place of zeros. Train.Capacity has no default, because it depends
// on the program that holds the learner. WithDefaults does not correct faults.
func (l Learner) WithDefaults() Learner {
	unit, perturbation := 1.0, 1.0
	valid := l.validateBelief() == nil
	if b, ok := l.Belief.(interface{ UnitVariance() float64 }); ok && valid {
		unit = b.UnitVariance()
	}
	conditioned := valid && hyper.CapabilitiesOf(l.Belief).Conditioned != nil
	if t := l.Train; t.Weights != train.Unweighted || t.Unperturbed || conditioned || t.Loss != nil && !t.Loss.Quadratic() {
		perturbation = -1
	}
	l.NoiseVariance = cmp.Or(l.NoiseVariance, 1)
	l.PriorVariance = cmp.Or(l.PriorVariance, unit, 1)
	l.InitVariance = cmp.Or(l.InitVariance, l.PriorVariance)
	l.Perturbation = cmp.Or(l.Perturbation, perturbation)
	l.MapStep, l.KL = cmp.Or(l.MapStep, 1), cmp.Or(l.KL, 1)
	t := &l.Train
	if conditioned {
		t.Indices = cmp.Or(t.Indices, 1)
	}
	t.Steps, t.Batch, t.Indices = cmp.Or(t.Steps, 4), cmp.Or(t.Batch, 64), cmp.Or(t.Indices, 16)
	if t.Integrate == 0 && valid && l.exactly() {
		t.Integrate = train.Exact
	}
	t.Integrate = cmp.Or(t.Integrate, train.Sampled)
	if l.StepSize == 0 && valid {
		if t.Optimizer == nil && t.Integrate != train.Exact && !l.quadratic() {
			t.Optimizer = train.Adam{}
		}
		l.StepSize = l.defaultStep()
	}
	l.StepSize = cmp.Or(l.StepSize, 0.1) // for a belief that Validate refuses
	if l.Policy == nil {
		l.Policy = explore.Thompson{}
	}
	return l
}

// exactly reports whether the exact minimiser is the default. A wrong discount does not matter, because it is wrong for
// every Integrate.
func (l Learner) exactly() bool {
	c := l.Train
	c.Integrate, c.Discount = train.Exact, 0
	return c.Validate(l.Belief) == nil && l.trainer().ExactSize() <= 4096*4096
}

// defaultStep returns the default step size. For an optimizer without LinearInGradients it is 0.01. For SGD and SGLD
// it is 0.1, or half of armsLimit if that is less.
func (l Learner) defaultStep() float64 {
	if !l.Train.LinearSteps() {
		return 0.01
	}
	if best := l.armsLimit() / 2; best > 0 && best < 0.1 {
		return best
	}
	return 0.1
}

// Validate returns all faults, joined in the order of the fields. The learner must have its defaults and a
// Train.Capacity.
func (l Learner) Validate() error {
	errs := []error{l.validateBelief()}
	if errs[0] == nil {
		training := faults.Prefix("Train.", l.Train.Validate(l.Belief))
		errs = append(errs, training)
		if training == nil {
			errs = append(errs, l.checkStep())
		}
	}
	return errors.Join(append(errs,
		faults.Positive("StepSize", l.StepSize),
		faults.Positive("NoiseVariance", l.NoiseVariance),
		faults.Positive("PriorVariance", l.PriorVariance),
		finite("InitVariance", l.InitVariance),
		finite("Perturbation", l.Perturbation), l.checkPerturbation(),
		faults.Positive("MapStep", l.MapStep),
		faults.NotNegative("Clip", l.Clip),
		finite("KL", l.KL),
		faults.Prefix("Policy: ", explore.Validate(l.Policy)))...)
}

func (l Learner) validateBelief() error {
	if err := faults.Value("Belief", l.Belief); err != nil {
		return err
	}
	if err := faults.Of(l.Belief); err != nil {
		return faults.Prefix("Belief: ", err)
	}
	if l.Belief.Index() == nil {
		return faults.New("Belief", ": Index of %T returns nil", l.Belief)
	}
	return nil
}

// checkPerturbation returns an error if Perturbation is set although the data are unperturbed, or have weights.
func (l Learner) checkPerturbation() error {
	if l.Perturbation > 0 && l.Train.Weights != train.Unweighted {
		return faults.New("Perturbation", "is %v, and %s of data come from the same random numbers a^T z, so that means "+
			"would be too large: set only one of the two", l.Perturbation, faults.Name("Weights"))
	}
	if l.Perturbation > 0 && l.Train.Unperturbed {
		return fmt.Errorf("Perturbation is %v, but Train.Unperturbed data have no perturbations: set only one of "+
			"the two",
			l.Perturbation)
	}
	return nil
}

// checkStep returns an error if StepSize is above armsLimit.
func (l Learner) checkStep() error {
	if limit := l.armsLimit(); limit > 0 && l.StepSize > limit {
		return fmt.Errorf("a StepSize of %v makes SGD diverge: with these variances and index samples steps are "+
			"stable up to %.4g, and best at half of it; or leave Train.Integrate 0, for train.Exact, which needs "+
			"no step size",
			l.StepSize, limit)
	}
	return nil
}

func finite(name string, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return faults.New(name, "must be finite, got %v", x)
	}
	return nil
}
