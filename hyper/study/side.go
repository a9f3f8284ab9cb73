package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Simulator runs agents of an experiment, with "key=value" settings as in [lab.Experiment.Spec]. No setting was tuned
// on its seeds.
type Simulator func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error)

// Side is one side of a comparison: an agent with settings, which are "key=value" texts.
type Side struct {
	Agent string
	Sets  []string
}

// NewSide returns an agent with settings, which are "key=value" texts, as one side of a comparison.
func NewSide(agent string, sets ...string) Side { return Side{agent, sets} }

// String returns the agent's name, and its settings in brackets if there are any.
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

// EnoughRuns returns nil if there are at least as many runs, or pairs of runs, as the size requests, and otherwise
// [analysis.ErrMissing]. A study may have enough runs for each side of a comparison, but too few with the same seeds.
func EnoughRuns(size lab.Size, runs int) error {
	if runs >= size.Runs {
		return nil
	}
	return fmt.Errorf("%w: the comparison needs %d runs with the same seeds on all sides; the study has %d",
		analysis.ErrMissing, size.Runs, runs)
}

// RegretRatio is the ratio of the mean regrets of two agents over the same seeds, and the range in which it is claimed
// to lie. Its method Test is the test of a [Claim].
type RegretRatio struct {
	A, B    Side
	Claimed Range
	Late    bool // compare the regret in the second half of the periods
}

// Test simulates both sides at a size, and judges the ratio of the regret of A to the regret of B.
func (r RegretRatio) Test(simulate Simulator, size lab.Size) (Finding, error) {
	_, rows, err := SimulateSides(simulate, size, r.A, r.B)
	if err != nil {
		return Finding{}, err
	}
	d, c, err := r.difference(rows)
	if err != nil {
		return Finding{}, err
	}
	if len(size.Sets) > 0 {
		c.Text += " with " + strings.Join(size.Sets, " ")
	}
	c.Claimed, c.Estimate, c.Periods, c.Runs, c.Diverged = r.Claimed, d.Ratio, d.Period, d.Pairs, d.Diverged
	f := c.Judge()
	f.Share = &d.Share
	return f, EnoughRuns(size, f.Runs)
}

// difference returns the difference between the two sides, and a comparison that describes it in words.
func (r RegretRatio) difference(rows []lab.Row) (d analysis.Difference, c Comparison, err error) {
	if r.Late {
		d, from, err := analysis.LateDifference(rows, 0, 1)
		return d, Comparison{Kind: "ratio of late regret", Text: fmt.Sprintf(
			"regret of %v divided by regret of %v from period %d to %d", r.A, r.B, from, d.Period)}, err
	}
	d, err = analysis.PairedDifference(rows, 0, 1)
	return d, Comparison{Kind: "ratio of regret", Text: fmt.Sprintf(
		"cumulative regret of %v divided by cumulative regret of %v at period %d", r.A, r.B, d.Period)}, err
}
