package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// field is a key with the slots where its value is: in the world, in the learner, or in both.
type field struct {
	Key
	slots []slot
	off   bool // a number that 0 turns off, and it is 0: a computation without it
}

// slot is a field of a struct, or of the value that a choice has.
type slot struct {
	value reflect.Value
	in    *reflect.Value // the interface that holds the choice's value; nil for a field that can be set itself
	name  string         // of the field of that value
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

// fieldsOf lists the keys of a struct; those of a choice's value are named after the choice.
func fieldsOf(v reflect.Value, choice string) []field {
	var out []field
	for i := range v.NumField() {
		t := v.Type().Field(i)
		if t.Anonymous && t.Type.Kind() == reflect.Struct {
			out = append(out, fieldsOf(v.Field(i), choice)...)
			continue
		}
		if t.Tag.Get("help") == "" {
			continue
		}
		f := field{Key: keyOf(t, choice), slots: []slot{{value: v.Field(i), name: t.Name}}}
		f.off = t.Tag.Get("run") == "positive" && v.Field(i).Float() == 0
		out = append(out, f)
		if t.Type.Kind() == reflect.Interface && !v.Field(i).IsNil() {
			out = append(out, fieldsOfChoice(v.Field(i), f.Name)...)
		}
	}
	return out
}

// fieldsOfChoice lists the keys of the value that a choice has.
func fieldsOfChoice(in reflect.Value, choice string) []field {
	value := in.Elem()
	if value.Kind() != reflect.Struct {
		return nil
	}
	out := fieldsOf(value, choice)
	for i := range out {
		out[i].slots[0].in = &in
	}
	return out
}

// KeyName is the name of the key of a field of a settings' struct.
func KeyName(t reflect.StructField) string { return cmp.Or(t.Tag.Get("key"), kebab(t.Name)) }

// keyOf describes a field.
func keyOf(t reflect.StructField, choice string) Key {
	k := Key{Name: KeyName(t), Help: t.Tag.Get("help"), PerRun: t.Tag.Get("run") != ""}
	if choice != "" {
		k.Name = KeyOfChoice(choice, t.Name)
	}
	switch t.Type.Kind() {
	case reflect.Int:
		k.Kind = "int"
	case reflect.Float64:
		k.Kind = "number"
	case reflect.Bool:
		k.Kind = "yes or no"
	case reflect.Slice:
		k.Kind = "widths"
	case reflect.Interface:
		k.Kind = "choice"
		k.Choices = Names(choicesOf(t.Type))
	default:
		k.Kind = "text"
	}
	return k
}

// kebab is a Go name as a key: IndexDim is index-dim, and KLStrength kl-strength.
func kebab(name string) string {
	return strings.ToLower(words.ReplaceAllString(name, "$1$3-$2$4"))
}

// words finds where a word ends and the next begins.
var words = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// get is the value as results have it.
func (f field) get() any {
	v := f.slots[0].value
	switch f.Kind {
	case "yes or no":
		if v.Bool() {
			return "yes"
		}
		return "no"
	case "widths":
		return widths(v.Interface().([]int))
	case "choice":
		return choiceName(v)
	}
	if f.Kind == "text" {
		return v.String()
	}
	return v.Interface()
}

// choiceName is the name of the value that a choice has.
func choiceName(v reflect.Value) string {
	for _, c := range choicesOf(v.Type()) {
		if !v.IsNil() && reflect.TypeOf(c.Value) == v.Elem().Type() {
			return c.Name
		}
	}
	if v.IsNil() {
		return ""
	}
	return kebab(v.Elem().Type().Name())
}

// set parses text into the field.
func (f field) set(text string) error {
	for _, p := range f.slots {
		x, err := f.parse(text, p.value.Type())
		if err != nil {
			return fmt.Errorf("%s=%s: want %w", f.Name, text, err)
		}
		p.put(x)
	}
	return nil
}

// put sets the field to x.
func (p slot) put(x reflect.Value) {
	if p.in == nil {
		p.value.Set(x)
		return
	}
	whole := reflect.New(p.in.Elem().Type()).Elem() // a value in an interface cannot be set: a copy replaces it
	whole.Set(p.in.Elem())
	whole.FieldByName(p.name).Set(x)
	p.in.Set(whole)
}

// parse makes a value of a type; the error says what text must be.
func (f field) parse(text string, t reflect.Type) (reflect.Value, error) {
	switch f.Kind {
	case "int":
		n, err := strconv.Atoi(text)
		if err != nil {
			return reflect.Value{}, fmt.Errorf("a whole number")
		}
		return reflect.ValueOf(n), nil
	case "number":
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return reflect.Value{}, fmt.Errorf("a finite number")
		}
		return reflect.ValueOf(x), nil
	case "yes or no":
		if text != "yes" && text != "no" {
			return reflect.Value{}, fmt.Errorf("yes or no")
		}
		return reflect.ValueOf(text == "yes"), nil
	case "widths":
		w, err := parseWidths(text)
		return reflect.ValueOf(w), err
	case "choice":
		for _, c := range choicesOf(t) {
			if c.Name == text {
				return reflect.ValueOf(c.Value), nil
			}
		}
		return reflect.Value{}, fmt.Errorf("one of %s%s", strings.Join(f.Choices, ", "), nearest.Hint(text, f.Choices))
	}
	return reflect.ValueOf(text).Convert(t), nil
}

