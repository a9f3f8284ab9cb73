package learners

import (
	"errors"
	"reflect"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/keyname"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// maker is catalog.LearnerMaker, which all settings of this package implement.
type maker interface {
	Validate(p *bandit.Problem) error
	Learner(p bandit.Problem, periods int) learner.Learner
}

// setter is a part of settings that sets numbers of the learner.
type setter interface {
	set(l *learner.Learner, p bandit.Problem)
}

// filled returns a learner for a problem, with a belief and the numbers of parts of settings. Its other defaults are
// not set.
func filled(b hyper.Belief, p bandit.Problem, periods int, parts ...setter) learner.Learner {
	l := learner.Learner{Belief: b, FreeSteps: true, Perturbation: -1, InitVariance: 1}
	for _, part := range parts {
		part.set(&l, p)
	}
	l.Train.Capacity = periods
	return l
}

// faultsOf returns the faults of the settings' numbers, and those in more. If there are none and p is not nil, it
// returns the faults of the learner that the settings make for the problem.
func faultsOf(c maker, p *bandit.Problem, more ...error) error {
	own := errors.Join(numberFaults(c), errors.Join(more...))
	if own != nil || p == nil { // no learner can be made from the settings
		return own
	}
	if err := faults.Size("the inputs of this world, actions x features,", p.Actions, max(p.Features, 1)); err != nil {
		return err // before memory is allocated for a learner of this size
	}
	return inKeys(c, c.Learner(*p, 1).Validate())
}

// numberFaults returns the faults of the numbers that have the tag `want`. It reads the tag by reflection, as package
// catalog reads the tags of keys: the range of a number then stands beside its help, once.
func numberFaults(c maker) error {
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
