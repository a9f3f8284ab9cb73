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

// Names make numbers of named features, as a service gets them. A feature is a number, true or false (1 or 0), or
// a text, which is a feature of its own named name=text, of value 1. A feature that is Known is no text, unless that
// text is Known too.
type Names struct {
	// Known are features with a number of their own, in this order; one that is missing is 0. A text of the feature
	// country can be Known as country=fr.
	Known []string
	// Buckets are numbers that all other features share, by hashing (Weinberger et al. 2009): a feature adds its value,
	// or takes it off, at a place that its name alone says. 0 is that other features are refused.
	Buckets int
}

// Validate reports names that are empty or not different, and a negative number of Buckets.
func (n Names) Validate() error {
	errs := []error{faults.AtLeast("Buckets", n.Buckets, 0)}
	for i, name := range n.Known {
		if name == "" || slices.Contains(n.Known[:i], name) {
			errs = append(errs, fmt.Errorf("Known must be different names, got %q at place %d", name, i))
		}
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("Known and Buckets together", n.Len()))
	}
	return errors.Join(errs...)
}

// Len is how many numbers there are.
func (n Names) Len() int { return len(n.Known) + max(n.Buckets, 0) }

// Numbers returns the numbers of features, whose values are float64, float32, int, bool or string. The error names all
// features that are unknown, of another type, or not finite: it wraps ErrNotFinite where one is not between -1e18 and
// 1e18.
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

// ofText is the name of a feature whose value is a text.
func ofText(name, text string) string { return name + "=" + text }

// Place is the place of a feature among the Numbers, and its name there: for a text name=text. The place is -1 where the
// feature is unknown.
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

// number is the value of a feature that is no text.
func number(v any) (out float32, err error) {
	switch v := v.(type) {
	case float64:
		out = float32(v)
	case float32:
		out = v
	case int:
		out = float32(v)
	case bool:
		if v {
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

// kind says what a value is that is no feature: in JSON's words, where JSON has them.
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

// bucket is the place of a name, and 1 or -1.
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

// mixed spreads FNV's bits (the finaliser of MurmurHash3, Appleby 2011): its low ones alone depend too little on the
// first letters.
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
