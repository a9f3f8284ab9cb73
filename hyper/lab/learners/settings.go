package learners

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// A part of settings implements one or both of these interfaces.
type (
	setter interface {
		set(l *learner.Learner, p bandit.Problem)
	}
	checker interface{ check() error }
)

// filled returns a learner for a problem, with a belief and the numbers of settings. Its other defaults are not set.
func filled(c any, b hyper.Belief, p bandit.Problem, periods int) learner.Learner {
	l := learner.Learner{Belief: b, FreeSteps: true, Perturbation: -1, InitVariance: 1}
	v := reflect.ValueOf(c).Elem()
	for _, f := range slices.Backward(reflect.VisibleFields(v.Type())) { // the parts of a part come before the part
		if !f.Anonymous {
			continue
		}
		if part, ok := v.FieldByIndex(f.Index).Interface().(setter); ok {
			part.set(&l, p)
		}
	}
	l.Train.Capacity = periods
	return l
}

// faultsOf returns the faults of settings: the faults of their own numbers and those in more. If there are none and p
// is not nil, it returns the faults of the learner that the settings make for the problem.
func faultsOf(c lab.LearnerMaker, p *bandit.Problem, more ...error) error {
	own := errors.Join(numberFaults(c), errors.Join(more...))
	if own != nil || p == nil { // no learner can be made from the settings
		l := filled(c, nil, bandit.Problem{}, 1)
		return errors.Join(own, inKeys(l.Train.ValidateNames()))
	}
	return inKeys(c.Learner(*p, 1).Validate())
}

// numberFaults returns the faults of numbers by their tags, and the faults of the parts.
func numberFaults(c any) error {
	var errs []error
	v := reflect.ValueOf(c).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		x, name := v.FieldByIndex(f.Index), lab.KeyName(f)
		switch f.Tag.Get("want") {
		case "positive":
			errs = append(errs, faults.Positive(name, x.Float()))
		case "not negative":
			errs = append(errs, faults.NotNegative(name, x.Float()))
		case "at least 1":
			errs = append(errs, faults.AtLeast(name, int(x.Int()), 1))
		}
		if !f.Anonymous {
			continue
		}
		if part, ok := x.Interface().(checker); ok {
			errs = append(errs, part.check())
		}
	}
	return errors.Join(errs...)
}

// ofChoice replaces, in an error, the names of fields of a choice's value by their keys.
func ofChoice(choice string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(valueField.ReplaceAllStringFunc(err.Error(), func(name string) string {
		return lab.KeyOfChoice(choice, name[strings.LastIndex(name, " ")+1:])
	}))
}

var valueField = regexp.MustCompile(`\b[a-z]+\.[A-Z][A-Za-z]+: [A-Z][A-Za-z0-9]*\b`)

// inKeys replaces, in an error, the names of fields of a learner by the keys of settings.
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

var fieldName = regexp.MustCompile(`\b(Train\.)?(Steps|Batch|Indices|IndexSet|Integrate|Optimizer|StepSize|` +
	`Weights|Clip|MapStep)\b`)
