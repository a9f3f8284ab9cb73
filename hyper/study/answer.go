package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Sentence is a claim in a form that runs can answer.
type Sentence struct {
	Number  int
	Section string // section of the source
	Text    string // the claim in plain words
	Label   string // the claim in one to three words
	Quote   string // the claim in the words of the source
	// Parts returns the comparisons of the sentence. The sentence claims that the number of every part lies in its
	// range.
	Parts func(*Archive) ([]Part, error)
}

// The possible verdicts on a sentence.
const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does not hold"
	Open        Verdict = "open"
)

// Answered is a sentence with its answer.
type Answered struct {
	Sentence
	Verdict   Verdict
	Evidence  []Part
	Shown     Part    // the part that determines the answer, or leaves it open
	P         float64 // two-sided, before the correction
	Corrected float64 // p-value after Holm's correction over all sentences
	Needs     string  // what would decide an open sentence
}

// alpha is the level of all answers together.
const alpha = 0.05

// Answer answers sentences that are read together. A sentence holds if all its parts hold: its p-value is the largest
// p-value of the parts (an intersection-union test). A sentence does not hold if one part does not hold: the p-value is
// the smallest p-value of the parts, times the number of parts. Twice the smaller of the two p-values is corrected by
// Holm's method.
func Answer(a *Archive, sentences []Sentence) ([]Answered, error) {
	var out []Answered
	var p []float64
	for _, s := range sentences {
		parts, err := s.Parts(a)
		if err != nil {
			return nil, fmt.Errorf("sentence %d: %w", s.Number, err)
		}
		holds, fails := sides(parts)
		out = append(out, Answered{Sentence: s, Evidence: parts, P: min(1, 2*min(holds, fails))})
		p = append(p, out[len(out)-1].P)
	}
	for i, corrected := range stats.Holm(p) {
		smaller := 0
		for _, q := range p {
			if q < p[i] {
				smaller++
			}
		}
		out[i].Corrected = corrected
		out[i].decide(alpha / 2 / float64(len(p)-smaller))
	}
	return out, nil
}

// sides returns the one-sided p-values of two results: that all parts hold, and that at least one does not.
func sides(parts []Part) (holds, fails float64) {
	fails = 1
	for _, p := range parts {
		holds, fails = max(holds, p.For), min(fails, p.Against*float64(len(parts)))
	}
	return holds, fails
}

// decide sets the verdict. wanted is the one-sided p-value that Holm's method requires for an answer, if the other
// sentences stay the same.
func (s *Answered) decide(wanted float64) {
	holds, fails := sides(s.Evidence)
	byFor := func(x, y Part) int { return cmp.Compare(x.For, y.For) }
	byAgainst := func(x, y Part) int { return cmp.Compare(x.Against, y.Against) }
	s.Shown = slices.MaxFunc(s.Evidence, byFor) // the weakest part
	switch {
	case s.Corrected >= alpha:
		s.Verdict, s.Needs = Open, s.needs(wanted)
		if fails < holds {
			s.Shown = slices.MinFunc(s.Evidence, byAgainst)
		}
	case holds <= fails:
		s.Verdict = Holds
	default:
		s.Verdict, s.Shown = DoesNotHold, slices.MinFunc(s.Evidence, byAgainst)
	}
}

// needs describes what would decide an open sentence: runs that are missing, or the approximate number of runs of each
// agent, if the estimates stay the same.
func (s *Answered) needs(wanted float64) string {
	for _, p := range s.Evidence {
		if text := cmp.Or(p.Missing, p.Decide); text != "" {
			return text
		}
	}
	toHold, toFail := 0.0, math.Inf(1)
	for _, p := range s.Evidence {
		toHold = max(toHold, runsFor(p, p.For, wanted))
		toFail = min(toFail, runsFor(p, p.Against, wanted/float64(len(s.Evidence))))
	}
	runs := min(toHold, toFail)
	if math.IsInf(runs, 1) || runs > 1e6 {
		return "more than a million runs"
	}
	return fmt.Sprintf("about %s runs", Rounded(runs))
}

// runsFor returns the approximate number of runs with which a p-value reaches the wanted one, if the estimate stays the
// same. It is infinite if the estimate is on the other side.
func runsFor(part Part, p, wanted float64) float64 {
	if p <= wanted {
		return float64(part.Pairs)
	}
	if p >= 0.5 {
		return math.Inf(1)
	}
	z := func(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p) }
	return float64(part.Pairs) * math.Pow(z(wanted)/z(p), 2)
}

// Rounded writes two significant digits, because an estimate of a number of runs is not more precise.
func Rounded(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return fmt.Sprintf("%.0f", math.Ceil(x/unit)*unit)
}
