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

// mostValues is the most values of a column that can be told apart.
const mostValues = 50

// columns are the numbers of a context.
type columns struct {
	values [][]float32 // of each row, by column
	number []bool      // whether the column is one of numbers: else it is a 0 or 1 for a value
}

// contextOf makes the context of all columns of a sheet but the target. Numbers are standardised unless they are to be
// raw.
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
			return columns{}, fmt.Errorf("%s: the context has more than %d numbers by column %d (%q), with one for each "+
				"of the values that are not numbers: use fewer rows or columns", s.Name, sheet.MostCells, i+1, name)
		}
	}
	return out, sheet.Some(errs)
}

// encode returns the numbers that a column is in the context, a slice for each: itself, if it is one of numbers, or
// one-hot.
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
		return nil, true, errors.New("is the same number in every row: remove it")
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
			return nil, true, fmt.Errorf("has a number out of range, %v: use other units", x)
		}
	}
	return [][]float32{single}, true, nil
}

// standardise takes the mean off numbers that differ, and divides by their standard deviation.
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

// oneHots returns a slice of zeros and ones for each value of a column.
func oneHots(rows [][]string, column int) ([][]float32, error) {
	values := distinct(rows, column)
	switch {
	case len(values) == 1:
		return nil, fmt.Errorf("is %q in every row: remove it", values[0])
	case len(values) > mostValues:
		return nil, fmt.Errorf("has %d different values or more that are not all numbers, as %q; at most %d can be told "+
			"apart: remove it, or put its values into classes", len(values), values[0], mostValues)
	case len(values) > sheet.MostCells/len(rows):
		return nil, fmt.Errorf("has %d different values in %d rows, too many numbers: use fewer rows", len(values), len(rows))
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

// distinct returns the values of a column, in the order of numbers if they all are, and else of letters: all, or one
// more than can be told apart.
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
