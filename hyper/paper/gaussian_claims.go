package paper

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// linearNearExact claims that the distribution that a diagonal linear hypermodel can represent suffices for Thompson
// sampling. The paper shows no curve of exact Thompson sampling; the bound 1.35 is chosen here.
var linearNearExact = lab.Claim{
	Name: "linear-near-exact", Sentence: 1,
	Text: "a diagonal linear hypermodel with index dimension 10 explores nearly as well as exact Thompson " +
		"sampling (ours)",
	Quick: lab.Size{Periods: 2000, Runs: 30}, Full: lab.Size{Periods: 2000, Runs: 100},
	Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
		return compareRegret(simulate, size, 1.35,
			lab.NewSide("linear", "arms=20", "index-dim=10"), lab.NewSide("exact", "arms=20"))
	},
}

// largerEnsembles claims that a small number of particles limits an ensemble (sections 1 and 4.1).
var largerEnsembles = lab.Claim{
	Name:  "larger-ensembles",
	Text:  "an ensemble of 100 particles has less regret than one of 10 (sections 1 and 4.1)",
	Quick: lab.Size{Periods: 2000, Runs: 60}, Full: lab.Size{Periods: 2000, Runs: 200},
	Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
		return compareRegret(simulate, size, 1,
			lab.NewSide("ensemble", "arms=20", "particles=100"), lab.NewSide("ensemble", "arms=20", "particles=10"))
	},
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
	return f, lab.EnoughRuns(size, f.Runs)
}

// compareRegret judges the mean cumulative regret of a divided by that of b, paired by seed.
func compareRegret(simulate lab.Simulator, size lab.Size, bound float64, a, b lab.Side) (lab.Finding, error) {
	return lab.Comparison{A: a, B: b, Below: bound}.Judge(simulate, size)
}
