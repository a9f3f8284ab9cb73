// Package keyname makes the names of keys from the names of Go fields. Packages catalog and learners use it.
package keyname

import (
	"cmp"
	"reflect"
	"regexp"
	"strings"
)

// Of returns the name of the key for a field of settings: the tag `key`, or else the field's name in [Kebab] case.
func Of(t reflect.StructField) string { return cmp.Or(t.Tag.Get("key"), Kebab(t.Name)) }

// OfChoice returns the name of the key for a field of the value of a choice, as policy-quantile for the field Quantile
// of a policy.
func OfChoice(choice, field string) string {
	key := choice + "-" + Kebab(field)
	return cmp.Or(older[key], key)
}

// older maps names to the names that these keys have had since the first results.
var older = map[string]string{"policy-n": "policy-samples", "policy-anneal": "anneal"}

// Kebab turns a Go name into words in lower case: IndexDim becomes index-dim, and KLStrength becomes kl-strength.
func Kebab(name string) string { return strings.ToLower(ends.ReplaceAllString(name, "$1$3-$2$4")) }

// ends matches the places where one word of a Go name ends and the next begins.
var ends = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
