package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/keyname"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// The kinds of keys, for Key.Kind.
const (
	kindInt    = "int"
	kindNumber = "number"
	kindBool   = "yes or no"
	kindWidths = "widths"
	kindChoice = "choice"
	kindText   = "text"
)

// kinds maps the kinds of Go fields to the kinds of keys. All other fields are text.
var kinds = map[reflect.Kind]string{
	reflect.Int: kindInt, reflect.Float64: kindNumber, reflect.Bool: kindBool, reflect.Slice: kindWidths,
	reflect.Interface: kindChoice,
}

// field is a key with the slots that hold its value: in the world, in the learner, or in both.
type field struct {
	Key
	slots []slot
	off   bool // whether the number is 0 and 0 means a computation without it
}

// slot is a field of a struct that holds a value. For a field of a choice's value, whole is a copy of that value, which
// set puts back into the interface in.
type slot struct{ value, whole, in reflect.Value }

// get returns the value in the form that results have.
func (f field) get() any {
	switch v := f.slots[0].value; f.Kind {
	case kindBool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case kindWidths:
		return widths(v.Interface().([]int))
	case kindChoice:
		return choiceName(v)
	case kindText:
		return v.String()
	default:
		return v.Interface()
	}
}

func choiceName(v reflect.Value) string {
	if v.IsNil() {
		return ""
	}
	if name, ok := listOf(v.Type()).nameOf(v.Elem().Type()); ok {
		return name
	}
	return keyname.Kebab(v.Elem().Type().Name())
}

// set parses a text and assigns it. A choice that has the value already keeps its settings.
func (f field) set(text string) error {
	for _, p := range f.slots {
		if f.Kind == kindChoice && !p.value.IsNil() && choiceName(p.value) == text {
			continue
		}
		x, err := f.parse(text, p.value.Type())
		if err != nil {
			return fmt.Errorf("%s=%s: want %w", f.Name, text, err)
		}
		p.value.Set(reflect.ValueOf(x).Convert(p.value.Type()))
		if p.in.IsValid() {
			p.in.Set(p.whole)
		}
	}
	return nil
}

// parse converts text to a value for a field of a type. The error says what the text must be.
func (f field) parse(text string, t reflect.Type) (any, error) {
	switch f.Kind {
	case kindInt:
		n, err := strconv.Atoi(text)
		switch {
		case errors.Is(err, strconv.ErrRange):
			err = errors.New("a number nearer to 0")
		case err != nil:
			err = errors.New("a whole number")
		}
		return n, err
	case kindNumber:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			err = errors.New("a finite number")
		} else if math.IsInf(float64(float32(x)), 0) { // computations use float32
			err = fmt.Errorf("a number from %.4g to %.4g", -math.MaxFloat32, math.MaxFloat32)
		}
		return x, err
	case kindBool:
		if text != "yes" && text != "no" {
			return nil, errors.New("yes or no")
		}
		return text == "yes", nil
	case kindWidths:
		return parseWidths(text)
	case kindChoice:
		if value, ok := listOf(t).value(text); ok {
			return value, nil
		}
		return nil, fmt.Errorf("one of %s%s", strings.Join(f.Choices, ", "), nearest.Hint(text, f.Choices))
	}
	return text, nil
}

// setJSON sets the field to a JSON value: a number or a text. In records of searches, a number may be a text. For yes
// and no a person may write true and false.
func (f field) setJSON(raw json.RawMessage) error {
	text := string(raw)
	switch {
	case strings.HasPrefix(text, `"`):
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	case f.Kind == kindText:
		return fmt.Errorf("want a text in quotes, got %.40s", text)
	case f.Kind == kindBool && text == "true":
		text = "yes"
	case f.Kind == kindBool && text == "false":
		text = "no"
	}
	return f.set(text)
}

const noWidths = "none"

// widths writes the widths of hidden layers, as 10x10.
func widths(w []int) string {
	if len(w) == 0 {
		return noWidths
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(w), "[]"), " ", "x")
}

func parseWidths(text string) (out []int, err error) {
	if text == noWidths {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("widths of hidden layers joined by x, as 10x10, or %s", noWidths)
		}
		out = append(out, n)
	}
	return out, nil
}
