package bandit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// mostValues is the largest number of different values in a column that is not numeric, and of the target.
const mostValues = 50

// columns holds the numbers of the contexts of all rows.
type columns struct {
	values [][]float32 // values of each row, by column of the context
	number []bool      // whether the column holds numbers of the table; otherwise it is 0 or 1 for a value
}

// contextOf returns the context that all columns of a sheet, except for the target, make. Numbers are standardised
// unless raw is true.
func contextOf(s *sheet.Sheet, target int, raw bool) (out columns, err error) {
	var errs []error
	for i, name := range s.Header {
		if i == target {
			continue
		}
		more, number, err := encode(s.Rows, i, raw)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: column %d (%q) %w", s.Name, i+1, name, err))
		}
		out.values = append(out.values, more...)
		out.number = append(out.number, slices.Repeat([]bool{number}, len(more))...)
		if len(out.values)*len(s.Rows) > sheet.MostCells {
			return columns{}, fmt.Errorf("%s: the context has more than %d numbers at column %d (%q), counting one "+
				"for each value that is not a number: use fewer rows or columns", s.Name, sheet.MostCells, i+1, name)
		}
	}
	return out, sheet.Some(errs)
}

// encode returns the columns of the context that a column of the sheet becomes: one column of numbers, or one column of
// 0 and 1 for each value. number reports whether the column holds numbers.
func encode(rows [][]string, column int, raw bool) (out [][]float32, number bool, err error) {
	values := make([]float64, len(rows))
	for r, row := range rows {
		x, err := strconv.ParseFloat(row[column], 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			out, err := oneHots(rows, column)
			return out, false, err
		}
		values[r] = x
	}
	if slices.Max(values) == slices.Min(values) {
		return nil, true, errors.New("has the same number in every row: remove it")
	}
	if !raw {
		if err := standardise(values); err != nil {
			return nil, true, err
		}
	}
	single := make([]float32, len(values))
	for r, x := range values {
		single[r] = float32(x)
		if math.IsInf(float64(single[r]), 0) {
			return nil, true, fmt.Errorf("has the number %v, which is out of range: use other units", x)
		}
	}
	return [][]float32{single}, true, nil
}

// standardise subtracts the mean from numbers, and divides by their standard deviation. The numbers must not all be
// equal.
func standardise(x []float64) error {
	var mean, square float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return errors.New("has a variance out of range: use other units")
	}
	for i, v := range x {
		x[i] = (v - mean) / math.Sqrt(square)
	}
	return nil
}

// oneHots returns, for each value of a column, a slice with 1 in the rows that have the value and 0 in the others.
func oneHots(rows [][]string, column int) ([][]float32, error) {
	values := distinct(rows, column)
	switch {
	case len(values) == 1:
		return nil, fmt.Errorf("has the value %q in every row: remove it", values[0])
	case len(values) > mostValues:
		return nil, fmt.Errorf("has %d or more different values that are not all numbers, such as %q, but at most "+
			"%d are possible: remove the column, or group its values into classes", len(values), values[0], mostValues)
	case len(values) > sheet.MostCells/len(rows):
		return nil, fmt.Errorf("has %d different values in %d rows, which makes too many numbers: use fewer "+
			"rows", len(values), len(rows))
	}
	out := make([][]float32, len(values))
	for i := range out {
		out[i] = make([]float32, len(rows))
	}
	for r, row := range rows {
		out[slices.Index(values, row[column])][r] = 1
	}
	return out, nil
}

// distinct returns the values of a column: in the order of numbers if all are numbers, and otherwise in alphabetical
// order. It stops at mostValues+1 values.
func distinct(rows [][]string, column int) []string {
	seen := map[string]bool{}
	var values []string
	for _, row := range rows {
		if v := row[column]; !seen[v] && len(values) <= mostValues {
			seen[v] = true
			values = append(values, v)
		}
	}
	numbers := true
	for _, v := range values {
		_, err := strconv.ParseFloat(v, 64)
		numbers = numbers && err == nil
	}
	slices.SortFunc(values, func(a, b string) int {
		if x, y := number(a), number(b); numbers && x != y {
			return int(math.Copysign(1, x-y))
		}
		return strings.Compare(a, b)
	})
	return values
}

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64)
	return x
}
