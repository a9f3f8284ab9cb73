package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Claim is a statement of the paper as a test on fresh seeds.
type Claim struct {
	Name string
	Text string // what the paper says, with its section
	// Sentence is the number of the sentence of package paper of which the claim is a part: committed results answer the
	// sentence, and the claim is tested on fresh runs alone. It is 0 for all other claims.
	Sentence int
	// Quick and Full are the sizes at which the claim is judged: Quick takes a minute or two.
	Quick, Full Size
	// Smaller are sizes at which a study that has not come to Full may show what it has. They decide nothing.
	Smaller []Size
	// Test simulates what it needs, and judges at a size: one of the two above unless another is asked for.
	Test func(simulate Simulator, size Size) (Finding, error)
}

// Size is that of the quick or the full test.
func (c Claim) Size(quick bool) Size {
	if quick {
		return c.Quick
	}
	return c.Full
}

// Simulator runs agents of an experiment, "key=value" settings as in [Experiment.Spec], on seeds nothing was tuned on.
type Simulator func(agents, sets []string, size Size) (Header, []Row, error)

// Verdict is the outcome of a claim.
type Verdict string

// The verdicts.
const (
	Reproduced Verdict = "reproduced"
	Refuted    Verdict = "refuted"
	Undecided  Verdict = "undecided"
	NotTested  Verdict = "not tested" // what the claim compares is not there
)

// Finding is the evidence for or against a claim: an estimate with a 95% interval, and the bounds it is held against.
type Finding struct {
	Claim     string  `json:"claim"`
	Statistic string  `json:"statistic"`
	Kind      string  `json:"-"` // of the statistic, in a word or two
	Estimate  Float   `json:"estimate"`
	Lower     Float   `json:"lower"`
	Upper     Float   `json:"upper"`           // may be infinite
	Bound     float64 `json:"bound"`           // the claim is that the statistic is below it
	Above     *Float  `json:"above,omitempty"` // and above this, where the claim is that two agents are alike
	// P is the p-value of the bound that is nearer, against both sides. Holm's correction makes it larger.
	P        Float   `json:"p"`
	Periods  int     `json:"periods"`
	Runs     int     `json:"runs"`            // or pairs of runs, diverged ones included
	Diverged int     `json:"diverged"`        // runs, of all that are compared
	Share    *Float  `json:"share,omitempty"` // of a difference, see [Difference]
	Verdict  Verdict `json:"verdict"`
	Reason   string  `json:"reason,omitempty"` // why there is no estimate
	// Discrete says that the statistic is of a choice among settings. Its interval does not shrink as 1/sqrt(runs).
	Discrete bool `json:"-"`

	wide widening // of the interval
	// alone is what Holm's correction found, and times by what it multiplied the p-value; zero without a correction.
	alone struct {
		verdict Verdict
		p       float64
		times   float64
	}
}

// Below judges the claim that a statistic is below a bound: by the whole interval, one way or the other.
func Below(statistic string, e Estimate, bound float64, periods, runs int) Finding {
	f := Finding{Statistic: statistic, Estimate: e.Value, Lower: e.Lower, Upper: e.Upper, Bound: bound,
		P: Float(e.PValue(bound)), Periods: periods, Runs: runs, Verdict: Undecided, wide: e.student.wide}
	switch {
	case float64(e.Upper) < bound:
		f.Verdict = Reproduced
	case float64(e.Lower) > bound:
		f.Verdict = Refuted
	}
	return f
}

// Within judges the claim that a statistic lies between two numbers, as that of two agents that are alike does
// (Schuirmann's two one-sided tests): reproduced where the whole interval lies between them, refuted where it lies
// outside.
func Within(statistic string, e Estimate, above, bound float64, periods, runs int) Finding {
	f := Below(statistic, e, bound, periods, runs)
	floor := Float(above)
	f.Above = &floor
	switch low := e.PValue(above); {
	case float64(e.Upper) < above:
		f.Verdict, f.P = Refuted, Float(low)
	case f.Verdict != Refuted:
		if float64(e.Lower) <= above {
			f.Verdict = Undecided
		}
		f.P = Float(math.Max(float64(f.P), low))
	}
	return f
}

// Holm corrects findings that are read together, as those of a table are: their p-values by Holm's method, and to
// undecided the verdicts that 1 - Level does not bear out then. Findings that have no p-value are left as they are.
func Holm(all []Finding) []Finding {
	out := slices.Clone(all)
	var order []int
	for i, f := range out {
		if f.Verdict != NotTested && !math.IsNaN(float64(f.P)) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(out[i].P, out[j].P) })
	least := Float(0)
	for rank, i := range order {
		f := &out[i]
		f.alone.verdict, f.alone.p, f.alone.times = f.Verdict, float64(f.P), float64(len(order)-rank)
		least = max(least, min(1, f.P*Float(f.alone.times)))
		f.P = least
		if f.P >= 1-Level {
			f.Verdict = Undecided
		}
	}
	return out
}

// Wants is what the claim says of the statistic.
func (f Finding) Wants() string {
	if f.Above != nil {
		return fmt.Sprintf("between %.3g and %.3g", float64(*f.Above), f.Bound)
	}
	return fmt.Sprintf("below %.3g", f.Bound)
}

// String is the finding in a line.
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

// RunsToDecide is the number of runs that would decide an undecided claim, roughly: the interval shrinks as
// 1/sqrt(runs), and as the factor does that widens the intervals of few runs; its limit on the bound's side must come to
// the bound. ok is false where the number is unknown or the claim is decided.
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

// DecidedAlone tells whether the claim would be decided if Holm's correction did not leave it undecided.
func (f Finding) DecidedAlone() bool {
	return f.Verdict == Undecided && (f.alone.verdict == Reproduced || f.alone.verdict == Refuted)
}

// RunsToDecideAmong is, likewise, the number of runs that would decide a claim which is [Finding.DecidedAlone]: while
// the estimate and the other claims stay, its p-value must come to what Holm's correction asks of it.
func (f Finding) RunsToDecideAmong() (runs float64, ok bool) {
	p := f.alone.p
	if !f.DecidedAlone() || f.Discrete || p <= 0 {
		return 0, false
	}
	times := max(f.alone.times, float64(f.P)/p) // more where a claim of a smaller p-value is undecided
	z := func(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p/2) }
	return f.shorter(z((1-Level)/times) / z(p)), true
}

// shorter is the number of runs that makes the interval shorter by a factor.
func (f Finding) shorter(shrink float64) float64 {
	now, factor := float64(f.Runs), f.wide.factor
	runs := now * shrink * shrink
	for range 20 { // to a fixed point: the factor of so many runs
		runs = now * math.Pow(shrink*factor(runs)/factor(now), 2)
	}
	return math.Ceil(runs + 1)
}
