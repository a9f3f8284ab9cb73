package paper

import (
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
