package agent

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Names converts named features, as a service receives them, to a vector of numbers. The value of a feature is a
// number, a boolean (1 or 0), or a text. A text becomes a feature named name=text with value 1. A feature that is Known
// must not be a text, unless that name=text is Known too.
type Names struct {
	// Known lists features with a number of their own, in this order; a feature that is missing is 0. For a text of the
	// feature country, an entry is country=fr.
	Known []string
	// Buckets is the number of buckets that all other features share by hashing (Weinberger et al. 2009). Each bucket is
	// one number of the vector: a feature adds its value to the bucket that its name selects, or subtracts it. If Buckets
	// is 0, other features are refused.
	Buckets int
}

// Validate reports empty or repeated names, and a negative number of Buckets.
func (n Names) Validate() error {
	errs := []error{faults.AtLeast("Buckets", n.Buckets, 0)}
	for i, name := range n.Known {
		if name == "" || slices.Contains(n.Known[:i], name) {
			errs = append(errs, fmt.Errorf("names must be different, and not empty, got %q at place %d", name, i))
		}
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("Known and Buckets together", n.Len()))
	}
	return errors.Join(errs...)
}

// Len returns the length of the vector.
func (n Names) Len() int { return len(n.Known) + max(n.Buckets, 0) }

// Numbers returns the vector of numbers of features. Their values are numbers of any type, bool or string. The error
// lists all features that are unknown, have another type, or are not finite: it wraps ErrNotFinite if a value is not
// between -1e18 and 1e18.
func (n Names) Numbers(features map[string]any) ([]float32, error) {
	out := make([]float32, n.Len())
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(features)) {
		v, err := number(features[name])
		if text, ok := features[name].(string); ok {
			own := ofText(name, text)
			if slices.Contains(n.Known, name) && !slices.Contains(n.Known, own) {
				err = fmt.Errorf("must be a number, true or false, got the string %.40q", text)
			} else {
				name, v, err = own, 1, nil
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("feature %.40q %w", name, err))
			continue
		}
		if at := slices.Index(n.Known, name); at >= 0 {
			out[at] = v
		} else if n.Buckets == 0 {
			errs = append(errs, n.unknown(name))
		} else {
			place, sign := n.bucket(name)
			out[place] += sign * v
		}
	}
	return out, errors.Join(errs...)
}

// ofText returns the name of a feature whose value is a text.
func ofText(name, text string) string { return name + "=" + text }

// Place returns the index of a feature in the vector of Numbers, and its full name: name=text for a text. The index is
// -1 if the feature is unknown.
func (n Names) Place(name string, value any) (place int, full string) {
	if text, ok := value.(string); ok {
		name = ofText(name, text)
	}
	if at := slices.Index(n.Known, name); at >= 0 || n.Buckets == 0 {
		return at, name
	}
	place, _ = n.bucket(name)
	return place, name
}

func (n Names) unknown(name string) error {
	if len(n.Known) == 0 {
		return fmt.Errorf("unknown feature %.40q: there are no features here", name)
	}
	const most = 20
	known := strings.Join(n.Known[:min(len(n.Known), most)], ", ")
	if len(n.Known) > most {
		known += ", ..."
	}
	return fmt.Errorf("unknown feature %.40q%s; the features are %s", name, nearest.Hint(name, n.Known), known)
}

// number converts the value of a feature that is not a text.
func number(v any) (out float32, err error) {
	switch n := reflect.ValueOf(v); {
	case n.CanFloat():
		out = float32(n.Float())
	case n.CanInt():
		out = float32(n.Int())
	case n.CanUint():
		out = float32(n.Uint())
	case n.Kind() == reflect.Bool:
		if n.Bool() {
			out = 1
		}
	default:
		return 0, fmt.Errorf("must be a number, true, false or a string, got %s", kind(v))
	}
	if tooLarge(out) {
		return 0, fmt.Errorf("is too large, or %w: it must be between -1e18 and 1e18, got %v", ErrNotFinite, v)
	}
	return out, nil
}

// kind describes a value that cannot be a feature, in the words of JSON if JSON has a word for it.
func kind(v any) string {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Invalid:
		return "nothing"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// bucket returns the index of a name's bucket, and its sign, 1 or -1.
func (n Names) bucket(name string) (place int, sign float32) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	sum := mixed(h.Sum64())
	sign = 1
	if sum>>63 == 1 {
		sign = -1
	}
	return len(n.Known) + int(sum%uint64(n.Buckets)), sign
}

// mixed mixes the bits of a FNV hash (the finaliser of MurmurHash3, Appleby 2011), because the low bits of FNV depend
// too little on the first letters.
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
