package beyond

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// side is an agent with settings.
type side struct {
	agent string
	sets  []string
}

func (s side) String() string {
	if len(s.sets) == 0 {
		return s.agent
	}
	return fmt.Sprintf("%s %v", s.agent, s.sets)
}

// comparison is of two agents, by the ratio of their mean regrets over the same seeds, which is to be below the bound.
type comparison struct {
	a, b  side
	bound float64
}

func (c comparison) judge(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
	var rows []lab.Row
	for entry, s := range []side{c.a, c.b} {
		_, own, err := simulate([]string{s.agent}, s.sets, size)
		if err != nil {
			return lab.Finding{}, err
		}
		for _, r := range own {
			r.Entry = entry
			rows = append(rows, r)
		}
	}
	d, err := lab.PairedDifference(rows, 0, 1)
	if err != nil {
		return lab.Finding{}, err
	}
	what := fmt.Sprintf("cumulative regret of %v over that of %v at period %d", c.a, c.b, d.Period)
	if len(size.Sets) > 0 {
		what += " with " + strings.Join(size.Sets, " ")
	}
	f := lab.Below(what, d.Ratio, c.bound, d.Period, d.Pairs)
	f.Kind, f.Diverged, f.Share = "ratio of regret", d.Diverged, &d.Share
	return f, size.Enough(f.Runs)
}
