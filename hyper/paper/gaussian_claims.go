package paper

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// linearNearExact claims that the distribution that a diagonal linear hypermodel can represent suffices for Thompson
// sampling. The paper shows no curve of exact Thompson sampling.
var linearNearExact = study.Claim{
	Name: "linear-near-exact", Sentence: 1,
	Text: fmt.Sprintf("with 20 arms, a diagonal linear hypermodel with index dimension 10 has at most %v times the "+
		"regret of exact Thompson sampling (not in the paper)", nearExactBound),
	Quick: lab.Size{Periods: 2000, Runs: 30}, Full: lab.Size{Periods: 2000, Runs: 100},
	Test: study.RegretRatio{A: study.NewSide("linear", "arms=20", "index-dim=10"), B: study.NewSide("exact", "arms=20"),
		Claimed: study.Below(nearExactBound)}.Test,
}

// largerEnsembles claims that a small number of particles limits an ensemble.
var largerEnsembles = study.Claim{
	Name:  "larger-ensembles",
	Text:  "with 20 arms, an ensemble of 100 particles has less regret than an ensemble of 10 (sections 1 and 4.1)",
	Quick: lab.Size{Periods: 2000, Runs: 60}, Full: lab.Size{Periods: 2000, Runs: 200},
	Test: study.RegretRatio{A: study.NewSide("ensemble", "arms=20", "particles=100"),
		B: study.NewSide("ensemble", "arms=20", "particles=10"), Claimed: study.Below(1)}.Test,
}
