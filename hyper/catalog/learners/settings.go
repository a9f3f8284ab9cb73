package learners

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/keyname"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// A part of settings implements one or both of these interfaces.
type (
	setter interface {
		set(l *learner.Learner, p bandit.Problem)
	}
	checker interface{ check() error }
)

// maker is catalog.LearnerMaker, which all settings of this package implement.
type maker interface {
	Validate(p *bandit.Problem) error
	Learner(p bandit.Problem, periods int) learner.Learner
}

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
func faultsOf(c maker, p *bandit.Problem, more ...error) error {
	own := errors.Join(numberFaults(c), errors.Join(more...))
	if own != nil || p == nil { // no learner can be made from the settings
		l := filled(c, nil, bandit.Problem{}, 1)
		return errors.Join(own, inKeys(c, l.Train.ValidateNames()))
	}
	return inKeys(c, c.Learner(*p, 1).Validate())
}

// numberFaults returns the faults of numbers by their tags, and the faults of the parts.
func numberFaults(c any) error {
	var errs []error
	v := reflect.ValueOf(c).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		x, name := v.FieldByIndex(f.Index), keyname.Of(f)
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

// ofChoice writes the faults of the value of a choice with keys in place of fields, as policy-quantile.
func ofChoice(choice string, value any, err error) error {
	return faults.Rename(err, func(path []string, field string) string {
		if f, ok := fieldOf(value, field); ok && f.Tag.Get("help") != "" {
			return keyname.OfChoice(choice, field)
		}
		return strings.Join(path, "") + field
	})
}

// inKeys writes the faults of the learner that settings make with keys in place of fields.
func inKeys(c any, err error) error {
	return faults.Rename(err, func(path []string, field string) string {
		if len(path) > 0 && path[0] == "Train." {
			path = path[1:]
		}
		if len(path) == 0 { // a field of the learner
			if f, ok := fieldOf(c, field); ok && f.Tag.Get("help") != "" {
				return keyname.Of(f)
			}
			return field
		}
		choice := strings.TrimSuffix(path[0], ": ") // the field whose value has the fault, such as Optimizer
		if f, ok := fieldOf(c, choice); ok && len(path) == 1 && f.Tag.Get("help") != "" {
			return keyname.OfChoice(keyname.Of(f), field)
		}
		return strings.Join(path, "") + field
	})
}

// fieldOf returns a field of a struct, or of the struct that a pointer points to.
func fieldOf(value any, name string) (f reflect.StructField, ok bool) {
	t := reflect.TypeOf(value)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return f, false
	}
	return t.FieldByName(name)
}
