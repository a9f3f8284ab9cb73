package faults

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is an error about a field of a configuration. [Rename] writes its text with other names of fields, such as
// keys.
type Fault struct {
	path   []string // what Prefix put in front, the last one first
	field  string   // "" if the text does not begin with a field
	format string
	args   []any // a Name is a further field
}

// Name is the name of a field among the arguments of [New].
type Name string

// Product is a product of several sizes among the arguments of [Size]; a [Name] is a field.
type Product []any

// New returns a [Fault] whose text is the name of the field, a space unless a comma or a colon follows, and the
// formatted text. If the field is "", the text has no name in front.
func New(field, format string, args ...any) error {
	if field != "" && !strings.ContainsAny(format[:1], ",:") {
		format = " " + format
	}
	return &Fault{field: field, format: format, args: args}
}

func (f *Fault) Error() string {
	return f.text(func(path []string, field string) string { return strings.Join(path, "") + field })
}

// text returns the text with names of fields. The path of a field is what stands in front of it, such as "Train.".
func (f *Fault) text(name func(path []string, field string) string) string {
	path := make([]string, len(f.path))
	for i, p := range f.path {
		path[len(path)-1-i] = p
	}
	args := make([]any, len(f.args))
	for i, a := range f.args {
		args[i] = named(a, name)
	}
	if f.field == "" {
		return strings.Join(path, "") + fmt.Sprintf(f.format, args...)
	}
	return name(path, f.field) + fmt.Sprintf(f.format, args...)
}

func named(arg any, name func(path []string, field string) string) any {
	switch x := arg.(type) {
	case Name:
		return name(nil, string(x))
	case Product:
		words := make([]string, len(x))
		for i, factor := range x {
			words[i] = fmt.Sprint(named(factor, name))
		}
		return strings.Join(words, " x ")
	}
	return arg
}

// Rename returns an error with the text of err in which each field of a [Fault] has another name. path is what stands
// in front of the field, from the outside to the inside; name returns what stands there instead, field included.
func Rename(err error, name func(path []string, field string) string) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range joined.Unwrap() {
			errs = append(errs, Rename(e, name))
		}
		return errors.Join(errs...)
	}
	if f, ok := err.(*Fault); ok {
		return errors.New(f.text(name))
	}
	return err
}

// prefixed returns the fault with one more prefix.
func (f *Fault) prefixed(prefix string) error {
	out := *f
	out.path = append(f.path[:len(f.path):len(f.path)], prefix)
	return &out
}
