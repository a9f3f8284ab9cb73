package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Claim is a statement of the paper as a statistical test on fresh seeds.
type Claim struct {
	Name string
	Text string // what the paper says, with its section
	// Sentence is the number of a sentence of package paper, if the claim is a part of that sentence. Committed results
	// then answer the whole sentence, and fresh runs test only the claim. Sentence is 0 for all other claims.
	Sentence int
	// Quick and Full are the sizes at which the claim is judged. Quick takes a minute or two.
	Quick, Full lab.Size
	// Smaller lists sizes at which a study that has not reached Full may show its results so far. They decide nothing.
	Smaller []lab.Size
	// Test simulates the runs that the claim needs, and judges the claim at a size. The size is Quick or Full unless
	// the caller asks for another.
	Test func(simulate Simulator, size lab.Size) (Finding, error)
}

// Size returns the size of the quick test or of the full test.
func (c Claim) Size(quick bool) lab.Size {
	if quick {
		return c.Quick
	}
	return c.Full
}

// Simulator runs agents of an experiment, with "key=value" settings as in [lab.Experiment.Spec]. No setting was tuned
// on its seeds.
type Simulator func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error)

// Verdict is the outcome of the test of a [Claim], or the answer to a [Sentence].
type Verdict string

// The possible verdicts on a claim.
const (
	Reproduced Verdict = "reproduced"
	Refuted    Verdict = "refuted"
	Undecided  Verdict = "undecided"
	NotTested  Verdict = "not tested" // the results that the claim compares are missing
)

// Finding is the evidence for or against a claim: an estimate with a 95% interval, and the bounds that it is compared
// with.
type Finding struct {
	Claim     string       `json:"claim"`
	Statistic string       `json:"statistic"`
	Kind      string       `json:"-"` // the kind of statistic, in a word or two
	Estimate  stats.Float  `json:"estimate"`
	Lower     stats.Float  `json:"lower"`
	Upper     stats.Float  `json:"upper"`           // may be infinite
	Bound     float64      `json:"bound"`           // the claim says that the statistic is below this bound
	Above     *stats.Float `json:"above,omitempty"` // and above this one, if the claim says that two agents are alike
	// P is the two-sided p-value for the nearer bound. Holm's correction makes it larger.
	P        stats.Float  `json:"p"`
	Periods  int          `json:"periods"`
	Runs     int          `json:"runs"`            // number of runs, or of pairs of runs, including diverged ones
	Diverged int          `json:"diverged"`        // number of runs that diverged, among all that are compared
	Share    *stats.Float `json:"share,omitempty"` // Share of the [analysis.Difference], if the claim is about one
	Verdict  Verdict      `json:"verdict"`
	Reason   string       `json:"reason,omitempty"` // why there is no estimate
	// Discrete reports whether the statistic depends on a choice among settings. The interval of such a statistic does
	// not shrink as 1/sqrt(runs).
	Discrete bool `json:"-"`

	judged stats.Estimate // the estimate that was judged
	// alone holds the verdict and the p-value before Holm's correction, and the factor that multiplied the p-value. All
	// are zero without a correction.
	alone struct {
		verdict Verdict
		p       float64
		times   float64
	}
}

// JudgeBelow judges the claim that a statistic is below a bound. The verdict is Reproduced if the whole interval is
// below the bound, Refuted if the whole interval is above it, and otherwise Undecided.
func JudgeBelow(statistic string, e stats.Estimate, bound float64, periods, runs int) Finding {
	f := Finding{Statistic: statistic, Estimate: e.Value, Lower: e.Lower, Upper: e.Upper, Bound: bound,
		P: stats.Float(e.PValue(bound)), Periods: periods, Runs: runs, Verdict: Undecided, judged: e}
	switch {
	case float64(e.Upper) < bound:
		f.Verdict = Reproduced
	case float64(e.Lower) > bound:
		f.Verdict = Refuted
	}
	return f
}

