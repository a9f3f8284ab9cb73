package lab

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Key describes one number or choice of a Setting.
type Key struct {
	Name, Help string
	Kind       string // "int", "number" or "text"
	Default    string
	PerRun     bool // does not shape the computation
}

// field is a key with the value behind it.
type field struct {
	Key
	value reflect.Value
	off   bool // a number that 0 turns off, and it is 0: a computation without it
}

// fields lists the tagged fields of a setting, those of embedded structs first where they come first.
func fields(s Setting) []field {
	var out []field
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Anonymous {
				walk(v.Field(i))
				continue
			}
			name := f.Tag.Get("key")
			if name == "" {
				continue
			}
			kind := map[reflect.Kind]string{reflect.Int: "int", reflect.Float64: "number", reflect.String: "text"}[f.Type.Kind()]
			run := f.Tag.Get("run")
			k := Key{Name: name, Help: f.Tag.Get("help"), Kind: kind, PerRun: run != ""}
			out = append(out, field{Key: k, value: v.Field(i), off: run == "positive" && v.Field(i).Float() == 0})
		}
	}
	walk(reflect.ValueOf(s).Elem())
	return out
}

// Keys lists the keys of a setting with their present values as defaults.
func Keys(s Setting) []Key {
	var keys []Key
	for _, f := range fields(s) {
		f.Default = fmt.Sprint(f.value.Interface())
		keys = append(keys, f.Key)
	}
	return keys
}

// HasKey tells whether the setting has the key.
func HasKey(s Setting, name string) bool {
	for _, f := range fields(s) {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Set parses text into the key of a setting.
func Set(s Setting, name, text string) error {
	for _, f := range fields(s) {
		if f.Name != name {
			continue
		}
		switch f.value.Kind() {
		case reflect.Int:
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%s=%s: want a whole number", name, text)
			}
			f.value.SetInt(int64(n))
		case reflect.Float64:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%s=%s: want a finite number", name, text)
			}
			f.value.SetFloat(x)
		default:
			f.value.SetString(text)
		}
		return nil
	}
	return unknownKey(s, name)
}

func unknownKey(s Setting, name string) error {
	return fmt.Errorf("unknown key %q%s; the keys are %s", name, nearest.Hint(name, keyNames(s)),
		strings.Join(keyNames(s), ", "))
}

func keyNames(s Setting) []string {
	var names []string
	for _, f := range fields(s) {
		names = append(names, f.Name)
	}
	return names
}

// Values returns the setting as a map from keys to values.
func Values(s Setting) map[string]any {
	out := map[string]any{}
	for _, f := range fields(s) {
		out[f.Name] = f.value.Interface()
	}
	return out
}

// setValues fills a setting from JSON; unknown keys and wrong types are errors.
func setValues(s Setting, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	known := map[string]reflect.Value{}
	for _, f := range fields(s) {
		known[f.Name] = f.value
	}
	for name, v := range values {
		target, ok := known[name]
		if !ok {
			return unknownKey(s, name)
		}
		if err := json.Unmarshal(v, target.Addr().Interface()); err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
	}
	return nil
}

// shape returns what shapes the computation of a setting, as a string that equal shapes share.
func shape(s Setting) string {
	values := map[string]any{}
	for _, f := range fields(s) {
		if !f.PerRun || f.off {
			values[f.Name] = f.value.Interface()
		}
	}
	text, _ := json.Marshal(values) // sorted by key
	return string(text)
}

// perRun returns the numbers that do not shape the computation.
func perRun(s Setting) map[string]float64 {
	out := map[string]float64{}
	for _, f := range fields(s) {
		if f.PerRun && !f.off {
			out[f.Name] = f.value.Float()
		}
	}
	return out
}
