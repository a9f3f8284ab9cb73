package paper

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Sizes of the tests of claims about figure 2.
var frontierQuickTest, frontierTest = lab.Size{Periods: 10_000, Runs: 20}, lab.Size{Periods: 10_000, Runs: 100}

// frontierClaims returns the claims about figure 2. The first claims ask whether exact Thompson sampling performs well:
// if it does not, agents that approximate it hardly can. The others compare the two agents for each number of arms for
// which both were searched.
func frontierClaims() (out []study.Claim) {
	for _, arms := range []int{100, 300, 1000} {
		out = append(out, study.Claim{
			Name: fmt.Sprintf("exact-%d", arms),
			Text: fmt.Sprintf("with K = %d arms, exact Thompson sampling performs well: its average regret is below "+
				"0.01 sqrt(K) (not in the paper)", arms),
			Quick: frontierQuickTest, Full: frontierTest,
			Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
				return exactAgainstTarget(simulate, size, arms)
			},
		})
	}
	const needs = "with K = %d arms, the diagonal linear hypermodel needs %s an ensemble %s (%s)"
	const toPerform, figure2 = "to perform well", "section 4.1, figure 2"
	for _, arms := range []int{10, 30} {
		out = append(out, leastComputation(fmt.Sprintf("least-%d", arms), fmt.Sprintf(needs, arms, "less computation than",
			toPerform, figure2), 1, PerformsWell, arms))
	}
	least100 := leastComputation("least-100", fmt.Sprintf(needs, 100, "at most a fiftieth of the computation of",
		toPerform, figure2), fiftieth, PerformsWell, 100)
	least100.Full = fiftiethTest
	out = append(out, ofSentence(2, least100))
	for _, f := range families() {
		if f.agent == "ensemble" && f.integrate == train.Sampled {
			out = append(out, leastComputation(fmt.Sprintf("twice-least-%d", f.arms), fmt.Sprintf(needs, f.arms,
				"less computation than", "for at most twice the regret of exact Thompson sampling", "not in the paper"), 1,
				TwiceExact, f.arms))
		}
	}
	return out
}

// exactAgainstTarget judges whether exact Thompson sampling performs well.
func exactAgainstTarget(simulate study.Simulator, size lab.Size, arms int) (study.Finding, error) {
	h, rows, err := simulate([]string{"exact"}, []string{fmt.Sprintf("arms=%d", arms)}, size)
	if err != nil {
		return study.Finding{}, err
	}
	c := analysis.Curves(h, rows)[0]
	mean, periods := c.Final()
	if periods == 0 {
		return study.Finding{}, fmt.Errorf("agent exact: %w", analysis.ErrNoRows)
	}
	f := study.Comparison{Text: "average regret per period", Kind: "regret a period",
		Estimate: mean.Scaled(1 / float64(periods)), Claimed: study.Below(paperTarget(h.Spec.Entries[0].Setting)),
		Periods: periods, Runs: c.Runs, Diverged: [2]int{c.Diverged}}.Judge()
	return f, study.EnoughRuns(size, f.Runs)
}

// leastComputation returns the claim that the least computation of a diagonal linear hypermodel, divided by the least
// computation of an ensemble, is below a bound. Both are trained by the paper's algorithm.
func leastComputation(name, text string, ratio float64, bound RegretBound, arms int) study.Claim {
	linear, ensemble := frontierFamily{"linear", train.Sampled, arms}, frontierFamily{"ensemble", train.Sampled, arms}
	return study.Claim{Name: name, Text: text, Quick: frontierQuickTest, Full: frontierTest,
		Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
			var least [2]analysis.Least
			var none study.NonePassesError
			for i, f := range []frontierFamily{linear, ensemble} {
				var err error
				least[i], err = leastOf(simulate, size, bound, f)
				if errors.Is(err, analysis.ErrNoneBelow) {
					none.Agents, none.Cause = append(none.Agents, f.agent), errors.Join(none.Cause, err)
				} else if err != nil {
					return study.Finding{}, err
				}
			}
			if none.Cause != nil {
				return study.Finding{}, none
			}
			c, err := computationRatio(least[0], least[1], study.Below(ratio))
			if err != nil {
				return study.Finding{}, err
			}
			c.Kind, c.Periods = "ratio of computation", size.Periods
			c.Text = fmt.Sprintf("least computation of %v, %.3g, over that of %v, %.3g", linear,
				float64(least[0].Computation.Value), ensemble, float64(least[1].Computation.Value))
			f := c.Judge()
			f.Discrete = true
			return f, nil
		}}
}

// computationRatio compares two agents by the ratio of their least computations, which is claimed to be below a bound.
// Each agent must have a setting that performs well.
func computationRatio(least, other analysis.Least, claimed study.Range) (study.Comparison, error) {
	ratio, p, err := least.Over(other, claimed.Below)
	if err != nil {
		return study.Comparison{}, err
	}
	c := study.Comparison{Claimed: claimed, Estimate: ratio, Runs: least.Runs, Inside: 1, Outside: 1}
	if float64(ratio.Value) < claimed.Below {
		c.Inside = p / 2
	} else {
		c.Outside = p / 2
	}
	return c, nil
}

// leastOf simulates a family's settings, and returns the least computation among those below a bound. The error wraps
// analysis.ErrNoneBelow if no setting is below the bound.
func leastOf(simulate study.Simulator, size lab.Size, bound RegretBound, f frontierFamily) (analysis.Least, error) {
	var sides []study.Side
	for _, sets := range f.settings() {
		sides = append(sides, study.NewSide(f.agent, sets...))
	}
	if sides == nil {
		return analysis.Least{}, fmt.Errorf("no search has found settings of %v with %d arms near the frontier", f, f.arms)
	}
	target, err := bound.target(simulate, size, f.arms)
	if err != nil {
		return analysis.Least{}, err
	}
	h, rows, err := study.SimulateSides(simulate, size, sides...)
	if err != nil {
		return analysis.Least{}, err
	}
	all := make([]int, len(h.Spec.Entries))
	for i := range all {
		all[i] = i
	}
	least, err := analysis.LeastComputation(h, rows, all, target)
	if err != nil && !errors.Is(err, analysis.ErrNoneBelow) {
		return least, err
	}
	if few := study.EnoughRuns(size, least.Runs); few != nil {
		return least, few
	}
	return least, err
}
