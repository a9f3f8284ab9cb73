package tune

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dimension is a key that a search varies: either a range, on a logarithmic scale, or a list of values. A value that is
// listed twice goes to twice as many candidates. If When is set, as "key=value" of an earlier dimension, only
// candidates with that value have this dimension; the others keep the agent's own value.
type Dimension struct {
	Key    string   `json:"key"`
	When   string   `json:"when,omitempty"`
	Low    float64  `json:"low,omitempty"`
	High   float64  `json:"high,omitempty"`
	Values []string `json:"values,omitempty"`
}

// String returns the dimension in the form that [ParseDimension] reads.
func (d Dimension) String() string {
	key := d.Key
	if d.When != "" {
		key += "[" + d.When + "]"
	}
	if len(d.Values) > 0 {
		return key + "=" + strings.Join(d.Values, ",")
	}
	return fmt.Sprintf("%s=%.4g:%.4g", key, d.Low, d.High)
}

// ParseDimension reads KEY=LOW:HIGH or KEY=V,V,... The form KEY[OTHER=VALUE]=... limits the dimension to candidates
// with OTHER=VALUE.
func ParseDimension(text string) (Dimension, error) {
	form := dimensionForm.FindStringSubmatch(text)
	if form == nil {
		return Dimension{}, fmt.Errorf("%q does not have the form KEY=LOW:HIGH, KEY=V,V or KEY[OTHER=VALUE]=LOW:HIGH",
			text)
	}
	d, rest := Dimension{Key: form[1], When: form[2]}, form[3]
	low, high, isRange := strings.Cut(rest, ":")
	if !isRange {
		for value := range strings.SplitSeq(rest, ",") {
			d.Values = append(d.Values, strings.TrimSpace(value))
		}
		return d, nil
	}
	var err1, err2 error
	d.Low, err1 = strconv.ParseFloat(strings.TrimSpace(low), 64)
	d.High, err2 = strconv.ParseFloat(strings.TrimSpace(high), 64)
	if err1 != nil || err2 != nil || !(d.Low > 0 && d.Low < d.High) || math.IsInf(d.High, 0) {
		return d, fmt.Errorf("%q: a range LOW:HIGH needs 0 < LOW < HIGH", text)
	}
	return d, nil
}

var dimensionForm = regexp.MustCompile(`^([^=\[\]]+)(?:\[([^=\[\]]+=[^=\[\]]+)\])?=(.+)$`)

// concerns reports whether candidates with these values have the dimension.
func (d Dimension) concerns(values map[string]string) bool {
	key, value, _ := strings.Cut(d.When, "=")
	return d.When == "" || values[key] == value
}

// meets reports whether the two dimensions have the same key and one candidate could have both.
func (d Dimension) meets(other Dimension) bool {
	key, value, _ := strings.Cut(d.When, "=")
	otherKey, otherValue, _ := strings.Cut(other.When, "=")
	return d.Key == other.Key && (key != otherKey || value == otherValue)
}

// draw returns the value of a range at u, from 0 to 1, on the logarithmic scale, with three digits. The rounding can
// move it out of the range.
func (d Dimension) draw(u float64) string {
	return strconv.FormatFloat(d.Low*math.Pow(d.High/d.Low, u), 'g', 3, 64)
}

// whole returns up to five whole numbers in a range, or beside it, from the least to the largest.
func (d Dimension) whole() (values []string) {
	low, high := max(1, math.Floor(d.Low)), math.Ceil(d.High)
	for i := range 5 {
		values = append(values, strconv.FormatFloat(math.Round(low*math.Pow(high/low, float64(i)/4)), 'f', 0, 64))
	}
	return slices.Compact(values)
}

// shifted returns the range moved by half its length, on the logarithmic scale, if x lies in one of its outer tenths.
// The range moves to the side of x. ok is false for every other x and for listed values.
func (d Dimension) shifted(x float64) (moved Dimension, ok bool) {
	if len(d.Values) > 0 {
		return d, false
	}
	const rounding = 0.005 // the largest relative error of three digits: see draw
	half := math.Sqrt(d.High / d.Low)
	switch at := math.Log(x/d.Low) / math.Log(d.High/d.Low); {
	case x >= d.Low*(1-rounding) && at < 0.1:
		d.Low, d.High = d.Low/half, d.High/half
		return d, true
	case x <= d.High*(1+rounding) && at > 0.9:
		d.Low, d.High = d.Low*half, d.High*half
		return d, true
	}
	return d, false
}
