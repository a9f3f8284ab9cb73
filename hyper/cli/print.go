package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// printAll prints a JSON object for each item, with null for numbers that are not known, or a table: a head, and a row
// for each item with cells separated by tabs.
func printAll[T any](w io.Writer, all []T, asJSON bool, flags uint, head string,
	row func(i int, one T) string) error {
	if asJSON {
		return printNumbers(w, all...)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	fmt.Fprintln(table, head)
	for i, one := range all {
		fmt.Fprintln(table, row(i, one))
	}
	return table.Flush()
}

// printNumbers prints one JSON object per line. A number that is not known is null.
func printNumbers[T any](w io.Writer, all ...T) error {
	for _, one := range all {
		line, err := stats.MarshalNull(one)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// printLines prints one JSON object per line, as files have them that commands read again.
func printLines[T any](w io.Writer, all ...T) error {
	lines := json.NewEncoder(w)
	for _, one := range all {
		if err := lines.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// plain returns a number as text, or a dash for nil.
func plain(x *stats.Float, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, float64(*x))
}

// orDash returns the text of a number, or a dash if the number is not finite.
func orDash(x stats.Float, text string) string {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return "-"
	}
	return text
}

// plusMinus returns a number with its standard error as text.
func plusMinus(x, se *stats.Float, format string) string {
	if se == nil {
		return plain(x, format)
	}
	return plain(x, format) + " ± " + plain(se, format)
}
