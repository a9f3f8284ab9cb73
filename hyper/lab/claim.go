package lab

import (
	"fmt"
	"math"
)

// Claim is a statement of the paper as a test on fresh seeds.
type Claim struct {
	Name string
	Text string // what the paper says, with its section
	// Quick and Full are the sizes at which the claim is judged: Quick takes a minute or two.
	Quick, Full Size
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
	Reproduced    Verdict = "reproduced"
	NotReproduced Verdict = "not reproduced"
	Undecided     Verdict = "undecided at this size"
	Unjudged      Verdict = "cannot be judged" // what the claim compares is not there
)

// Finding is the evidence for or against a claim: an estimate with a 95% interval, and the bound it is held against.
type Finding struct {
	Claim     string  `json:"claim"`
	Statistic string  `json:"statistic"`
	Estimate  Float   `json:"estimate"` // infinite where a run diverged, see [Row.Counted]
	Lower     Float   `json:"lower"`
	Upper     Float   `json:"upper"` // may be infinite
	Bound     float64 `json:"bound"` // the claim is that the statistic is below it
	Periods   int     `json:"periods"`
	Runs      int     `json:"runs"`     // or pairs of runs, diverged ones included
	Diverged  int     `json:"diverged"` // runs or pairs
	Verdict   Verdict `json:"verdict"`
	Reason    string  `json:"reason,omitempty"` // why it cannot be judged
	// Discrete says that the statistic is of a choice among settings. Its interval does not shrink as 1/sqrt(runs).
	Discrete bool `json:"-"`
}

// Below judges the claim that a statistic is below a bound: by the whole interval, one way or the other. An estimate of
// +Inf is below none: then a run diverged for which the claim wants little regret.
func Below(statistic string, e Estimate, bound float64, periods, runs int) Finding {
	f := Finding{Statistic: statistic, Estimate: e.Value, Lower: e.Lower, Upper: e.Upper, Bound: bound,
		Periods: periods, Runs: runs, Verdict: Undecided}
	switch {
	case float64(e.Upper) < bound:
		f.Verdict = Reproduced
	case float64(e.Lower) > bound || math.IsInf(float64(e.Value), 1):
		f.Verdict = NotReproduced
	}
	return f
}

// String is the finding in a line.
func (f Finding) String() string {
	if f.Verdict == Unjudged {
		return fmt.Sprintf("%s: %s", f.Verdict, f.Reason)
	}
	return fmt.Sprintf("%s = %.4g, 95%% interval [%.4g, %.4g], bound %.4g, %d runs: %s", f.Statistic,
		float64(f.Estimate), float64(f.Lower), float64(f.Upper),
		f.Bound, f.Runs, f.Verdict)
}

// RunsToDecide is the number of runs that would decide an undecided claim, roughly: the interval shrinks as
// 1/sqrt(runs), and its limit on the bound's side must come to the bound. ok is false where the number is unknown or
// the claim is decided.
func (f Finding) RunsToDecide() (runs float64, ok bool) {
	limit := float64(f.Upper)
	if float64(f.Estimate) > f.Bound {
		limit = float64(f.Lower)
	}
	shrink := (limit - float64(f.Estimate)) / (f.Bound - float64(f.Estimate))
	if f.Verdict != Undecided || f.Discrete || math.IsInf(shrink, 0) || math.IsNaN(shrink) {
		return 0, false
	}
	return math.Ceil(float64(f.Runs)*shrink*shrink + 1), true
}
