package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
)

// linearTicks puts labelled ticks at multiples of 1, 2 or 5 times a power of ten. steps is the maximum number of steps
// between them; 0 is 7, which gives four to eight ticks.
type linearTicks struct{ steps float64 }

// Ticks implements gonum's Ticker.
func (t linearTicks) Ticks(low, high float64) (ticks []gonum.Tick) {
	if !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	step := niceStep((high - low) / cmp.Or(t.steps, 7))
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	if !(last-first < 1000) || math.Abs(first) > 1e15 || math.Abs(last) > 1e15 { // the range is as small as rounding
		return nil
	}
	for i := range int(last-first) + 1 {
		at := (first + float64(i)) * step
		ticks = append(ticks, gonum.Tick{Value: at, Label: number(at, step)})
	}
	return ticks
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// number writes x with as many decimals as step has, and commas between thousands. Very large or small numbers have an
// exponent.
func number(x, step float64) string {
	if x == 0 || math.Abs(x) < step/1e6 {
		return "0"
	}
	if most := math.Abs(x); most >= 1e7 || step < 1e-5 {
		apart := 1 + int(math.Floor(math.Log10(most))) - int(math.Floor(math.Log10(step)+1e-9)) // digits that tell ticks apart
		return scientific(x, 'g', max(4, apart))
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', decimals, 64), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if x < 0 {
		whole = "−" + whole
	}
	return whole
}

// logTicks labels powers of ten and marks their multiples. On an axis of less than two powers of ten it also labels 2
// and 5 times a power. On an axis of less than one power it labels 1, 1.5, 2, 3, 4, 5 and 7 times a power. On an axis
// of more than eight powers it marks only some powers. An axis that is too short for its labels has linear ticks.
type logTicks struct{}

// Ticks implements gonum's Ticker. Axes whose bounds are not positive have no ticks.
func (logTicks) Ticks(low, high float64) (ticks []gonum.Tick) {
	if !(low > 0) || !(high > low) || math.IsInf(high, 0) {
		return nil
	}
	decades := math.Log10(high / low)
	every := 1 + int(decades/8.01)
	multiples, labelled := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{1}
	switch {
	case decades < 1:
		multiples = []float64{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}
		labelled = []float64{1, 1.5, 2, 3, 4, 5, 7}
	case decades < 2:
		labelled = []float64{1, 2, 5}
	case every > 1:
		multiples = labelled
	}
	labels := 0
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Floor(math.Log10(high)+1e-9)); e++ {
		for _, m := range multiples {
			x, _ := strconv.ParseFloat(fmt.Sprintf("%ge%d", m, e), 64) // m*Pow10(e) is inexact for 0.3
			if x < low || x > high {
				continue
			}
			t := gonum.Tick{Value: x}
			if e%every == 0 && slices.Contains(labelled, m) {
				t.Label = logNumber(x, e, high >= 1e7)
				labels++
			}
			ticks = append(ticks, t)
		}
	}
	if labels < 2 || labels < 3 && decades < 1 {
		return linearTicks{}.Ticks(low, high)
	}
	return ticks
}

// logNumber writes x of magnitude 10^e: without exponent from 0.0001 to 1,000,000, otherwise with an exponent. If the
// axis goes beyond that range, all numbers from 10,000 have exponents, which are short, so that neighbours do not
// touch.
func logNumber(x float64, e int, beyond bool) string {
	if e >= -4 && e <= 6 && !(beyond && e > 3) {
		step := math.Pow10(e)
		if m := x / step; math.Abs(m-math.Round(m)) > 1e-9 {
			step /= 10
		}
		return number(x, step)
	}
	return scientific(x, 'e', 0)
}

// scientific writes a number with a short exponent: 1e8, 1e−6.
func scientific(x float64, format byte, digits int) string {
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e−", "-", "−").Replace(
		strconv.FormatFloat(x, format, digits, 64))
}
