package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Sentence is something that is said, in a form that runs can answer.
type Sentence struct {
	Number  int
	Section string // where it is said
	Text    string // in plain words
	Label   string // in a word or three
	Quote   string // in the words of who says it
	// Parts compares what the sentence is about. The sentence says that every part lies in its range.
	Parts func(*Archive) ([]Part, error)
}

// Verdict is the answer to a sentence.
type Verdict string

// The answers.
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
	Shown     Part    // the part that makes the answer, or leaves it open
	P         float64 // two-sided, before the correction
	Corrected float64 // by Holm's method, over all sentences
	Needs     string  // what would decide an open sentence
}

// alpha is the level of all answers together.
const alpha = 0.05

// Answer answers sentences that are read together. A sentence holds if all its parts do: its p-value is the largest
// p-value of its parts (an intersection-union test). It does not hold if one part does not: the smallest p-value of the
// parts, times their number. Twice the smaller of the two is corrected by Holm's method.
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

// sides are the one-sided p-values that all parts hold, and that one does not.
func sides(parts []Part) (holds, fails float64) {
	fails = 1
	for _, p := range parts {
		holds, fails = max(holds, p.For), min(fails, p.Against*float64(len(parts)))
	}
	return holds, fails
}

// decide fills in the verdict. An open sentence would have an answer with a one-sided p-value of wanted, as Holm's method
// asks it where the other sentences stay.
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

// needs says what would decide an open sentence: runs that are missing, or about how many runs of each agent if the
// estimates stay.
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
	return fmt.Sprintf("about %s runs", rounded(runs))
}

// runsFor is about the number of runs with which a p-value comes to a wanted one, if the estimate stays: infinite where
// the estimate is on the other side.
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

// rounded has two digits: no estimate of a number of runs is better.
func rounded(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return fmt.Sprintf("%.0f", math.Ceil(x/unit)*unit)
}
