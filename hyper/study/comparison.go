package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Side is one side of a comparison: an agent with settings, which are "key=value" texts.
type Side struct {
	Agent string
	Sets  []string
}

// NewSide returns an agent with settings, which are "key=value" texts, as one side of a comparison.
func NewSide(agent string, sets ...string) Side { return Side{agent, sets} }

func (s Side) String() string {
	if len(s.Sets) == 0 {
		return s.Agent
	}
	return fmt.Sprintf("%s %v", s.Agent, s.Sets)
}

// SimulateSides simulates sides one after the other, and joins them as the entries of one result, in the order of the
// sides.
func SimulateSides(simulate Simulator, size lab.Size, sides ...Side) (h lab.Header, rows []lab.Row, err error) {
	var entries []lab.Entry
	for _, side := range sides {
		one, r, err := simulate([]string{side.Agent}, side.Sets, size)
		if err != nil {
			return h, nil, err
		}
		for _, row := range r {
			row.Entry += len(entries)
			rows = append(rows, row)
		}
		h, entries = one, slices.Concat(entries, one.Spec.Entries)
	}
	h.Spec.Entries = entries
	return h, rows, nil
}

// Comparison compares two agents by the ratio of their mean regrets over the same seeds. Judge is the test of a claim.
type Comparison struct {
	A, B         Side
	Above, Below float64 // the claimed range of the ratio; Above 0 means that there is only the bound Below
	Late         bool    // compare the regret in the second half of the periods
}

// Judge simulates both sides at a size, and judges the comparison.
func (c Comparison) Judge(simulate Simulator, size lab.Size) (Finding, error) {
	_, rows, err := SimulateSides(simulate, size, c.A, c.B)
	if err != nil {
		return Finding{}, err
	}
	d, what, kind, err := c.difference(rows)
	if err != nil {
		return Finding{}, err
	}
	if len(size.Sets) > 0 {
		what += " with " + strings.Join(size.Sets, " ")
	}
	f := JudgeBelow(what, d.Ratio, c.Below, d.Period, d.Pairs)
	if c.Above > 0 {
		f = JudgeWithin(what, d.Ratio, c.Above, c.Below, d.Period, d.Pairs)
	}
	f.Kind, f.Diverged, f.Share = kind, d.Diverged, &d.Share
	return f, EnoughRuns(size, f.Runs)
}

// difference returns the difference between the two sides, and describes its statistic in words.
func (c Comparison) difference(rows []lab.Row) (d analysis.Difference, what, kind string, err error) {
	if c.Late {
		d, from, err := analysis.LateDifference(rows, 0, 1)
		what = fmt.Sprintf("regret of %v divided by regret of %v from period %d to %d", c.A, c.B, from, d.Period)
		return d, what, "ratio of late regret", err
	}
	d, err = analysis.PairedDifference(rows, 0, 1)
	what = fmt.Sprintf("cumulative regret of %v divided by cumulative regret of %v at period %d", c.A, c.B, d.Period)
	return d, what, "ratio of regret", err
}

// EnoughRuns returns nil if a finding has at least as many runs, or pairs of runs, as the size requests, and otherwise
// [analysis.ErrMissing]. A study may have enough runs for each side of a comparison, but too few with the same seeds.
func EnoughRuns(size lab.Size, runs int) error {
	if runs >= size.Runs {
		return nil
	}
	return fmt.Errorf("%w: the comparison needs %d runs with the same seeds on all sides; the study has %d",
		analysis.ErrMissing, size.Runs, runs)
}
