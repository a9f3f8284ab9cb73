// Package markdown writes tables and numbers for pages in Markdown.
package markdown

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Table returns a table with a head and rows of cells.
func Table(head []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range slices.Concat([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows) {
		b.WriteString(Row(row...))
	}
	return b.String()
}

// Row returns a line of a table.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// Interval returns an estimate with its interval, each with three digits.
func Interval(x stats.Estimate) string {
	return fmt.Sprintf("%s [%s, %s]", Number(float64(x.Value)), Number(float64(x.Lower)), Number(float64(x.Upper)))
}

// Number returns x with three digits; from 1,000 on, it returns a whole number with commas.
func Number(x float64) string {
	if math.Abs(x) >= 999.5 && !math.IsInf(x, 0) {
		return Thousands(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Thousands returns a number with commas, as in 12,345.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
