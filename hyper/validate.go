package hyper

import (
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Validate reports every fault of the parts, and every way in which the parts do not fit together, in a fixed order. A
// part must be a value, not a pointer to one, because the types of the parts determine what a model can do.
func (m Model) Validate() error {
	parts := []error{validateBase("Base", m.Base)}
	if err := faults.Value("Hyper", m.Hyper); err != nil {
		parts = append(parts, err)
	} else if err := faults.Of(m.Hyper); err != nil {
		parts = append(parts, err)
	} else {
		parts = append(parts, validateIndex(m.Index()))
	}
	if err := errors.Join(parts...); err != nil {
		return err
	}
	errs := []error{m.validateFit()}
	if m.Prior != nil {
		errs = append(errs, m.Prior.Validate(m.Base, m.Index()))
	}
	return errors.Join(errs...)
}

// validateFit reports why the base model and the hypermodel do not fit together.
func (m Model) validateFit() error {
	var errs []error
	if n := NumTheta(m.Base); n != m.Hyper.NumTheta() {
		errs = append(errs, fmt.Errorf("the hypermodel makes %d parameters, but the base model has %d",
			m.Hyper.NumTheta(), n))
	}
	if h, ok := m.Hyper.(structured); ok && h.Structure().IndexDim() != m.Index().Dim() {
		errs = append(errs, fmt.Errorf("the layout needs an index of dimension %d, but p_z has %d",
			h.Structure().IndexDim(), m.Index().Dim()))
	}
	if arms := m.Index().Moments().Blocks; arms > 0 {
		if b, ok := m.Base.(FixedInputs); !ok || b.Inputs() != 0 || NumTheta(m.Base) != arms {
			errs = append(errs, fmt.Errorf("an index per arm, here of %d arms, needs a tabular base model of as many, "+
				"got %v",
				arms, m.Base))
		}
	}
	if h, ok := m.Hyper.(interface{ FitsBase(BaseModel) error }); ok {
		errs = append(errs, h.FitsBase(m.Base))
	}
	return errors.Join(errs...)
}

// Validate reports every fault of the prior's parts, and every way in which they do not fit the hypermodel's index p_z
// or the Model's base model b.
func (p Prior) Validate(b BaseModel, p_z index.Distribution) error {
	errs := []error{p.Layout.Validate()}
	if p.Base != nil {
		errs = append(errs, validateBase("Base", p.Base))
	}
	if err := errors.Join(errs...); err != nil {
		return faults.Prefix("prior: ", err)
	}
	if x, y := inputsOf(p.Base), inputsOf(b); x != y && x >= 0 && y >= 0 {
		errs = append(errs, fmt.Errorf("Base takes inputs of %d features, but the model's base model takes %d", x, y))
	}
	if p.Base != nil {
		b = p.Base
	}
	n := NumTheta(b)
	if p.Layout.Rows() != n {
		errs = append(errs, fmt.Errorf("the layout has %d rows, but the base model has %d parameters",
			p.Layout.Rows(), n))
	}
	if p.Layout.IndexDim() != p_z.Dim() {
		errs = append(errs, fmt.Errorf("the layout needs an index of dimension %d, but the hypermodel's has %d",
			p.Layout.IndexDim(), p_z.Dim()))
	}
	return faults.Prefix("prior: ", errors.Join(append(errs, faults.Known("Rows", p.Rows), p.validateStdDev(n),
		p.validateDraw(n))...))
}

// validateDraw reports InitB and Rows that are both given, an Output that has no effect, and an Output that is not the
// index of one of the n parameters.
func (p Prior) validateDraw(n int) error {
	switch {
	case p.InitB != nil && p.Rows != 0:
		return errors.New("InitB and Rows both say how B is drawn; give one of them")
	case p.Output != 0 && p.InitB == nil && p.StdDev == nil:
		return errors.New("Output needs a StdDev or an InitB; without both, the base model determines it: leave it 0")
	case p.Output < 0 || p.Output >= n:
		return fmt.Errorf("Output must be one of the %d parameters, got %d", n, p.Output)
	}
	return nil
}

func (p Prior) validateStdDev(n int) error {
	if p.StdDev != nil && len(p.StdDev) != n {
		return fmt.Errorf("StdDev has %d standard deviations for %d parameters", len(p.StdDev), n)
	}
	for i, sd := range p.StdDev {
		if !(sd >= 0) || math.IsInf(sd, 0) {
			return fmt.Errorf("StdDev must be finite and not negative, got %v for parameter %d", sd, i)
		}
	}
	return nil
}

// validateBase reports why b cannot be a base model.
func validateBase(name string, b BaseModel) error {
	if err := faults.Value(name, b); err != nil {
		return err
	}
	if err := faults.Of(b); err != nil {
		return err
	}
	if v, ok := b.(interface{ NumOutputs() int }); ok && v.NumOutputs() != 1 {
		return fmt.Errorf("%s must predict one number, but its last layer has %d", name, v.NumOutputs())
	}
	return faults.AtLeast(name+": the number of parameters", NumTheta(b), 1)
}

func validateIndex(d index.Distribution) error { return faults.Prefix("P: ", index.Validate(d)) }
