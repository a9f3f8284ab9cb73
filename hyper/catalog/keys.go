package catalog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/keyname"
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

// fields lists the keys of settings.
func fields(settings any) []field {
	v := structOf(settings)
	t := keyed(v.Type(), "")
	var out []field
	add := func(more []field) {
		for _, f := range more {
			at := slices.IndexFunc(out, func(g field) bool { return g.Name == f.Name })
			if at < 0 {
				out = append(out, f)
				continue
			}
			out[at].slots = append(out[at].slots, f.slots...)
			out[at].PerRun = out[at].PerRun && f.PerRun
		}
	}
	for _, index := range t.parts {
		if part := v.FieldByIndex(index); !part.IsNil() {
			add(fields(part.Interface()))
		}
	}
	add(fieldsOf(v, t.fields, ""))
	return out
}

// structOf returns the struct that settings point to.
func structOf(settings any) reflect.Value {
	v := reflect.ValueOf(settings)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("catalog: settings must be a pointer to a struct, got %T", settings))
	}
	return v.Elem()
}

// fieldsOf lists the keys of a struct whose fields can be set. The keys of a choice's value have the name of the choice
// as a prefix.
func fieldsOf(v reflect.Value, keys []keyedField, choice string) []field {
	var out []field
	for _, t := range keys {
		x := v.FieldByIndex(t.index)
		f := field{Key: t.Key, slots: []slot{{value: x}}}
		f.off = t.positive && x.Float() == 0
		if f.Kind == kindChoice {
			f.Choices = listOf(x.Type()).names()
		}
		out = append(out, f)
		if f.Kind == kindChoice && !x.IsNil() && x.Elem().Kind() == reflect.Struct {
			whole := settable(x.Elem())
			for _, g := range fieldsOf(whole, keyed(whole.Type(), f.Name).fields, f.Name) {
				g.slots[0].in, g.slots[0].whole = x, whole
				out = append(out, g)
			}
		}
	}
	return out
}

// keyedField is a field of a struct type that is a key.
type keyedField struct {
	Key
	index    []int
	positive bool // the value 0 means a computation without the number
}

// keyedStruct holds the fields of a struct type that are keys, and the fields that hold further settings.
type keyedStruct struct {
	fields []keyedField
	parts  [][]int
}

// keyedStructs caches the results of [keyed], by struct type and choice, because settings are read many times.
var keyedStructs sync.Map

// keyed lists the fields of a struct type that are keys. It does not list the names of choices, because programs may
// add some.
func keyed(t reflect.Type, choice string) keyedStruct {
	type of struct {
		reflect.Type
		choice string
	}
	if known, ok := keyedStructs.Load(of{t, choice}); ok {
		return known.(keyedStruct)
	}
	var out keyedStruct
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("help") != "" {
			out.fields = append(out.fields, keyedField{keyOf(f, choice), f.Index, f.Tag.Get("run") == "positive"})
		}
		if f.Tag.Get("part") != "" {
			out.parts = append(out.parts, f.Index)
		}
	}
	keyedStructs.Store(of{t, choice}, out)
	return out
}

// settable returns a copy of a value that can be set. The value in an interface cannot be set.
func settable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

func keyOf(t reflect.StructField, choice string) Key {
	k := Key{Name: keyname.Of(t), Help: t.Tag.Get("help"), PerRun: t.Tag.Get("run") != "", Kind: kindText}
	if choice != "" {
		k.Name = keyname.OfChoice(choice, t.Name)
	}
	if kind, ok := kinds[t.Type.Kind()]; ok {
		k.Kind = kind
	}
	return k
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
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for _, choices := range []bool{true, false} { // choices first, because they add keys
		for _, f := range fields(settings) {
			text, given := values[f.Name]
			if !given || (f.Kind == kindChoice) != choices {
				continue
			}
			if err := f.setJSON(text); err != nil {
				return fmt.Errorf("key %q: %w", f.Name, err)
			}
		}
	}
	names := KeyNames(settings)
	for name, text := range values {
		if slices.Contains(names, name) || NeedsChoice(settings, name) != nil {
			continue
		}
		if value, ok := retired[name]; ok {
			if string(text) == strconv.Quote(value) {
				continue
			}
			return fmt.Errorf("key %q was removed; results with a value other than %q cannot be read", name, value)
		}
		return unknownKey(settings, name)
	}
	return nil
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

// Share gives each key that several parts of settings have the value of the first of these parts.
func Share(settings any) error {
	for _, f := range fields(settings) {
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
