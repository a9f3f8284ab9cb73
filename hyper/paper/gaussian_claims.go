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
	Test: study.RegretRatio{A: study.NewSide("linear", "arms=20", "index-dim=10"), B: study.NewSide("exact", "arms=20"),
		Claimed: study.Below(1.35)}.Test,
}

// largerEnsembles claims that a small number of particles limits an ensemble (sections 1 and 4.1).
var largerEnsembles = study.Claim{
	Name:  "larger-ensembles",
	Text:  "an ensemble of 100 particles has less regret than one of 10 (sections 1 and 4.1)",
	Quick: lab.Size{Periods: 2000, Runs: 60}, Full: lab.Size{Periods: 2000, Runs: 200},
	Test: study.RegretRatio{A: study.NewSide("ensemble", "arms=20", "particles=100"),
		B: study.NewSide("ensemble", "arms=20", "particles=10"), Claimed: study.Below(1)}.Test,
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
	f := study.Comparison{Text: "average regret per period", Kind: "regret a period",
		Estimate: mean.Scaled(1 / float64(periods)), Claimed: study.Below(performsWell(h.Spec.Entries[0].Setting)),
		Periods: periods, Runs: c.Runs, Diverged: [2]int{c.Diverged}}.Judge()
	return f, study.EnoughRuns(size, f.Runs)
}
