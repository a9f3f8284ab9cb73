package study

import (
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Comparison is a number that compares agents, such as the ratio of their mean regrets, with its interval, and the
// range in which the number is claimed to lie. A [Claim] makes one comparison, and a [Sentence] several.
type Comparison struct {
	Text     string         // what is compared, in words
	Kind     string         // the kind of number, in a word or two
	Claimed  Range          // the claimed range of the number
	Estimate stats.Estimate // the number, with its interval at [stats.Level]; NaN if there is no number
	// Inside and Outside are one-sided p-values. Inside is small if the number lies in the claimed range, and Outside
	// is small if the number lies outside it. If both are 0, [Comparison.Judge] computes them from the estimate.
	Inside, Outside float64
	Runs            int // number of runs or of pairs of runs, including diverged ones
	Periods         int
	Diverged        [2]int  // number of diverged runs of the first agent, and of the second
	Scale           float64 // for a difference, the mean regret of the first agent; 0 for a ratio
	Missing         string  // in words, the runs that are missing; "" if there are enough
	Decide          string  // a sentence on what would decide, if not a number of runs alone; or ""
}

// Judge judges the comparison by its estimate. The verdict is Reproduced if the whole interval lies in the claimed
// range, Refuted if the whole interval lies outside, and otherwise Undecided.
func (c Comparison) Judge() Finding {
	if c.Inside == 0 && c.Outside == 0 {
		c.Inside, c.Outside = c.Claimed.pValues(c.pBelow, c.pAbove)
	}
	f := Finding{Comparison: c, Verdict: Undecided, P: stats.Float(min(1, 2*min(c.Inside, c.Outside)))}
	lower, upper := float64(c.Estimate.Lower), float64(c.Estimate.Upper)
	switch {
	case upper < c.Claimed.Above || lower > c.Claimed.Below:
		f.Verdict = Refuted
	case upper < c.Claimed.Below && lower > c.Claimed.Above:
		f.Verdict = Reproduced
	}
	return f
}

// pBelow and pAbove return the one-sided p-values that are small if the number is below, or above, x. They come from
// the estimate's own interval.
func (c Comparison) pBelow(x float64) float64 { return c.oneSided(x, float64(c.Estimate.Value) > x) }
func (c Comparison) pAbove(x float64) float64 { return c.oneSided(x, float64(c.Estimate.Value) < x) }

// oneSided returns the one-sided p-value of the hypothesis that the true number is x. wrong reports whether the
// estimate is on the other side of x than the test asks.
func (c Comparison) oneSided(x float64, wrong bool) float64 {
	p := c.Estimate.PValue(x) / 2
	if wrong {
		return 1 - p
	}
	return p
}

// test sets the estimate, and the p-values of tests of paired numbers.
func (c *Comparison) test(paired stats.Paired, e stats.Estimate) {
	c.Estimate, c.Runs = e, paired.Pairs
	c.Inside, c.Outside = c.Claimed.pValues(paired.PBelow, paired.PAbove)
}

// Relative returns the number, and the ends of its interval, relative to the claimed bound. A number for which the
// claim is true is below 1. A number between two bounds is compared with the nearer one. A difference becomes
// exp(-(difference - bound) / Scale).
func (c Comparison) Relative() (value, lower, upper float64) {
	value, lower, upper = float64(c.Estimate.Value), float64(c.Estimate.Lower), float64(c.Estimate.Upper)
	switch {
	case c.Scale > 0:
		of := func(x float64) float64 { return math.Exp(-(x - c.Claimed.Above) / c.Scale) }
		return of(value), of(upper), of(lower)
	case !c.Claimed.hasFloor():
		return value / c.Claimed.Below, lower / c.Claimed.Below, upper / c.Claimed.Below
	}
	of := func(x float64) float64 { return max(x/c.Claimed.Below, c.Claimed.Above/x) }
	first, second := of(lower), of(upper)
	nearest := min(first, second)
	if middle := math.Sqrt(c.Claimed.Above * c.Claimed.Below); lower < middle && middle < upper {
		nearest = of(middle)
	}
	return of(value), nearest, max(first, second)
}

// Interval returns the number with its interval, as text with three digits.
func (c Comparison) Interval() string {
	interval := fmt.Sprintf("[%s, %s]", digits(c.Estimate.Lower), digits(c.Estimate.Upper))
	if math.IsNaN(float64(c.Estimate.Value)) {
		return interval
	}
	return digits(c.Estimate.Value) + " " + interval
}

// size returns the number of runs and of periods, as text.
func (c Comparison) size() string {
	if c.Periods == 0 {
		return fmt.Sprintf("%d draws", c.Runs)
	}
	return fmt.Sprintf("%d x %s", c.Runs, markdown.Thousands(c.Periods))
}

// divergedText returns the numbers of diverged runs as text, or "" if no run diverged.
func (c Comparison) divergedText() string {
	if c.Diverged == [2]int{} {
		return ""
	}
	return fmt.Sprintf("%d and %d", c.Diverged[0], c.Diverged[1])
}
