// Package promoted detects methods that a type may have from a part that it embeds. Such a type may change the
// behaviour of the part. Therefore another implementation of the part's work may not be correct for the type.
package promoted

import "reflect"

// Has reports whether a value's methods of the interface I may come from a part that it embeds.
func Has[I any](v any) bool {
	methods, t := reflect.TypeFor[I](), reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && (f.Type.Implements(methods) || reflect.PointerTo(f.Type).Implements(methods)) {
			return true
		}
	}
	return false
}
