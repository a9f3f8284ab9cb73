package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// linearNearExact: what the index distribution of a diagonal linear hypermodel can represent suffices for Thompson
// sampling. The bound 1.35 is ours: the paper shows no curve of exact Thompson sampling.
var linearNearExact = lab.Claim{
	Name: "linear-near-exact",
	Text: "a diagonal linear hypermodel with index dimension 10 explores nearly as well as exact Thompson " +
		"sampling (ours)",
	Quick: lab.Size{Periods: 2000, Runs: 30}, Full: lab.Size{Periods: 2000, Runs: 100},
	Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
		return compareRegret(simulate, size, 1.35,
			arm{"linear", []string{"arms=20", "index-dim=10"}}, arm{"exact", []string{"arms=20"}})
	},
}

// largerEnsembles: the parsimony of small ensembles limits them (sections 1 and 4.1).
var largerEnsembles = lab.Claim{
	Name:  "larger-ensembles",
	Text:  "an ensemble of 100 particles has less regret than one of 10 (sections 1 and 4.1)",
	Quick: lab.Size{Periods: 2000, Runs: 60}, Full: lab.Size{Periods: 2000, Runs: 200},
	Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
		return compareRegret(simulate, size, 1,
			arm{"ensemble", []string{"arms=20", "particles=100"}}, arm{"ensemble", []string{"arms=20", "particles=10"}})
	},
}

// reachesTarget: the agent has a setting that performs well in the paper's sense.
func reachesTarget(agent string, arms int, setting string) lab.Claim {
	return lab.Claim{
		Name: fmt.Sprintf("target-%s-%d", agent, arms),
		Text: fmt.Sprintf("with %s, %s has average regret below 0.01 sqrt(K) over 10,000 periods at K = %d arms "+
			"(ours: section 4.1's target, trained with closed forms)", setting, agent, arms),
		Quick: performQuick, Full: performFull,
		Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
			return againstTarget(simulate, size, agent, fmt.Sprintf("arms=%d", arms), setting, "integrate=analytic")
		},
	}
}

// againstTarget judges whether a setting of an agent performs well.
func againstTarget(simulate lab.Simulator, size lab.Size, agent string, sets ...string) (lab.Finding, error) {
	h, rows, err := simulate([]string{agent}, sets, size)
	if err != nil {
		return lab.Finding{}, err
	}
	c := lab.Curves(h, rows)[0]
	mean, periods := c.Final()
	if periods == 0 {
		return lab.Finding{}, fmt.Errorf("agent %s: %w", agent, lab.ErrNoRows)
	}
	f := lab.Below("average regret per period", mean.Scaled(1/float64(periods)),
		performsWell(h.Spec.Entries[0].Setting), periods, c.Runs)
	f.Kind, f.Diverged = "regret a period", c.Diverged
	return f, size.Enough(f.Runs)
}

// arm is one side of a comparison.
type arm struct {
	agent string
	sets  []string
}

func (a arm) String() string {
	if len(a.sets) == 0 {
		return a.agent
	}
	return fmt.Sprintf("%s %v", a.agent, a.sets)
}

// together simulates sides one after the other, and joins them as entries of one result, in their order.
func together(simulate lab.Simulator, size lab.Size, sides ...arm) (h lab.Header, rows []lab.Row, err error) {
	var entries []lab.Entry
	for _, side := range sides {
		one, r, err := simulate([]string{side.agent}, side.sets, size)
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

// compareRegret judges the ratio of mean cumulative regrets of a to b, paired by seed.
func compareRegret(simulate lab.Simulator, size lab.Size, bound float64, a, b arm) (lab.Finding, error) {
	return comparison{a: a, b: b, bound: bound}.judge(simulate, size)
}

// comparison is of two agents, by the ratio of their mean regrets over the same seeds.
type comparison struct {
	a, b         arm
	above, bound float64 // what the ratio is to lie between; without above it is to be below the bound
	late         bool    // of the regret in the second half of the periods
}

func (c comparison) judge(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
	_, rows, err := together(simulate, size, c.a, c.b)
	if err != nil {
		return lab.Finding{}, err
	}
	d, what, kind, err := c.difference(rows)
	if err != nil {
		return lab.Finding{}, err
	}
	if len(size.Sets) > 0 {
		what += " with " + strings.Join(size.Sets, " ")
	}
	f := lab.Below(what, d.Ratio, c.bound, d.Period, d.Pairs)
	if c.above > 0 {
		f = lab.Within(what, d.Ratio, c.above, c.bound, d.Period, d.Pairs)
	}
	f.Kind, f.Diverged, f.Share = kind, d.Diverged, &d.Share
	return f, size.Enough(f.Runs)
}

// difference returns that of the two sides, and its statistic in words.
func (c comparison) difference(rows []lab.Row) (d lab.Difference, what, kind string, err error) {
	if c.late {
		d, from, err := lab.LateDifference(rows, 0, 1)
		what = fmt.Sprintf("regret of %v over that of %v from period %d to %d", c.a, c.b, from, d.Period)
		return d, what, "ratio of late regret", err
	}
	d, err = lab.PairedDifference(rows, 0, 1)
	what = fmt.Sprintf("cumulative regret of %v over that of %v at period %d", c.a, c.b, d.Period)
	return d, what, "ratio of regret", err
}
