package loop

import (
	"reflect"
	"unsafe"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
)

// closure is GoMLX's NewClosure, inside another function too, as a simulation's loop over periods is. GoMLX v0.28.2
// makes every closure one of the main function. It keeps scalar constants, and go-xla v0.4.1 the functions of
// reductions, for the program as a whole, although a function cannot use those of another. So while the closure is
// defined, the function being built stands in for the main one, and these stores are empty.
func closure(g *Graph, define func(g *Graph) []*Node) *Function {
	builder := builderOf(g)
	defer replace(private(g, "builder"), reflect.ValueOf(nested{builder, g}))()
	for _, store := range stores(g, builder) {
		defer replace(store, reflect.MakeMap(store.Type()))()
	}
	return NewClosure(g, define)
}

// nests tells whether closure knows the fields of this version of the libraries: their names are private.
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

// nested is a builder that takes the function being built for the main one.
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

// stores are the maps of a program whose entries belong to one of its functions.
func stores(g *Graph, b compute.Builder) []reflect.Value {
	return []reflect.Value{
		private(g, "scalars"),
		private(b, "cacheReductions"), private(b, "cacheArgMinMax"), private(b, "cacheSelections"),
	}
}

// private is a field of a struct of another package; it is not valid where the struct has none of that name.
func private(pointer any, field string) reflect.Value {
	f := reflect.ValueOf(pointer).Elem().FieldByName(field)
	if !f.IsValid() {
		return f
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// replace sets a field, and returns what sets it back.
func replace(field, value reflect.Value) (back func()) {
	old := reflect.New(field.Type()).Elem()
	old.Set(field)
	field.Set(value)
	return func() { field.Set(old) }
}
