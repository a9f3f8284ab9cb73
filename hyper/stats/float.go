package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Float is a float64 that JSON can always represent. NaN and infinities are written as strings, so that files lose
// nothing. [MarshalNull] writes NaN as null.
type Float float64

var nulls = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(),
	jsonv2.WithMarshalers(jsonv2.MarshalFunc(func(f Float) ([]byte, error) {
		if math.IsNaN(float64(f)) {
			return []byte("null"), nil
		}
		return f.MarshalJSON()
	})))

// MarshalNull writes a value as encoding/json does, except that a [Float] within it is null if it is NaN. It is for
// programs that calculate with the numbers: null means that a number is not known.
func MarshalNull(v any) ([]byte, error) { return jsonv2.Marshal(v, nulls) }

// MarshalJSON writes a number, or "NaN", "+Inf" or "-Inf".
func (f Float) MarshalJSON() ([]byte, error) {
	x := float64(f)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return json.Marshal(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strconv.AppendFloat(nil, x, 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Float) UnmarshalJSON(text []byte) error {
	s := string(text)
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", text)
	}
	*f = Float(x)
	return nil
}
