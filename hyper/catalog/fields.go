package catalog

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/keyname"
)

// fields lists the keys of settings.
func fields(settings any) []field {
	v := structOf(settings)
	t := keyed(v.Type(), "")
	var out []field
	add := func(more []field) {
	next:
		for _, f := range more {
			for i := range out {
				if out[i].Name == f.Name {
					out[i].slots = append(out[i].slots, f.slots...)
					out[i].PerRun = out[i].PerRun && f.PerRun
					continue next
				}
			}
			out = append(out, f)
		}
	}
	for _, index := range t.parts {
		if part := v.FieldByIndex(index); !part.IsNil() {
			add(fields(part.Interface()))
		}
	}
	add(fieldsOf(v, t.fields, ""))
	return out
}

// structOf returns the struct that settings point to.
func structOf(settings any) reflect.Value {
	v := reflect.ValueOf(settings)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("catalog: settings must be a pointer to a struct, got %T", settings))
	}
	return v.Elem()
}

// fieldsOf lists the keys of a struct whose fields can be set. The keys of a choice's value have the name of the choice
// as a prefix.
func fieldsOf(v reflect.Value, keys []keyedField, choice string) []field {
	out, slots := make([]field, 0, len(keys)), make([]slot, len(keys))
	for i, t := range keys {
		x := v.FieldByIndex(t.index)
		slots[i].value = x
		f := field{Key: t.Key, slots: slots[i : i+1 : i+1]}
		f.off = t.positive && x.Float() == 0
		if f.Kind == kindChoice {
			f.Choices = listOf(x.Type()).names()
		}
		out = append(out, f)
		if f.Kind == kindChoice && !x.IsNil() && x.Elem().Kind() == reflect.Struct {
			whole := settable(x.Elem())
			for _, g := range fieldsOf(whole, keyed(whole.Type(), f.Name).fields, f.Name) {
				g.slots[0].in, g.slots[0].whole = x, whole
				out = append(out, g)
			}
		}
	}
	return out
}

// keyedField is a field of a struct type that is a key.
type keyedField struct {
	Key
	index    []int
	positive bool // the value 0 means a computation without the number
}

// keyedStruct holds the fields of a struct type that are keys, and the fields that hold further settings.
type keyedStruct struct {
	fields []keyedField
	parts  [][]int
}

// keyedStructs caches the results of [keyed], by struct type and choice, because settings are read many times.
var keyedStructs sync.Map

// keyed lists the fields of a struct type that are keys. It does not list the names of choices, because programs may
// add some.
func keyed(t reflect.Type, choice string) keyedStruct {
	type of struct {
		reflect.Type
		choice string
	}
	if known, ok := keyedStructs.Load(of{t, choice}); ok {
		return known.(keyedStruct)
	}
	var out keyedStruct
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("help") != "" {
			out.fields = append(out.fields, keyedField{keyOf(f, choice), f.Index, f.Tag.Get("run") == "positive"})
		}
		if f.Tag.Get("part") != "" {
			out.parts = append(out.parts, f.Index)
		}
	}
	keyedStructs.Store(of{t, choice}, out)
	return out
}

// settable returns a copy of a value that can be set. The value in an interface cannot be set.
func settable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

func keyOf(t reflect.StructField, choice string) Key {
	k := Key{Name: keyname.Of(t), Help: t.Tag.Get("help"), PerRun: t.Tag.Get("run") != "", Kind: kindText}
	if choice != "" {
		k.Name = keyname.OfChoice(choice, t.Name)
	}
	if kind, ok := kinds[t.Type.Kind()]; ok {
		k.Kind = kind
	}
	return k
}
