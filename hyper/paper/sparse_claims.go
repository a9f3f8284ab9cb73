package paper

import (
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// sparseClaims are those of section 5.
func sparseClaims() []lab.Claim {
	quick, full := lab.Size{Periods: 200, Runs: 40, Sets: quickIDS}, lab.Size{Periods: 500, Runs: 100, Sets: fullIDS}
	compare := func(name, text string, bound float64, a, b arm) lab.Claim {
		return lab.Claim{Name: name, Text: text, Quick: quick, Full: full,
			Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
				return compareRegret(simulate, size, bound, a, b)
			}}
	}
	return []lab.Claim{
		compare("ids-halves",
			"with the one-sparse hypermodel IDS has at most half of Thompson sampling's regret (section 5; the bound is ours)", 0.5,
			arm{"ids", nil}, arm{"thompson", nil}),
		compare("exact-ids-halves", "and so it is with the exact posterior", 0.5, arm{"exact-ids", nil},
			arm{"exact-thompson", nil}),
		compare("ids-near-exact",
			"IDS with the trained hypermodel has at most four times the regret of that with the exact posterior (our bound: what training costs)", 4,
			arm{"ids", nil}, arm{"exact-ids", nil}),
		compare("thompson-near-exact", "and so has Thompson sampling", 4, arm{"thompson", nil}, arm{"exact-thompson", nil}),
		compare("ids-as-printed",
			"as printed, with noise of variance 1 taken for 0.01, IDS has less regret than Thompson sampling (section 5)", 1,
			arm{"ids", []string{"noise-factor=100"}}, arm{"thompson", []string{"noise-factor=100"}}),
	}
}
