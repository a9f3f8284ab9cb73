package paper

import (
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// sparseClaims returns the claims of section 5.
func sparseClaims() []study.Claim {
	quick, full := lab.Size{Periods: 200, Runs: 40, Sets: quickIDS}, lab.Size{Periods: 400, Runs: 500, Sets: fullIDS}
	compare := func(name, text string, bound float64, a, b study.Side) study.Claim {
		return study.Claim{Name: name, Text: text, Quick: quick, Full: full,
			Test: study.RegretRatio{A: a, B: b, Claimed: study.Below(bound)}.Test}
	}
	printed := []string{"noise-factor=100"}
	return []study.Claim{
		compare("ids-halves",
			"with little noise, which the agents know, IDS has at most half of Thompson sampling's regret (section 5: dramatic; "+
				"the bound and the noise are ours)",
			0.5, study.NewSide("ids"), study.NewSide("thompson")),
		compare("exact-ids-halves", "with the exact posterior, and little noise, which the agents know, IDS has at "+
			"most half of Thompson sampling's regret (ours)", 0.5, study.NewSide("exact-ids"),
			study.NewSide("exact-thompson")),
		compare("ids-as-printed",
			"as printed, with noise of variance 1 taken for 0.01, IDS has less regret than Thompson sampling (section 5)", 1,
			study.NewSide("ids", printed...), study.NewSide("thompson", printed...)),
		ofSentence(6, compare("ids-as-printed-halves", "as printed, IDS has at most half of Thompson sampling's regret "+
			"(section 5: dramatic; the bound is ours)", 0.5, study.NewSide("ids", printed...),
			study.NewSide("thompson", printed...))),
		compare("exact-ids-as-printed", "as printed, with the posterior that is exact for a variance of 0.01, IDS has "+
			"less regret than Thompson sampling (ours)", 1,
			study.NewSide("exact-ids", printed...), study.NewSide("exact-thompson", printed...)),
		compare("ids-noise-known", "with noise of variance 1 that the agents know, IDS has less regret than Thompson "+
			"sampling (ours)", 1, study.NewSide("ids", "noise-variance=1"), study.NewSide("thompson", "noise-variance=1")),
		compare("ids-near-exact",
			"what training costs: IDS has at most four times the regret with the trained hypermodel that it has with the exact "+
				"posterior (ours)", 4, study.NewSide("ids"), study.NewSide("exact-ids")),
		compare("thompson-near-exact", "what training costs: Thompson sampling has at most four times the regret with the "+
			"trained hypermodel that it has with the exact posterior (ours)", 4, study.NewSide("thompson"),
			study.NewSide("exact-thompson")),
	}
}