// JudgeWithin judges the claim that a statistic lies between two numbers, such as the claim that two agents are alike
// (Schuirmann's two one-sided tests). The verdict is Reproduced if the whole interval lies between the numbers, Refuted
// if the whole interval lies outside, and otherwise Undecided.
func JudgeWithin(statistic string, e stats.Estimate, above, bound float64, periods, runs int) Finding {
	f := JudgeBelow(statistic, e, bound, periods, runs)
	floor := stats.Float(above)
	f.Above = &floor
	switch low := e.PValue(above); {
	case float64(e.Upper) < above:
		f.Verdict, f.P = Refuted, stats.Float(low)
	case f.Verdict != Refuted:
		if float64(e.Lower) <= above {
			f.Verdict = Undecided
		}
		f.P = stats.Float(math.Max(float64(f.P), low))
	}
	return f
}

// Correct corrects findings that are read together, as in a table. It corrects the p-values by Holm's method. A verdict
// becomes Undecided if its corrected p-value is not below 1 - [stats.Level]. Correct leaves findings without a p-value
// as they are.
func Correct(all []Finding) []Finding {
	out := slices.Clone(all)
	var order []int
	for i, f := range out {
		if f.Verdict != NotTested && !math.IsNaN(float64(f.P)) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(out[i].P, out[j].P) })
	least := stats.Float(0)
	for rank, i := range order {
		f := &out[i]
		f.alone.verdict, f.alone.p, f.alone.times = f.Verdict, float64(f.P), float64(len(order)-rank)
		least = max(least, min(1, f.P*stats.Float(f.alone.times)))
		f.P = least
		if f.P >= 1-stats.Level {
			f.Verdict = Undecided
		}
	}
	return out
}

// Wants returns the range that the claim states for the statistic, in words.
func (f Finding) Wants() string {
	if f.Above != nil {
		return fmt.Sprintf("between %.3g and %.3g", float64(*f.Above), f.Bound)
	}
	return fmt.Sprintf("below %.3g", f.Bound)
}

// String describes the finding in one line.
func (f Finding) String() string {
	if f.Reason != "" {
		return fmt.Sprintf("%s: %s", f.Verdict, f.Reason)
	}
	bound := fmt.Sprintf("bound %.4g", f.Bound)
	if f.Above != nil {
		bound = fmt.Sprintf("bounds %.4g and %.4g", float64(*f.Above), f.Bound)
	}
	return fmt.Sprintf("%s = %.4g, 95%% interval [%.4g, %.4g], %s, %d runs: %s", f.Statistic, float64(f.Estimate),
		float64(f.Lower), float64(f.Upper), bound, f.Runs, f.Verdict)
}

// RunsToDecide returns roughly the number of runs that would decide an undecided claim. It assumes that the estimate
// stays and that the interval shrinks as 1/sqrt(runs), times the factor that widens intervals of few runs, until its
// limit on the side of the bound reaches the bound. ok is false if the number is unknown or the claim is already
// decided.
func (f Finding) RunsToDecide() (runs float64, ok bool) {
	limit, bound := float64(f.Upper), f.Bound
	switch {
	case float64(f.Estimate) > f.Bound:
		limit = float64(f.Lower)
	case f.Above != nil && float64(f.Estimate) < float64(*f.Above):
		bound = float64(*f.Above)
	case f.Above != nil && float64(f.Lower) < float64(*f.Above):
		limit, bound = float64(f.Lower), float64(*f.Above)
	}
	shrink := (limit - float64(f.Estimate)) / (bound - float64(f.Estimate))
	if f.Verdict != Undecided || f.Discrete || math.IsInf(shrink, 0) || math.IsNaN(shrink) {
		return 0, false
	}
	return f.shorter(shrink), true
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
	times := max(f.alone.times, float64(f.P)/p) // larger if a claim with a smaller p-value is undecided
	z := func(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p/2) }
	return f.shorter(z((1-stats.Level)/times) / z(p)), true
}

// shorter returns the number of runs that multiplies the length of the interval by 1/shrink.
func (f Finding) shorter(shrink float64) float64 {
	now, factor := float64(f.Runs), f.judged.Widening
	runs := now * shrink * shrink
	for range 20 { // iterates to a fixed point, because the factor depends on the number of runs
		runs = now * math.Pow(shrink*factor(runs)/factor(now), 2)
	}
	return math.Ceil(runs + 1)
}
