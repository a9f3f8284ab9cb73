package study

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Verdict is the outcome of the test of a [Claim], or the answer to a [Sentence].
type Verdict string

// The possible verdicts on a claim.
const (
	Reproduced Verdict = "reproduced"
	Refuted    Verdict = "refuted"
	Undecided  Verdict = "undecided"
	NotTested  Verdict = "not tested" // the results that the claim compares are missing
)

// Finding is a [Comparison] as evidence for or against a claim, with the verdict.
type Finding struct {
	Comparison
	Claim   string // name of the claim
	Verdict Verdict
	// P is the two-sided p-value for the nearer bound. [Correct] makes it larger.
	P      stats.Float
	Share  *stats.Float // Share of the [analysis.Difference], if the claim is about one
	Reason string       // why there is no estimate; "" if there is one
	// Discrete reports whether the number depends on a choice among settings. The interval of such a number does not
	// shrink as 1/sqrt(runs).
	Discrete bool

	// alone holds the verdict and the p-value before the correction by [Correct], and the factor that multiplied the
	// p-value. All are zero without a correction.
	alone struct {
		verdict Verdict
		p       float64
		factor  float64
	}
}

// MarshalJSON writes the finding as one JSON object. The key bound has the number that the claim is below, and the key
// above the number that it is above, if there is one. A number that is not known is null.
func (f Finding) MarshalJSON() ([]byte, error) {
	out := struct {
		Claim     string       `json:"claim"`
		Statistic string       `json:"statistic"`
		Estimate  stats.Float  `json:"estimate"`
		Lower     stats.Float  `json:"lower"`
		Upper     stats.Float  `json:"upper"`
		Bound     stats.Float  `json:"bound"`
		Above     *stats.Float `json:"above,omitempty"`
		P         stats.Float  `json:"p"`
		Periods   int          `json:"periods"`
		Runs      int          `json:"runs"`
		Diverged  int          `json:"diverged"`
		Share     *stats.Float `json:"share,omitempty"`
		Verdict   Verdict      `json:"verdict"`
		Reason    string       `json:"reason,omitempty"`
	}{f.Claim, f.Text, f.Estimate.Value, f.Estimate.Lower, f.Estimate.Upper, stats.Float(f.Claimed.Below), nil, f.P,
		f.Periods, f.Runs, f.Diverged[0] + f.Diverged[1], f.Share, f.Verdict, f.Reason}
	if floor := stats.Float(f.Claimed.Above); f.Claimed.hasFloor() {
		out.Above = &floor
	}
	return stats.MarshalNull(out)
}

// String describes the finding in one line.
func (f Finding) String() string {
	if f.Reason != "" {
		return fmt.Sprintf("%s: %s", f.Verdict, f.Reason)
	}
	bound := fmt.Sprintf("bound %.4g", f.Claimed.Below)
	if f.Claimed.hasFloor() {
		bound = fmt.Sprintf("bounds %.4g and %.4g", f.Claimed.Above, f.Claimed.Below)
	}
	return fmt.Sprintf("%s = %.4g, 95%% interval [%.4g, %.4g], %s, %d runs: %s", f.Text, float64(f.Estimate.Value),
		float64(f.Estimate.Lower), float64(f.Estimate.Upper), bound, f.Runs, f.Verdict)
}

// Correct corrects findings that are read together, as in a table. It corrects the p-values by Holm's method. A verdict
// becomes Undecided if its corrected p-value is not below 1 - [stats.Level]. Correct leaves findings without a p-value
// as they are.
func Correct(all []Finding) []Finding {
	out := make([]Finding, len(all))
	var p []float64
	var tested []int // index of the finding with each p-value
	for i, f := range all {
		out[i] = f
		if f.Verdict != NotTested && !math.IsNaN(float64(f.P)) {
			p, tested = append(p, float64(f.P)), append(tested, i)
		}
	}
	corrected, factors := stats.Holm(p)
	for k, i := range tested {
		f := &out[i]
		f.alone.verdict, f.alone.p, f.alone.factor = f.Verdict, p[k], factors[k]
		if f.P = stats.Float(corrected[k]); f.P >= 1-stats.Level {
			f.Verdict = Undecided
		}
	}
	return out
}

// RunsToDecide returns roughly the number of runs that would decide an undecided claim. It assumes that the estimate
// stays and that the interval shrinks as 1/sqrt(runs), times the factor that widens intervals of few runs, until its
// limit on the side of the bound reaches the bound. ok is false if the number is unknown or the claim is already
// decided.
func (f Finding) RunsToDecide() (runs float64, ok bool) {
	value, limit, bound := float64(f.Estimate.Value), float64(f.Estimate.Upper), f.Claimed.Below
	switch {
	case value > bound:
		limit = float64(f.Estimate.Lower)
	case value < f.Claimed.Above:
		bound = f.Claimed.Above
	case float64(f.Estimate.Lower) < f.Claimed.Above:
		limit, bound = float64(f.Estimate.Lower), f.Claimed.Above
	}
	shrink := (limit - value) / (bound - value)
	if f.Verdict != Undecided || f.Discrete || math.IsInf(shrink, 0) || math.IsNaN(shrink) {
		return 0, false
	}
	return f.runsForLength(shrink), true
}

// DecidedAlone reports whether the claim is undecided only because of Holm's correction.
func (f Finding) DecidedAlone() bool {
	return f.Verdict == Undecided && (f.alone.verdict == Reproduced || f.alone.verdict == Refuted)
}

// RunsToDecideAmong returns roughly the number of runs that would decide a claim for which [Finding.DecidedAlone] is
// true. It assumes that the estimate and the other claims stay, and that the p-value must reach the level that Holm's
// correction requires.
func (f Finding) RunsToDecideAmong() (runs float64, ok bool) {
	p := f.alone.p
	if !f.DecidedAlone() || f.Discrete || p <= 0 {
		return 0, false
	}
	factor := max(f.alone.factor, float64(f.P)/p) // larger if a claim with a smaller p-value is undecided
	z := func(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p/2) }
	return f.runsForLength(z((1-stats.Level)/factor) / z(p)), true
}

// runsForLength returns the number of runs that multiplies the length of the interval by 1/shrink.
func (f Finding) runsForLength(shrink float64) float64 {
	now, factor := float64(f.Runs), f.Estimate.Widening
	runs := now * shrink * shrink
	for range 20 { // iterates to a fixed point, because the factor depends on the number of runs
		runs = now * math.Pow(shrink*factor(runs)/factor(now), 2)
	}
	return math.Ceil(runs + 1)
}