// noWidths stands for no hidden layer.
const noWidths = "none"

// widths writes hidden widths, as 10x10.
func widths(w []int) string {
	if len(w) == 0 {
		return noWidths
	}
	var parts []string
	for _, n := range w {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, "x")
}

// parseWidths reads hidden widths.
func parseWidths(text string) ([]int, error) {
	if text == noWidths {
		return nil, nil
	}
	var out []int
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("widths of hidden layers joined by x, as 10x10, or %s", noWidths)
		}
		out = append(out, n)
	}
	return out, nil
}

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
	if key, choice := otherChoice(s, name); choice != "" {
		return fmt.Errorf("key %q needs %s=%s", name, key, choice)
	}
	return fmt.Errorf("unknown key %q%s; the keys are %s", name, nearest.Hint(name, keyNames(s)),
		strings.Join(keyNames(s), ", "))
}

// otherChoice finds a key among those that a setting would have with another choice: which choice of which key.
func otherChoice(s *Setting, name string) (key, choice string) {
	for _, f := range fields(s) {
		if f.Kind != "choice" {
			continue
		}
		for _, c := range choicesOf(f.slots[0].value.Type()) {
			v := reflect.ValueOf(c.Value)
			if v.Kind() != reflect.Struct {
				continue
			}
			if slices.ContainsFunc(fieldsOf(v, f.Name), func(g field) bool { return g.Name == name }) {
				return f.Name, c.Name
			}
		}
	}
	return "", ""
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

// setValues fills a setting from JSON; unknown keys and wrong types are errors. Keys of choices that are not made are
// left out.
func setValues(s *Setting, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for _, choices := range []bool{true, false} { // which have keys of their own
		for _, f := range fields(s) {
			text, given := values[f.Name]
			if !given || (f.Kind == "choice") != choices {
				continue
			}
			if err := f.setJSON(text); err != nil {
				return fmt.Errorf("key %q: %w", f.Name, err)
			}
		}
	}
	for name, text := range values {
		if HasKey(s, name) {
			continue
		}
		if _, choice := otherChoice(s, name); choice != "" {
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

// setJSON sets the field to a JSON value: a number, or a text.
func (f field) setJSON(raw json.RawMessage) error {
	if f.Kind == "int" || f.Kind == "number" {
		for _, p := range f.slots {
			x := reflect.New(p.value.Type())
			if err := json.Unmarshal(raw, x.Interface()); err != nil {
				return err
			}
			p.put(x.Elem())
		}
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	return f.set(text)
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
