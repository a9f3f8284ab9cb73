package lab

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Dimension is a key to search over: a range, on a logarithmic scale, or a list of values, of which one that is listed
// twice goes to twice as many candidates. With When, "key=value" of a dimension before it, only candidates with that
// value have it; the others keep the agent's own value.
type Dimension struct {
	Key    string   `json:"key"`
	When   string   `json:"when,omitempty"`
	Low    float64  `json:"low,omitempty"`
	High   float64  `json:"high,omitempty"`
	Values []string `json:"values,omitempty"`
}

// String is the dimension as [ParseDimension] reads it.
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

// ParseDimension reads KEY=LOW:HIGH or KEY=V,V,..., of the candidates with KEY=VALUE alone as KEY[KEY=VALUE]=...
func ParseDimension(text string) (Dimension, error) {
	form := dimensionForm.FindStringSubmatch(text)
	if form == nil {
		return Dimension{}, fmt.Errorf("%q is not of the form KEY=LOW:HIGH or KEY=V,V, nor KEY[KEY=VALUE]=LOW:HIGH",
			text)
	}
	d, rest := Dimension{Key: form[1], When: form[2]}, form[3]
	low, high, isRange := strings.Cut(rest, ":")
	if !isRange {
		d.Values = strings.Split(rest, ",")
		return d, nil
	}
	var err1, err2 error
	d.Low, err1 = strconv.ParseFloat(low, 64)
	d.High, err2 = strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil || !(d.Low > 0 && d.Low < d.High) || math.IsInf(d.High, 0) {
		return d, fmt.Errorf("%q: a range LOW:HIGH needs 0 < LOW < HIGH", text)
	}
	return d, nil
}

var dimensionForm = regexp.MustCompile(`^([^=\[\]]+)(?:\[([^=\[\]]+=[^=\[\]]+)\])?=(.+)$`)

// concerns tells whether candidates with these values have the dimension.
func (d Dimension) concerns(values map[string]string) bool {
	key, value, _ := strings.Cut(d.When, "=")
	return d.When == "" || values[key] == value
}

// meets tells whether a candidate could have both dimensions, of one key.
func (d Dimension) meets(other Dimension) bool {
	key, value, _ := strings.Cut(d.When, "=")
	otherKey, otherValue, _ := strings.Cut(other.When, "=")
	return d.Key == other.Key && (key != otherKey || value == otherValue)
}

// draw is the value at u, from 0 to 1, of a range.
func (d Dimension) draw(u float64) string {
	return strconv.FormatFloat(d.Low*math.Pow(d.High/d.Low, u), 'g', 3, 64)
}

// beyond is the range moved by half its length to the side in whose outer tenth x lies, both on the logarithmic scale;
// of another x, and of listed values, there is none.
func (d Dimension) beyond(x float64) (Dimension, bool) {
	if len(d.Values) > 0 {
		return d, false
	}
	half := math.Sqrt(d.High / d.Low)
	switch at := math.Log(x/d.Low) / math.Log(d.High/d.Low); {
	case at >= 0 && at < 0.1:
		d.Low, d.High = d.Low/half, d.High/half
		return d, true
	case at > 0.9 && at <= 1:
		d.Low, d.High = d.Low*half, d.High*half
		return d, true
	}
	return d, false
}
