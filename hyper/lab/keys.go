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

// Key describes one number or choice of a Setting. Keys are the exported fields of the world and of the learner,
// including the fields of embedded structs, that have the tag `help`. The name of a key is the name of its field in
// lower case, as step-size for StepSize, unless the tag `key` gives another name. The tag `run:"true"` marks a float64
// that does not shape the computation: runs with different values share one compilation. The tag `run:"positive"` marks
// such a float64 for which 0 means a computation without it. A field of an interface type is a [Choice], and the fields
// of its value are keys that follow it.
type Key struct {
	Name, Help string
	Kind       string // "int", "number", "text", "yes or no", "widths" or "choice"
	Default    string
	PerRun     bool // the value does not shape the computation
	Choices    []string
}

// fields lists the keys of a setting. The keys of the world come first.
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

// fieldsOf lists the keys of a struct whose fields can be set. The keys of a choice's value have the name of the choice
// as a prefix.
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

// keyedField is a field of a struct type that is a key.
type keyedField struct {
	Key
	index    []int
	positive bool // the value 0 means a computation without the number
}

// keyedFields caches the results of [keyed], by struct type and choice, because settings are read many times.
var keyedFields sync.Map

// keyed lists the fields of a struct type that are keys. It does not list the names of choices, because programs may
// add some.
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

// settable returns a copy of a value that can be set. The value in an interface cannot be set.
func settable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

// KeyName returns the name of the key for a field of a settings struct.
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

// kebab turns a Go name into the name of a key: IndexDim becomes index-dim, and KLStrength becomes kl-strength.
func kebab(name string) string {
	return strings.ToLower(words.ReplaceAllString(name, "$1$3-$2$4"))
}

// words matches the places where one word of a Go name ends and the next begins.
var words = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// Keys lists the keys of a setting, with their present values as defaults.
func Keys(s *Setting) []Key {
	var keys []Key
	for _, f := range fields(s) {
		f.Default = fmt.Sprint(f.get())
		keys = append(keys, f.Key)
	}
	return keys
}

// HasKey reports whether the setting has the key.
func HasKey(s *Setting, name string) bool { return slices.Contains(keyNames(s), name) }

// Set parses text and assigns it to a key of a setting.
func Set(s *Setting, name, text string) error {
	for _, f := range fields(s) {
		if f.Name == name {
			return f.set(text)
		}
	}
	return unknownKey(s, name)
}

// unknownKey returns an error: the setting lacks the key, or the key belongs to a choice that the setting has not made.
func unknownKey(s *Setting, name string) error {
	if err := needsChoice(s, name); err != nil {
		return err
	}
	return fmt.Errorf("unknown key %q%s; the keys are %s", name, nearest.Hint(name, keyNames(s)),
		strings.Join(keyNames(s), ", "))
}

// needsChoice returns an error that names the choice that a setting needs in order to have a key. It returns nil if no
// choice has the key.
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

// SetValues fills a setting from a JSON object of keys and values. Unknown keys and values of wrong types are errors.
// SetValues ignores the keys of choices that the setting has not made.
func SetValues(s *Setting, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for _, choices := range []bool{true, false} { // choices first, because they add keys
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
			return fmt.Errorf("key %q was removed; results with a value other than %q cannot be read", name, value)
		}
		return unknownKey(s, name)
	}
	return nil
}

// shape returns a string that is equal for settings that one computation can serve.
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
