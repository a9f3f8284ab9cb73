package loop

import (
	"reflect"
	"unsafe"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
)

// closure is GoMLX's NewClosure that also works inside another function, such as a simulation's loop over periods.
// GoMLX v0.28.2 adds every closure to the main function. GoMLX also caches scalar constants, and go-xla v0.4.1 the
// functions of reductions, for the whole program, although a function cannot use those of another function. While
// closure defines the function, it therefore replaces the main function by the function that is being built, and makes
// these caches empty.
func closure(g *Graph, define func(g *Graph) []*Node) *Function {
	if !nests(g) {
		return NewClosure(g, define)
	}
	builder := builderOf(g)
	defer replace(private(g, "builder"), reflect.ValueOf(nested{builder, g}))()
	for _, store := range stores(g, builder) {
		defer replace(store, reflect.MakeMap(store.Type()))()
	}
	return NewClosure(g, define)
}

// nests reports whether closure knows the private fields of the present version of the libraries.
func nests(g *Graph) bool {
	if !private(g, "builder").IsValid() || !private(g.CurrentFunc(), "backendFunc").IsValid() {
		return false
	}
	for _, store := range stores(g, builderOf(g)) {
		if !store.IsValid() || store.Kind() != reflect.Map {
			return false
		}
	}
	return true
}

// nested is a builder whose main function is the function that is being built.
type nested struct {
	compute.Builder
	g *Graph
}

func (n nested) Main() compute.Function {
	return private(n.g.CurrentFunc(), "backendFunc").Interface().(compute.Function)
}

func builderOf(g *Graph) compute.Builder {
	builder := private(g, "builder").Interface().(compute.Builder)
	if n, ok := builder.(nested); ok {
		return n.Builder
	}
	return builder
}

// stores returns the caches of a program whose entries belong to one of its functions.
func stores(g *Graph, b compute.Builder) []reflect.Value {
	return []reflect.Value{
		private(g, "scalars"),
		private(b, "cacheReductions"), private(b, "cacheArgMinMax"), private(b, "cacheSelections"),
	}
}

// private returns a field of a struct of another package. The result is not valid if the struct has no field with that
// name.
func private(pointer any, field string) reflect.Value {
	f := reflect.ValueOf(pointer).Elem().FieldByName(field)
	if !f.IsValid() {
		return f
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// replace sets a field, and returns a function that restores it.
func replace(field, value reflect.Value) (back func()) {
	old := reflect.New(field.Type()).Elem()
	old.Set(field)
	field.Set(value)
	return func() { field.Set(old) }
}
