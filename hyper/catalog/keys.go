package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Key describes one number or choice of settings. Settings are a pointer to a struct, and its keys are the exported
// fields that have the tag `help`, including the fields of embedded structs. The name of a key is the name of its field
// in lower case, as step-size for StepSize, unless the tag `key` gives another name. The tag `run:"true"` marks a
// float64 that does not shape the computation: runs with different values share one compilation. The tag
// `run:"positive"` marks such a float64 for which 0 means a computation without it. A field of an interface type names
// an entry of a list of this package, and the fields of the entry's value are keys that follow it. A field with the tag
// `part:"true"` holds further settings, whose keys come first, or nil. If several parts have a key, the key sets all of
// them.
type Key struct {
	Name, Help string
	Kind       string // "int", "number", "text", "yes or no", "widths" or "choice"
	Default    string
	PerRun     bool // the value does not shape the computation
	Choices    []string
}

// Keys lists the keys of settings, with their present values as defaults.
func Keys(settings any) []Key {
	var keys []Key
	for _, f := range fields(settings) {
		f.Default = fmt.Sprint(f.get())
		keys = append(keys, f.Key)
	}
	return keys
}

// HasKey reports whether settings have the key.
func HasKey(settings any, name string) bool { return slices.Contains(KeyNames(settings), name) }

// Set parses text and assigns it to a key of settings.
func Set(settings any, name, text string) error {
	for _, f := range fields(settings) {
		if f.Name == name {
			return f.set(text)
		}
	}
	return unknownKey(settings, name)
}

// unknownKey returns an error: settings lack the key, or the key belongs to a choice that they have not made.
func unknownKey(settings any, name string) error {
	if err := NeedsChoice(settings, name); err != nil {
		return err
	}
	return fmt.Errorf("unknown key %q%s; the keys are %s", name, nearest.Hint(name, KeyNames(settings)),
		strings.Join(KeyNames(settings), ", "))
}

// NeedsChoice returns an error that names the choice that settings need in order to have a key. It returns nil if no
// choice has the key.
func NeedsChoice(settings any, name string) error {
	for _, f := range fields(settings) {
		if f.Kind != kindChoice {
			continue
		}
		for _, c := range listOf(f.slots[0].value.Type()).choices() {
			t := reflect.TypeOf(c.Value)
			named := func(k keyedField) bool { return k.Name == name }
			if t.Kind() == reflect.Struct && slices.ContainsFunc(keyed(t, f.Name).fields, named) {
				return fmt.Errorf("key %q needs %s=%s", name, f.Name, c.Name)
			}
		}
	}
	return nil
}

// KeyNames lists the names of the keys of settings.
func KeyNames(settings any) []string {
	var names []string
	for _, f := range fields(settings) {
		names = append(names, f.Name)
	}
	return names
}

// Values returns settings as a map from keys to values.
func Values(settings any) map[string]any {
	out := map[string]any{}
	for _, f := range fields(settings) {
		out[f.Name] = f.get()
	}
	return out
}

// SetValues fills settings from a JSON object of keys and values. Unknown keys and values of wrong types are errors.
// SetValues ignores the keys of choices that the settings have not made.
func SetValues(settings any, raw json.RawMessage) error {
	_, err := setValues(settings, raw)
	return err
}

// SetAll is SetValues for values that somebody wrote: the key of a choice that the settings have not made is an error.
func SetAll(settings any, raw json.RawMessage) error {
	ignored, err := setValues(settings, raw)
	return cmp.Or(err, ignored)
}

// setValues is SetValues. ignored is an error about one of the keys that it ignores, or nil.
func setValues(settings any, raw json.RawMessage) (ignored, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, errors.New("settings must be a JSON object, {KEY: VALUE}")
	}
	for _, choices := range []bool{true, false} { // choices first, because they add keys
		for _, f := range fields(settings) {
			text, given := values[f.Name]
			if !given || (f.Kind == kindChoice) != choices {
				continue
			}
			if err := f.setJSON(text); err != nil {
				return nil, fmt.Errorf("key %q: %w", f.Name, err)
			}
		}
	}
	names := KeyNames(settings)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(names, name) {
			continue
		}
		if needs := NeedsChoice(settings, name); needs != nil {
			ignored = cmp.Or(ignored, needs)
			continue
		}
		if value, ok := retired[name]; ok {
			if string(values[name]) == strconv.Quote(value) {
				continue
			}
			return nil, fmt.Errorf("key %q was removed; results with a value other than %q cannot be read", name, value)
		}
		return nil, unknownKey(settings, name)
	}
	return ignored, nil
}

// Shape returns the values that shape the computation, by key. One compilation can serve settings for which they are
// equal.
func Shape(settings any) map[string]any {
	out := map[string]any{}
	for _, f := range fields(settings) {
		if !f.PerRun || f.off {
			out[f.Name] = f.get()
		}
	}
	return out
}

// Share gives each key that several parts of settings have the value of the first of these parts. It returns an error
// if a field cannot be a key, or if parts have fields of different types for one key.
func Share(settings any) error {
	for _, f := range fields(settings) {
		first := f.slots[0].value.Type()
		isKey := func(t reflect.Type) bool { return first == t || first.Kind() == t.Kind() && t.Kind() != reflect.Slice }
		if first.Kind() != reflect.Interface && !slices.ContainsFunc(keyTypes, isKey) {
			return fmt.Errorf("the key %s cannot be %v: the field must be int, float64, bool, string or []int", f.Name, first)
		}
		for _, other := range f.slots[1:] {
			if t := other.value.Type(); t != first {
				return fmt.Errorf("two parts of the settings have the key %s, which is %v in one and %v in the other; give "+
					"one field another key by the tag `key`", f.Name, first, t)
			}
		}
		if len(f.slots) > 1 {
			if err := f.set(fmt.Sprint(f.get())); err != nil {
				return err
			}
		}
	}
	return nil
}

// retired maps keys that settings no longer have to the one value that is still supported. Results with this value can
// be read.
var retired = map[string]string{"last-layer": "gradient"}
