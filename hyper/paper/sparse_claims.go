package paper

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// sparseClaims returns the claims of section 5.
func sparseClaims() []study.Claim {
	quick := lab.Size{Periods: 200, Runs: 40, Sets: quickIDS}
	claim := func(name, text string, bound float64, a, b study.Side) study.Claim {
		return study.Claim{Name: name, Text: text, Quick: quick, Full: sparseTest,
			Test: study.RegretRatio{A: a, B: b, Claimed: study.Below(bound)}.Test}
	}
	const known = "with noise of variance %s, which the agents know, "
	const printed = "with the settings that the paper prints (the noise has variance 1, the agents assume 0.01), "
	const trainingCosts = "%[1]s with the trained hypermodel has at most four times the regret of %[1]s with the exact " +
		"posterior (the cost of training; not in the paper)"
	return []study.Claim{
		claim("ids-halves", fmt.Sprintf(known, "0.01")+"IDS has at most half of the regret of Thompson sampling (section 5: "+
			"dramatic; the bound and the noise are not in the paper)", dramaticBound,
			study.NewSide("ids"), study.NewSide("thompson")),
		claim("exact-ids-halves", fmt.Sprintf(known, "0.01")+"and the exact posterior, IDS has at most half of the "+
			"regret of Thompson sampling (not in the paper)", dramaticBound,
			study.NewSide("exact-ids"), study.NewSide("exact-thompson")),
		claim("ids-as-printed", printed+"IDS has less regret than Thompson sampling (section 5)", 1,
			study.NewSide("ids", asPrinted...), study.NewSide("thompson", asPrinted...)),
		ofSentence(6, claim("ids-as-printed-halves", printed+"IDS has at most half of the regret of Thompson sampling "+
			"(section 5: dramatic; the bound is not in the paper)", dramaticBound,
			study.NewSide("ids", asPrinted...), study.NewSide("thompson", asPrinted...))),
		claim("exact-ids-as-printed", printed+"and the posterior that is exact for 0.01, IDS has less regret than Thompson "+
			"sampling (not in the paper)", 1,
			study.NewSide("exact-ids", asPrinted...), study.NewSide("exact-thompson", asPrinted...)),
		claim("ids-noise-known", fmt.Sprintf(known, "1")+"IDS has less regret than Thompson sampling (not in the paper)", 1,
			study.NewSide("ids", "noise-variance=1"), study.NewSide("thompson", "noise-variance=1")),
		claim("ids-near-exact", fmt.Sprintf(trainingCosts, "IDS"), 4,
			study.NewSide("ids"), study.NewSide("exact-ids")),
		claim("thompson-near-exact", fmt.Sprintf(trainingCosts, "Thompson sampling"), 4,
			study.NewSide("thompson"), study.NewSide("exact-thompson")),
	}
}
