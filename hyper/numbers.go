package hyper

import (
	"reflect"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Numbers are the numbers of a value (a world, a learner, a policy) that do not shape the computation, float32 [runs]
// each, by the names of the value's fields. Runs of one batch may differ in them. nil is for runs that are all alike:
// each number is then the one in the value.
type Numbers map[string]*Node

// Of returns a number, [runs]: that of the runs of the stream, or the value's own where Numbers do not have it.
func (n Numbers) Of(s rng.Stream, name string, own float64) *Node {
	if x := n[name]; x != nil {
		return x
	}
	return BroadcastToShape(Const(s.Graph(), float32(own)), shapes.Make(dtypes.Float32, s.Runs()))
}

// Part returns the numbers whose names begin with a prefix, without it.
func (n Numbers) Part(prefix string) Numbers {
	out := Numbers{}
	for name, x := range n {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			out[name[len(prefix):]] = x
		}
	}
	return out
}

// NumbersOf returns the numbers of a struct, or of what a pointer points to: its exported float64 fields with the tag
// run:"true", and those of embedded structs and of what embedded interfaces hold.
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
			switch f := v.Type().Field(i); {
			case f.Anonymous:
				walk(v.Field(i))
			case f.Tag.Get("run") == "true":
				out[f.Name] = v.Field(i).Float()
			}
		}
	}
	walk(reflect.ValueOf(value))
	return out
}
