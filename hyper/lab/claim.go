package lab

import (
	"fmt"
	"math"
)

// Claim is a statement of the paper as a test on fresh seeds.
type Claim struct {
	Name string
	Text string // what the paper says, with its section
	// Test runs what it needs, by simulate, and judges. quick asks for a size of a minute or two.
	Test func(simulate Simulator, quick bool) (Finding, error)
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
)

// Finding is the evidence for or against a claim: an estimate with a 95% interval, and the bound it is held against.
type Finding struct {
	Claim     string  `json:"claim"`
	Statistic string  `json:"statistic"`
	Estimate  float64 `json:"estimate"`
	Lower     Float   `json:"lower"`
	Upper     Float   `json:"upper"` // may be infinite
	Bound     float64 `json:"bound"` // the claim is that the statistic is below it
	Runs      int     `json:"runs"`
	Diverged  int     `json:"diverged"`
	Verdict   Verdict `json:"verdict"`
	// Discrete says that the statistic is of a choice among settings: its interval goes in steps, and does not shrink as 1/sqrt(runs).
	Discrete bool `json:"-"`
}

// Below judges the claim that a statistic is below a bound: by the whole interval, one way or the other.
func Below(statistic string, estimate, lower, upper, bound float64, runs int) Finding {
	f := Finding{Statistic: statistic, Estimate: estimate, Lower: Float(lower), Upper: Float(upper), Bound: bound, Runs: runs, Verdict: Undecided}
	switch {
	case upper < bound:
		f.Verdict = Reproduced
	case lower > bound:
		f.Verdict = NotReproduced
	}
	return f
}

// String is the finding in a line.
func (f Finding) String() string {
	return fmt.Sprintf("%s = %.4g, 95%% interval [%.4g, %.4g], bound %.4g, %d runs: %s", f.Statistic, f.Estimate, f.Lower, f.Upper, f.Bound, f.Runs, f.Verdict)
}

// RunsToDecide is about how many runs would decide an undecided claim: the interval shrinks as 1/sqrt(runs), and its limit on the bound's side must
// come to the bound. ok is false for claims that are decided, and for those of which it cannot be told.
func (f Finding) RunsToDecide() (runs float64, ok bool) {
	limit := float64(f.Upper)
	if f.Estimate > f.Bound {
		limit = float64(f.Lower)
	}
	shrink := (limit - f.Estimate) / (f.Bound - f.Estimate)
	if f.Verdict != Undecided || f.Discrete || math.IsInf(shrink, 0) || math.IsNaN(shrink) {
		return 0, false
	}
	return math.Ceil(float64(f.Runs)*shrink*shrink + 1), true
}
