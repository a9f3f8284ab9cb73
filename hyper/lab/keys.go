package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Key describes one number or choice of a Setting. The keys are the exported fields of the world and of the learner,
// those of embedded structs included, that have the tag `help`. A key is named after its field, as step-size after
// StepSize, unless the tag `key` names it. The tag `run:"true"` marks a float64 that does not shape the computation, so
// that runs with different values share one compilation; `run:"positive"` marks one that 0 turns off, for a computation
// without it. A field of an interface type is a [Choice], and the fields of its value are keys after it.
type Key struct {
	Name, Help string
	Kind       string // "int", "number", "text", "yes or no", "widths" or "choice"
	Default    string
	PerRun     bool // does not shape the computation
	Choices    []string
}

// fields lists the keys of a setting, those of the world first.
func fields(s *Setting) []field {
	var out []field
	for _, part := range []any{s.World, s.Learner, s} {
		for _, f := range fieldsOf(reflect.ValueOf(part).Elem(), "") {
			at := slices.IndexFunc(out, func(g field) bool { return g.Name == f.Name })
			if at < 0 {
				out = append(out, f)
				continue
			}
			out[at].slots = append(out[at].slots, f.slots...)
			out[at].PerRun = out[at].PerRun && f.PerRun
		}
	}
	return out
}

// fieldsOf lists the keys of a struct that can be set; those of a choice's value are named after the choice.
func fieldsOf(v reflect.Value, choice string) []field {
	var out []field
	for _, t := range keyed(v.Type(), choice) {
		x := v.FieldByIndex(t.index)
		f := field{Key: t.Key, slots: []slot{{value: x}}}
		f.off = t.positive && x.Float() == 0
		if f.Kind == kindChoice {
			f.Choices = Names(choicesOf(x.Type()))
		}
		out = append(out, f)
		if f.Kind == kindChoice && !x.IsNil() && x.Elem().Kind() == reflect.Struct {
			whole := settable(x.Elem())
			for _, g := range fieldsOf(whole, f.Name) {
				g.slots[0].in, g.slots[0].whole = x, whole
				out = append(out, g)
			}
		}
	}
	return out
}

// keyedField is a field of a struct's type that is a key.
type keyedField struct {
	Key
	index    []int
	positive bool // 0 turns it off
}

// keyedFields remembers what [keyed] found, by struct's type and choice: settings are read many times.
var keyedFields sync.Map

// keyed lists the fields of a struct's type that are keys. Choices are left open, as programs may add some.
func keyed(t reflect.Type, choice string) []keyedField {
	type of struct {
		reflect.Type
		choice string
	}
	if known, ok := keyedFields.Load(of{t, choice}); ok {
		return known.([]keyedField)
	}
	var out []keyedField
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("help") != "" {
			out = append(out, keyedField{keyOf(f, choice), f.Index, f.Tag.Get("run") == "positive"})
		}
	}
	keyedFields.Store(of{t, choice}, out)
	return out
}

// settable is a copy of a value, which can be set as the value in an interface cannot.
func settable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

// KeyName is the name of the key of a field of a settings' struct.
func KeyName(t reflect.StructField) string { return cmp.Or(t.Tag.Get("key"), kebab(t.Name)) }

func keyOf(t reflect.StructField, choice string) Key {
	k := Key{Name: KeyName(t), Help: t.Tag.Get("help"), PerRun: t.Tag.Get("run") != "", Kind: kindText}
	if choice != "" {
		k.Name = KeyOfChoice(choice, t.Name)
	}
	if kind, ok := kinds[t.Type.Kind()]; ok {
		k.Kind = kind
	}
	return k
}

// kebab is a Go name as a key: IndexDim is index-dim, and KLStrength kl-strength.
func kebab(name string) string {
	return strings.ToLower(words.ReplaceAllString(name, "$1$3-$2$4"))
}

// words finds where a word ends and the next begins.
var words = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// Keys lists the keys of a setting with their present values as defaults.
func Keys(s *Setting) []Key {
	var keys []Key
	for _, f := range fields(s) {
		f.Default = fmt.Sprint(f.get())
		keys = append(keys, f.Key)
	}
	return keys
}

// HasKey tells whether the setting has the key.
func HasKey(s *Setting, name string) bool { return slices.Contains(keyNames(s), name) }

// Set parses text into the key of a setting.
func Set(s *Setting, name, text string) error {
	for _, f := range fields(s) {
		if f.Name == name {
			return f.set(text)
		}
	}
	return unknownKey(s, name)
}

// unknownKey says that a setting lacks a key, or that it is one of another choice.
func unknownKey(s *Setting, name string) error {
	if err := needsChoice(s, name); err != nil {
		return err
	}
	return fmt.Errorf("unknown key %q%s; the keys are %s", name, nearest.Hint(name, keyNames(s)),
		strings.Join(keyNames(s), ", "))
}

// needsChoice says which choice of which key a setting would need to have a key, or is nil when none would do.
func needsChoice(s *Setting, name string) error {
	for _, f := range fields(s) {
		if f.Kind != kindChoice {
			continue
		}
		for _, c := range choicesOf(f.slots[0].value.Type()) {
			v := reflect.ValueOf(c.Value)
			named := func(g field) bool { return g.Name == name }
			if v.Kind() == reflect.Struct && slices.ContainsFunc(fieldsOf(v, f.Name), named) {
				return fmt.Errorf("key %q needs %s=%s", name, f.Name, c.Name)
			}
		}
	}
	return nil
}

func keyNames(s *Setting) []string {
	var names []string
	for _, f := range fields(s) {
		names = append(names, f.Name)
	}
	return names
}

// Values returns the setting as a map from keys to values.
func Values(s *Setting) map[string]any {
	out := map[string]any{}
	for _, f := range fields(s) {
		out[f.Name] = f.get()
	}
	return out
}

// SetValues fills a setting from a JSON object of keys and values; unknown keys and wrong types are errors. Keys of
// choices that are not made are left out.
func SetValues(s *Setting, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for _, choices := range []bool{true, false} { // which have keys of their own
		for _, f := range fields(s) {
			text, given := values[f.Name]
			if !given || (f.Kind == kindChoice) != choices {
				continue
			}
			if err := f.setJSON(text); err != nil {
				return fmt.Errorf("key %q: %w", f.Name, err)
			}
		}
	}
	names := keyNames(s)
	for name, text := range values {
		if slices.Contains(names, name) || needsChoice(s, name) != nil {
			continue
		}
		if value, ok := retired[name]; ok {
			if string(text) == strconv.Quote(value) {
				continue
			}
			return fmt.Errorf("key %q is no more; results with other values than %q cannot be read", name, value)
		}
		return unknownKey(s, name)
	}
	return nil
}

// shape returns what shapes the computation of a setting, as a string that equal shapes share.
func shape(s *Setting) string {
	values := map[string]any{}
	for _, f := range fields(s) {
		if !f.PerRun || f.off {
			values[f.Name] = f.get()
		}
	}
	_, values["file_sha256"] = s.source()
	text, _ := json.Marshal(values) // sorted by key
	return string(text)
}
