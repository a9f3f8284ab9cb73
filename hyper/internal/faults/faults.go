// Package faults has the checks that configurations share. It joins their errors in a fixed order.
package faults

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
)

// MostNumbers is the largest number of elements of an array, because programs count rows in 32 bits.
const MostNumbers = math.MaxInt32

// Value returns an error if a part of interface type I is nil, or is a pointer to a type whose values already implement
// I. Capabilities are matched by type, and *T is a different type from T.
func Value[I any](name string, part I) error {
	t := reflect.TypeOf(part)
	switch {
	case t == nil:
		return New(name, "is missing")
	case t.Kind() != reflect.Pointer:
		return nil
	case t.Elem().Implements(reflect.TypeFor[I]()):
		return New(name, "is a pointer, %v; pass the value, %v", t, t.Elem())
	case reflect.ValueOf(part).IsNil():
		return New(name, "is a nil %v", t)
	}
	return nil
}

// Of returns the error of a part's own method Validate, if it has one.
func Of(part any) error {
	if v, ok := part.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// AtLeast returns an error if n is less than least.
func AtLeast(name string, n, least int) error {
	if n < least {
		return New(name, "must be at least %d, got %d", least, n)
	}
	return nil
}

// Positive returns an error unless x is positive and finite.
func Positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return New(name, "must be positive and finite, got %v", x)
	}
	return nil
}

// NotNegative returns an error unless x is finite and at least 0.
func NotNegative(name string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 0) {
		return New(name, "must be finite and not negative, got %v", x)
	}
	return nil
}

// Known returns an error if x is not a value of an enumeration, see package enum. The default 0 is allowed.
func Known[T enum.Value](name string, x T) error {
	all := enum.All[T]()
	if x >= 0 && int(x) <= len(all) {
		return nil
	}
	last := len(all) - 1
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = v.String()
	}
	return New(name, ": unknown %d; choose %s or %s", int(x), strings.Join(words[:last], ", "), words[last])
}

// Size returns an error if an array of the given sizes has more than MostNumbers elements. No size may be negative.
// what describes the array: a text, a [Name] or a [Product].
func Size(what any, sizes ...int) error {
	n := 1
	for _, s := range sizes {
		if s == 0 {
			return nil
		}
	}
	for _, s := range sizes {
		if n > MostNumbers/s {
			return New("", "%s would be %v numbers; at most %d are possible", what, sizes, MostNumbers)
		}
		n *= s
	}
	return nil
}

// Prefix puts a prefix in front of each of the joined errors.
func Prefix(prefix string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := err.(*Fault); ok {
		return f.prefixed(prefix)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s%w", prefix, err)
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		errs = append(errs, Prefix(prefix, e))
	}
	return errors.Join(errs...)
}
