package train

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// fits reports why no route can be taken: the reason against the route that Integrate asks for.
func (p problem) fits() error {
	if p.Conjugate != nil && p.Integrate != Exact {
		return faults.New("", "%T is a conjugate belief, which SGD does not train; use %s exact, not %s", p.belief,
			faults.Name("Integrate"), p.Integrate)
	}
	switch p.Integrate {
	case Exact:
		return p.fitsExact()
	case FullData:
		return p.fitsAllSums()
	case Analytic:
		if err := p.fitsClosedForm(); err == nil || !p.oneHot() {
			return err
		}
	}
	return p.fitsAutodiff()
}

func (p problem) fitsPosterior() error {
	if p.Integrate != Exact || p.Conjugate == nil {
		return errOther
	}
	return p.plain()
}

func (p problem) fitsExact() error {
	if p.Integrate != Exact {
		return errOther
	}
	return errors.Join(exactFor(p.belief), p.plain())
}

func (p problem) fitsAllSums() error {
	if p.Integrate != FullData {
		return errOther
	}
	return errors.Join(p.closed(), p.plain())
}

func (p problem) fitsClosedForm() error {
	if p.Integrate != Analytic {
		return errOther
	}
	return errors.Join(p.closed(), p.plain())
}

func (p problem) fitsSums() error {
	switch {
	case !p.sampled() || p.ownIndices() || p.plain() != nil || !p.linearInTheta():
		return errOther
	case !p.Linear.Diagonal() && p.Batch < p.Parametric.NumTheta(): // Phi^T Phi is larger than the data
		return errOther
	}
	return nil
}

func (p problem) fitsFeatures() error {
	if !p.sampled() || p.ownIndices() || !p.anchors() || !p.linearInTheta() {
		return errOther
	}
	return nil
}

func (p problem) fitsOwnGradient() error {
	if p.Gradient == nil || p.Parametric == nil || p.ownIndices() {
		return errOther
	}
	return p.fitsAutodiff()
}

func (p problem) fitsAutodiff() error {
	switch {
	case p.Regularize == KL && p.Variational == nil:
		return faults.New("Regularize", "kl needs a mean-field hypermodel; use anchor")
	case p.Weights != Unweighted && !p.perturbs():
		return faults.New("Weights", "%s are made from a^T z, which indices of %T do not have; use none", p.Weights, p.z)
	case p.Weights != Unweighted && p.Unperturbed:
		return faults.New("Weights", "%s are made from a^T z, which Unperturbed data do not have; use one of them",
			p.Weights)
	case !p.sampled() && !(p.Integrate == Analytic && p.oneHot()):
		return errOther
	}
	return nil
}

// errOther says that a route is for another integration, or for other beliefs.
var errOther = errors.New("another route is meant")

// plain reports why sums of the data are not enough to compute the loss.
func (p problem) plain() error {
	switch {
	case !p.Loss.Quadratic():
		return faults.New("Integrate", "%s needs a quadratic loss, not %T; use sampled", p.Integrate, p.Loss)
	case p.Weights != Unweighted:
		return faults.New("Integrate", "%s does not support %s, which differ between indices; use sampled", p.Integrate,
			faults.Name("Weights"))
	case p.Weighted && p.Integrate != Exact:
		return faults.New("Integrate", "%s has no weights of data; use sampled or exact", p.Integrate)
	case !p.anchors():
		return faults.New("Integrate", "%s supports only the regularizer anchor; use sampled", p.Integrate)
	case p.Unperturbed:
		return faults.New("Integrate", "%s takes sums with perturbations, which Unperturbed data do not have; use sampled",
			p.Integrate)
	}
	return nil
}

// closed reports why the expectation over z has no closed form here.
func (p problem) closed() error {
	switch {
	case !p.perturbs():
		return faults.New("Integrate", "%s needs indices of mean 0, or one-hot ones, not %T; use sampled",
			p.Integrate, p.z)
	case !p.linearInTheta():
		return faults.New("Integrate", "%s needs a base model that is linear in its parameters; use sampled", p.Integrate)
	case p.oneHot():
		return nil
	case p.Affine == nil:
		return faults.New("Integrate", "%s needs a linear hypermodel or an ensemble; use sampled", p.Integrate)
	case !p.sharesLayout():
		return faults.New("Integrate", "%s needs a prior with the hypermodel's layout; use sampled", p.Integrate)
	}
	return nil
}
