package hyper

import (
	"reflect"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Numbers holds the numbers of a value (a world, a learner, a policy) that do not determine the shape of the
// computation. The keys are the names of the value's fields, and each number is float32 [runs]. The runs of one batch
// may have different numbers. nil means that all runs are the same: each number is then the number in the value.
type Numbers map[string]*Node

// Of returns a number for each run of the stream, [runs]. It is own, the value's number, if Numbers does not contain
// the name.
func (n Numbers) Of(s rng.Stream, name string, own float64) *Node {
	if x := n[name]; x != nil {
		return x
	}
	return BroadcastToShape(Const(s.Graph(), float32(own)), shapes.Make(dtypes.Float32, s.Runs()))
}

// Part returns the numbers whose names begin with a prefix. It removes the prefix from their names.
func (n Numbers) Part(prefix string) Numbers {
	out := Numbers{}
	for name, x := range n {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			out[rest] = x
		}
	}
	return out
}

// NumbersOf returns the numbers of a struct, or of the struct that a pointer points to: the exported float64 fields
// with the tag run:"true", or with the tag run:"positive" and a number other than 0. It includes the fields of embedded
// structs, and of the values of embedded interfaces.
func NumbersOf(value any) map[string]float64 {
	out := map[string]float64{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch run := f.Tag.Get("run"); {
			case f.Anonymous:
				walk(v.Field(i))
			case run == "true", run == "positive" && v.Field(i).Float() != 0:
				out[f.Name] = v.Field(i).Float()
			}
		}
	}
	walk(reflect.ValueOf(value))
	return out
}
