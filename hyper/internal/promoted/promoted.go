// Package promoted tells methods that a type may have from a part that it embeds. Such a type may have changed what the
// part does, so that another form of the part's work is no longer a form of its own.
package promoted

import "reflect"

// By tells whether a value's methods of the interface I may be those of a part that it embeds.
func By[I any](v any) bool {
	of, t := reflect.TypeFor[I](), reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && (f.Type.Implements(of) || reflect.PointerTo(f.Type).Implements(of)) {
			return true
		}
	}
	return false
}
