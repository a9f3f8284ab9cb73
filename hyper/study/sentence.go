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
	// Compare returns the comparisons of the sentence. The sentence claims that the number of every comparison lies in
	// its range.
	Compare func(*Archive) ([]Comparison, error)
}

// The possible verdicts on a sentence.
const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does not hold"
	Open        Verdict = "open"
)

// Answer is the answer to a sentence, with its evidence.
type Answer struct {
	Sentence
	Verdict     Verdict
	Comparisons []Comparison
	Deciding    Comparison // the comparison that determines the answer, or leaves it open
	P           float64    // two-sided, before the correction
	Corrected   float64    // p-value after Holm's correction over all sentences
	Needs       string     // what would decide an open sentence
}

// alpha is the level of all answers together.
const alpha = 0.05

// Answers answers sentences that are read together. A sentence holds if all its comparisons hold: its p-value is the
// largest p-value of the comparisons (an intersection-union test). A sentence does not hold if one comparison does not
// hold: the p-value is the smallest p-value of the comparisons, times the number of comparisons. Twice the smaller of
// the two p-values is corrected by Holm's method.
func Answers(a *Archive, sentences []Sentence) ([]Answer, error) {
	var out []Answer
	var p []float64
	for _, s := range sentences {
		all, err := s.Compare(a)
		if err != nil {
			return nil, fmt.Errorf("sentence %d: %w", s.Number, err)
		}
		holds, fails := sentenceP(all)
		p = append(p, min(1, 2*min(holds, fails)))
		out = append(out, Answer{Sentence: s, Comparisons: all, P: p[len(p)-1]})
	}
	corrected, _ := stats.Holm(p)
	open := 0
	for i := range out {
		if out[i].Corrected = corrected[i]; corrected[i] >= alpha {
			open++
		}
	}
	for i := range out {
		out[i].decide(alpha / 2 / float64(max(open, 1)))
	}
	return out, nil
}

// sentenceP returns the one-sided p-values of two results: that all comparisons hold, and that at least one does not.
func sentenceP(all []Comparison) (holds, fails float64) {
	fails = 1
	for _, c := range all {
		holds, fails = max(holds, c.Inside), min(fails, c.Outside*float64(len(all)))
	}
	return holds, fails
}

// decide sets the verdict. wanted is the one-sided p-value that Holm's method requires for the next answer, if the
// other open sentences stay open: the sentence that is decided next then has the smallest p-value of all open ones.
func (s *Answer) decide(wanted float64) {
	holds, fails := sentenceP(s.Comparisons)
	leastSure := slices.MaxFunc(s.Comparisons, func(x, y Comparison) int { return cmp.Compare(x.Inside, y.Inside) })
	mostAgainst := slices.MinFunc(s.Comparisons, func(x, y Comparison) int { return cmp.Compare(x.Outside, y.Outside) })
	s.Deciding = leastSure
	switch {
	case s.Corrected >= alpha:
		s.Verdict, s.Needs = Open, s.needs(wanted)
		if fails < holds {
			s.Deciding = mostAgainst
		}
	case holds <= fails:
		s.Verdict = Holds
	default:
		s.Verdict, s.Deciding = DoesNotHold, mostAgainst
	}
}

// needs describes what would decide an open sentence: runs that are missing, or the approximate number of runs of each
// agent, and the answer that they would give, if the estimates stay the same, and if the other sentences stay open. A
// p-value of one half or more gives no such number.
func (s *Answer) needs(wanted float64) string {
	for _, c := range s.Comparisons {
		switch {
		case c.Missing != "":
			return "to be run: " + c.Missing
		case c.Decide != "":
			return c.Decide
		}
	}
	toHold, toFail := 0.0, math.Inf(1)
	for _, c := range s.Comparisons {
		toHold = max(toHold, runsFor(c.Runs, c.Inside, wanted))
		toFail = min(toFail, runsFor(c.Runs, c.Outside, wanted/float64(len(s.Comparisons))))
	}
	runs := min(toHold, toFail)
	if math.IsInf(runs, 1) || runs > 1e6 {
		return "these runs do not say how many would decide"
	}
	answer := "it would hold"
	if toFail < toHold {
		answer = "it would not hold"
	}
	return fmt.Sprintf("about %s runs in all would decide: %s", RoundRuns(runs), answer)
}

// runsFor returns the approximate number of runs with which the p-value p of a number of runs reaches the wanted
// p-value, if the estimate stays the same. It is infinite if the estimate is on the other side.
func runsFor(runs int, p, wanted float64) float64 {
	if p <= wanted {
		return float64(runs)
	}
	if p >= 0.5 {
		return math.Inf(1)
	}
	z := func(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p) }
	return float64(runs) * math.Pow(z(wanted)/z(p), 2)
}

// RoundRuns writes a number of runs with two significant digits, rounded up, because an estimate of a number of runs is
// not more precise.
func RoundRuns(runs float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(runs))-1)
	return fmt.Sprintf("%.0f", math.Ceil(runs/unit)*unit)
}
