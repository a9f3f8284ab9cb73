package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// linearNearExact: what the index distribution of a diagonal linear hypermodel can represent suffices for Thompson sampling.
// The bound 1.35 is ours: the paper shows no curve of exact Thompson sampling.
var linearNearExact = lab.Claim{
	Name: "linear-near-exact",
	Text: "a diagonal linear hypermodel with index dimension 10 explores nearly as well as exact Thompson sampling (section 4.1; our bound)",
	Test: func(simulate lab.Simulator, quick bool) (lab.Finding, error) {
		return compareRegret(simulate, lab.Size{Periods: 2000, Runs: pick(quick, 30, 100)}, 1.35,
			arm{"linear", []string{"arms=20", "index-dim=10"}}, arm{"exact", []string{"arms=20"}})
	},
}

// largerEnsembles: the parsimony of small ensembles limits them (sections 1 and 4.1).
var largerEnsembles = lab.Claim{
	Name: "larger-ensembles",
	Text: "an ensemble of 100 particles has less regret than one of 10 (section 4.1)",
	Test: func(simulate lab.Simulator, quick bool) (lab.Finding, error) {
		return compareRegret(simulate, lab.Size{Periods: 2000, Runs: pick(quick, 60, 200)}, 1,
			arm{"ensemble", []string{"arms=20", "particles=100"}}, arm{"ensemble", []string{"arms=20", "particles=10"}})
	},
}

// reachesTarget: the agent has a setting that performs well in the paper's sense.
func reachesTarget(agent string, arms int, setting string) lab.Claim {
	return lab.Claim{
		Name: fmt.Sprintf("target-%s-%d", agent, arms),
		Text: fmt.Sprintf("with %s, %s has average regret below 0.01 sqrt(K) over 10,000 periods at K = %d arms (section 4.1)", setting, agent, arms),
		Test: func(simulate lab.Simulator, quick bool) (lab.Finding, error) {
			return againstTarget(simulate, claimSize(quick), agent, fmt.Sprintf("arms=%d", arms), setting, "integrate=analytic")
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
	last := len(c.Periods) - 1
	periods := float64(c.Periods[last])
	mean, half := c.Mean[last]/periods, c.HalfWidth[last]/periods
	f := lab.Below("average regret per period", mean, mean-half, mean+half, performsWell(h.Spec.Entries[0].Setting), c.Runs)
	f.Diverged = c.Diverged
	return f, nil
}

// arm is one side of a comparison.
type arm struct {
	agent string
	sets  []string
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
	_, rows, err := together(simulate, size, a, b)
	if err != nil {
		return lab.Finding{}, err
	}
	d, err := lab.PairedDifference(rows, 0, 1)
	if err != nil {
		return lab.Finding{}, err
	}
	statistic := fmt.Sprintf("cumulative regret of %s %v over that of %s %v at period %d", a.agent, a.sets, b.agent, b.sets, d.Period)
	if len(size.Sets) > 0 {
		statistic += " with " + strings.Join(size.Sets, " ")
	}
	f := lab.Below(statistic, float64(d.Ratio), float64(d.RatioLower), float64(d.RatioUpper), bound, d.Pairs)
	f.Diverged = d.Diverged
	return f, nil
}

func pick(quick bool, ifQuick, otherwise int) int {
	if quick {
		return ifQuick
	}
	return otherwise
}
