package paper

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// linearNearExact claims that the distribution that a diagonal linear hypermodel can represent suffices for Thompson
// sampling. The paper shows no curve of exact Thompson sampling; the bound 1.35 is chosen here.
var linearNearExact = study.Claim{
	Name: "linear-near-exact", Sentence: 1,
	Text: "a diagonal linear hypermodel with index dimension 10 explores nearly as well as exact Thompson " +
		"sampling (ours)",
	Quick: lab.Size{Periods: 2000, Runs: 30}, Full: lab.Size{Periods: 2000, Runs: 100},
	Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
		return compareRegret(simulate, size, 1.35,
			study.NewSide("linear", "arms=20", "index-dim=10"), study.NewSide("exact", "arms=20"))
	},
}

// largerEnsembles claims that a small number of particles limits an ensemble (sections 1 and 4.1).
var largerEnsembles = study.Claim{
	Name:  "larger-ensembles",
	Text:  "an ensemble of 100 particles has less regret than one of 10 (sections 1 and 4.1)",
	Quick: lab.Size{Periods: 2000, Runs: 60}, Full: lab.Size{Periods: 2000, Runs: 200},
	Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
		return compareRegret(simulate, size, 1,
			study.NewSide("ensemble", "arms=20", "particles=100"), study.NewSide("ensemble", "arms=20", "particles=10"))
	},
}

// againstTarget judges whether a setting of an agent performs well.
func againstTarget(simulate study.Simulator, size lab.Size, agent string, sets ...string) (study.Finding, error) {
	h, rows, err := simulate([]string{agent}, sets, size)
	if err != nil {
		return study.Finding{}, err
	}
	c := analysis.Curves(h, rows)[0]
	mean, periods := c.Final()
	if periods == 0 {
		return study.Finding{}, fmt.Errorf("agent %s: %w", agent, analysis.ErrNoRows)
	}
	f := study.JudgeBelow("average regret per period", mean.Scaled(1/float64(periods)),
		performsWell(h.Spec.Entries[0].Setting), periods, c.Runs)
	f.Kind, f.Diverged = "regret a period", c.Diverged
	return f, study.EnoughRuns(size, f.Runs)
}

// compareRegret judges the mean cumulative regret of a divided by that of b, paired by seed.
func compareRegret(simulate study.Simulator, size lab.Size, bound float64, a, b study.Side) (study.Finding, error) {
	return study.Comparison{A: a, B: b, Below: bound}.Judge(simulate, size)
}
