package bandit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
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
	kinds  []string    // name and kind of each column of the sheet, such as "colour: 3 categories"
	doubts []error     // see Table.Doubts
}

// contextOf returns the context that all columns of a sheet, except for the target, make. Numbers are standardised
// unless raw is true.
func contextOf(s *sheet.Sheet, target int, raw bool) (out columns, err error) {
	var errs []error
	out.doubts = headerFaults(s)
	for i, name := range s.Header {
		if i == target {
			continue
		}
		more, number, err := encode(s, i, raw)
		kind, doubt := "number", error(nil)
		if !number {
			kind, doubt = fmt.Sprintf("%d categories", len(more)), notNumber(s, i)
		}
		about := func(err error) error { return fmt.Errorf("%s: column %d (%q) %w", s.Name, i+1, name, err) }
		if doubt != nil {
			out.doubts = append(out.doubts, about(doubt))
		}
		if err != nil {
			errs = append(errs, about(cmp.Or(doubt, err)))
		}
		out.kinds = append(out.kinds, name+": "+kind)
		out.values = append(out.values, more...)
		out.number = append(out.number, slices.Repeat([]bool{number}, len(more))...)
		if len(out.values)*len(s.Rows) > sheet.MostCells {
			return columns{}, fmt.Errorf("%s: the context has more than %d numbers at column %d (%q), counting one "+
				"for each value that is not a number: use fewer rows or columns", s.Name, sheet.MostCells, i+1, name)
		}
	}
	return out, sheet.Some(errs)
}

// headerFaults returns an error for columns of one name, and for a file whose first line is a row and not a header:
// some of its cells are numbers that do not count upwards, as years do, and each other one is a value in its column.
func headerFaults(s *sheet.Sheet) (errs []error) {
	first, isRow := map[string]int{}, s.Lines != nil && !countsUpwards(s.Header)
	for i, name := range s.Header {
		if before, twice := first[name]; twice && name != "" {
			errs = append(errs, fmt.Errorf("%s: columns %d and %d have the same name %q: give each column its own name",
				s.Name, before+1, i+1, name))
		} else {
			first[name] = i
		}
		if _, ok := finite(name); !ok && isRow {
			isRow = slices.ContainsFunc(s.Rows, func(row []string) bool { return row[i] == name })
		}
	}
	if isRow {
		errs = append([]error{fmt.Errorf("%s: the first line (%s) seems to be a row of the table, but must have the names "+
			"of the columns: write a line of names in front, or change these names", s.Name, some(s.Header, 5))}, errs...)
	}
	return errs
}

// countsUpwards reports whether the numbers among some names are whole and increase, as in 0, 1, 2 or 2019, 2020.
func countsUpwards(names []string) bool {
	last := math.Inf(-1)
	for _, name := range names {
		if x, ok := finite(name); ok {
			if x <= last || x != math.Trunc(x) {
				return false
			}
			last = x
		}
	}
	return true
}

// finite returns the number that a cell holds. ok is false if the cell does not hold a finite number.
func finite(cell string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(cell, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// encode returns the columns of the context that a column of the sheet becomes: one column of numbers, or one column of
// 0 and 1 for each value. number reports whether the column holds numbers.
func encode(s *sheet.Sheet, column int, raw bool) (out [][]float32, number bool, err error) {
	values := make([]float64, len(s.Rows))
	for r, row := range s.Rows {
		x, ok := finite(row[column])
		if !ok {
			out, err := oneHots(s.Rows, column)
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

// grouped describes a number with commas between thousands, such as 1,001.5.
var grouped = regexp.MustCompile(`^[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`)

// notNumber returns an error about the first cell that is not a number, in a column that has such cells, if it seems to
// be a mistake: at least four fifths of the cells are numbers, of which at least five differ, and each other cell occurs
// once or has commas between thousands. In other columns the values are classes.
func notNumber(s *sheet.Sheet, column int) error {
	numbers, at, seen, others := 0, -1, map[float64]bool{}, map[string]bool{}
	for r, row := range s.Rows {
		cell := row[column]
		commas := grouped.MatchString(cell)
		if commas {
			cell = strings.ReplaceAll(cell, ",", "")
		}
		x, ok := finite(cell)
		switch {
		case ok:
			numbers++
			seen[x] = true
		case others[cell]:
			return nil
		default:
			others[cell] = true
		}
		if (!ok || commas) && at < 0 {
			at = r
		}
	}
	if numbers*5 < len(s.Rows)*4 || len(seen) < 5 {
		return nil
	}
	cell, advice := s.Rows[at][column], "correct it; or, if the column has classes, write a letter in front of each number"
	if grouped.MatchString(cell) {
		advice = "write it without commas"
	}
	return fmt.Errorf("has numbers in most rows, but %q at %s is not a number: %s", cell, s.Place(at), advice)
}

// some lists at most the given number of names.
func some(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
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

// mostInSummary is the largest number of columns, and of actions, that a summary lists.
const mostInSummary = 10

// summaryOf describes how a sheet was read.
func summaryOf(s *sheet.Sheet, target int, classes, kinds []string) string {
	listed, more := kinds[:min(len(kinds), mostInSummary)], ""
	if n := len(kinds) - len(listed); n > 0 {
		more = fmt.Sprintf("; and %d more columns", n)
	}
	return fmt.Sprintf("%s: %d rows, %d actions (%s: %s); %s%s", s.Name, len(s.Rows), len(classes), s.Header[target],
		some(classes, mostInSummary), strings.Join(listed, "; "), more)
}
