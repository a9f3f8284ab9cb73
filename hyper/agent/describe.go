package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// describe returns a configuration as JSON that a person can read: every part of the agent, with its type. It leaves
// out zero values. It describes a function by its name, because the value of a function cannot be compared.
func describe(c Config) (json.RawMessage, error) {
	return json.Marshal(valueOf(reflect.ValueOf(c), 0))
}

// fingerprint returns the SHA-256 hash of a description, in hexadecimal.
func fingerprint(description []byte) string { return fmt.Sprintf("%x", sha256.Sum256(description)) }

// deepest bounds how far valueOf follows pointers, which may go in a circle.
const deepest = 50

// valueOf converts a value of any type, with its unexported fields, to maps, slices and numbers.
func valueOf(v reflect.Value, depth int) any {
	if depth > deepest {
		return "..."
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fields[v.Type().Field(i).Name] = valueOf(f, depth+1)
			}
		}
		return fields
	case reflect.Interface:
		return typed(v.Elem(), depth+1)
	case reflect.Pointer:
		return valueOf(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		elements := make([]any, v.Len())
		for i := range elements {
			elements[i] = valueOf(v.Index(i), depth+1)
		}
		return elements
	case reflect.Map:
		entries := map[string]any{}
		for _, key := range v.MapKeys() {
			entries[fmt.Sprint(valueOf(key, depth+1))] = valueOf(v.MapIndex(key), depth+1)
		}
		return entries
	case reflect.Func:
		return function + runtime.FuncForPC(v.Pointer()).Name()
	}
	return scalarOf(v)
}

// scalarOf returns a number, a boolean or a string; it prints a value of any other type.
func scalarOf(v reflect.Value) any {
	switch {
	case v.CanInt() && v.CanInterface() && v.Type().Implements(reflect.TypeFor[fmt.Stringer]()): // an enumeration
		return fmt.Sprint(v)
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		return v.Float()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.String:
		return v.String()
	}
	return fmt.Sprint(v)
}

// function is the prefix of the description of a function.
const function = "function "

// typed returns the value in an interface, with its type.
func typed(v reflect.Value, depth int) any {
	if !v.IsValid() {
		return nil
	}
	out, ok := valueOf(v, depth).(map[string]any)
	if !ok {
		out = map[string]any{"value": valueOf(v, depth)}
	}
	out["type"] = v.Type().String()
	return out
}

// serving lists the fields of a Config that control how an agent runs. They do not define what the agent is.
var serving = []string{"Backend", "Pending", "Expire", "Reward", "Background"}

// differences names the fields in which two descriptions differ, with both values. The fields in serving may differ.
// Load compares Learner.Train.Capacity with the data, and compares functions by what they drew.
func differences(saved, own []byte) ([]string, error) {
	a, err := parsed(saved)
	if err != nil {
		return nil, err
	}
	b, err := parsed(own)
	if err != nil {
		return nil, err
	}
	return differ("", a, b), nil
}

func parsed(description []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(description))
	d.UseNumber() // seeds have more digits than a float64
	err = d.Decode(&v)
	return v, err
}

func differ(at string, a, b any) []string {
	top, _, _ := strings.Cut(at, ".")
	if slices.Contains(serving, top) || at == "Learner.Train.Capacity" || isFunction(a) || isFunction(b) ||
		reflect.DeepEqual(a, b) {
		return nil
	}
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if !isMap || !both || x["type"] != y["type"] {
		return []string{fmt.Sprintf("%s: %s in the file, %s here", at, brief(a), brief(b))}
	}
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, differ(strings.TrimPrefix(at+"."+key, "."), x[key], y[key])...)
	}
	return all
}

func isFunction(v any) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, function)
}

// brief prints a value of a description in a few words.
func brief(v any) string {
	if v == nil {
		return "not set"
	}
	if m, ok := v.(map[string]any); ok && m["type"] != nil {
		return fmt.Sprint(m["type"])
	}
	text, _ := json.Marshal(v)
	if len(text) > 60 {
		return string(text[:60]) + "..."
	}
	return string(text)
}
