package agent

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Encoding converts a [Menu] to inputs of the belief. An input combines the numbers of an action, or its arm, with the
// context that all actions share.
type Encoding struct {
	Context int     // number of numbers of the context
	Action  int     // number of numbers of each action; 0 if actions are arms
	Arms    int     // number of arms; 0 if actions have numbers
	Code    ArmCode // how an input represents an arm; 0 means AsOneHot
	// Cross adds the products of each number of the action, or of the one-hot arm, with each number of the context. A
	// linear belief needs these products if the value of an action depends on the context.
	Cross bool
	// Standardize subtracts from each number of the contexts and actions its mean so far, and divides by its standard
	// deviation so far. Results are clipped to [-5, 5]. The statistics include the numbers of the present Menu. After
	// ten numbers, one that is further away than 30 standard deviations counts as one at that distance.
	Standardize bool
}

// ArmCode is the representation of an arm in an input.
type ArmCode int

const (
	// AsOneHot puts one number per arm before the context: 1 for the arm itself and 0 for the others.
	AsOneHot ArmCode = iota + 1
	// AsNumber puts the number of the arm before the context, as hyper.BayesianLinear with Blocks expects it.
	AsNumber
)

func (c ArmCode) String() string { return enum.Word(c, "one-hot", "number") }

// Width returns the length of an input.
func (e Encoding) Width() int {
	own := max(e.Arms, e.Action)
	switch {
	case e.Arms > 0 && e.Code == AsNumber:
		return 1 + e.Context
	case e.Cross:
		return own + e.Context + own*e.Context
	}
	return own + e.Context
}

// Validate returns all faults of the Encoding, joined.
func (e Encoding) Validate() error {
	errs := []error{faults.AtLeast("Context", e.Context, 0), faults.AtLeast("Action", e.Action, 0),
		faults.AtLeast("Arms", e.Arms, 0), faults.Known("Code", e.Code)}
	switch {
	case e.Arms > 0 && e.Action > 0:
		errs = append(errs, errors.New("Arms and Action exclude each other: an action is an arm, or has numbers"))
	case e.Arms > 0 && e.Context < 1:
		errs = append(errs, errors.New("Arms need a Context; arms without one need no Encoding: see Config.Features"))
	case e.Arms == 0 && e.Action < 1:
		errs = append(errs, errors.New("Action or Arms must be positive: there is nothing to choose from"))
	case e.Cross && e.Arms > 0 && e.Code != AsOneHot:
		errs = append(errs, fmt.Errorf("Cross goes with Code one-hot, not %s", e.Code))
	case e.Cross && e.Context == 0:
		errs = append(errs, errors.New("Cross needs a Context"))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("the length of an input", e.Width()))
	}
	return errors.Join(errs...)
}

// input joins the numbers that represent an action with a context.
func (e Encoding) input(own, context []float32) []float32 {
	x := make([]float32, 0, e.Width())
	x = append(append(x, own...), context...)
	if e.Cross {
		for _, a := range own {
			for _, c := range context {
				x = append(x, a*c)
			}
		}
	}
	return x
}

// ofArm returns the input of an arm in a context.
func (e Encoding) ofArm(arm int, context []float32) []float32 {
	if e.Code == AsNumber {
		return e.input([]float32{float32(arm)}, context)
	}
	one := make([]float32, e.Arms)
	one[arm] = 1
	return e.input(one, context)
}
