package paper

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The sizes of the tests on the neural bandit.
var neuralQuickTest, neuralFullTest = lab.Size{Periods: 500, Runs: 16}, lab.Size{Periods: 5000, Runs: 60}

// less is the claim that the mean regret of a is below bound times that of b.
func less(name, text string, bound float64, a, b arm) lab.Claim {
	return lab.Claim{Name: name, Text: text, Quick: neuralQuickTest, Full: neuralFullTest,
		Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
			return compareRegret(simulate, size, bound, a, b)
		}}
}

// neuralClaims are those of section 4.2.
func neuralClaims() []lab.Claim {
	var out []lab.Claim
	at := func(agent string, actions int, more ...string) arm {
		return arm{agent, append([]string{fmt.Sprintf("actions=%d", actions)}, more...)}
	}
	for _, actions := range []int{200, 1000} {
		for _, other := range []string{"egreedy", "independent"} {
			out = append(out, less(fmt.Sprintf("linear-below-%s-%d", other, actions),
				fmt.Sprintf("with %d actions the linear hypermodel has less regret than %s (section 4.2)", actions, other), 1,
				at("linear", actions), at(other, actions)))
		}
	}
	for _, n := range []int{10, 30, 100, 300} {
		particles := fmt.Sprintf("particles=%d", n)
		out = append(out, less(fmt.Sprintf("linear-below-ensemble-%d", n),
			fmt.Sprintf("with 1000 actions the linear hypermodel has less regret than an ensemble of %d (section 4.2)", n), 1,
			at("linear", 1000), at("ensemble", 1000, particles)))
	}
	for _, other := range []string{"egreedy", "independent"} {
		out = append(out, lab.Claim{
			Name: other + "-gap-grows",
			Text: fmt.Sprintf("the gap between %s and the linear hypermodel grows from 200 actions to 1000 "+
				"(section 4.2)", other),
			Quick: neuralQuickTest, Full: neuralFullTest,
			Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
				return contrast(simulate, size, at("linear", 1000), at(other, 1000), at("linear", 200), at(other, 200))
			},
		})
	}
	return out
}

// additivePriorClaims are those of appendix B.
func additivePriorClaims() []lab.Claim {
	var out []lab.Claim
	for _, n := range []int{10, 30, 100, 300} {
		particles := fmt.Sprintf("particles=%d", n)
		out = append(out,
			less(fmt.Sprintf("prior-helps-%d", n),
				fmt.Sprintf("an additive prior lowers the regret of an ensemble of %d (appendix B)", n), 1,
				arm{"ensemble", []string{particles, "additive-prior=yes"}}, arm{"ensemble",
					[]string{particles, "additive-prior=no"}}))
	}
	return out
}

// noiseClaims are those of appendix C on perturbations.
func noiseClaims() []lab.Claim {
	at := func(noise, perturbation int) arm {
		return arm{"linear", []string{fmt.Sprintf("noise=%d", noise), fmt.Sprintf("perturbation=%d", perturbation)}}
	}
	const low = "without perturbations regret is lower than with scale 1 when the noise is %d (appendix C)"
	return []lab.Claim{
		less("no-perturbation-0", fmt.Sprintf(low, 0), 1, at(0, 0), at(0, 1)),
		less("no-perturbation-1", fmt.Sprintf(low, 1), 1, at(1, 0), at(1, 1)),
		less("perturbation-2", "perturbations of scale 1 give less regret than none when the noise is 2 (appendix C)", 1,
			at(2, 1), at(2, 0)),
	}
}

// priorClaims are those of appendix C on misspecified priors.
func priorClaims() []lab.Claim {
	at := func(m string) arm { return arm{"linear", []string{"prior-multiplier=" + m}} }
	return []lab.Claim{
		less("small-prior-costs", "a prior of a hundredth of the variance has more regret than the right one (appendix C)",
			1, at("1"), at("0.01")),
		less("large-prior-costs", "a prior of thirty times the variance has more regret than the right one (appendix C)", 1,
			at("1"), at("30")),
		less("large-prior-is-mild", "a prior of ten times the variance costs less than one of a hundredth (appendix C)", 1,
			at("10"), at("0.01")),
	}
}

// dimensionClaims are those of appendix C on the index dimension.
func dimensionClaims() []lab.Claim {
	at := func(m int) arm { return arm{"linear", []string{fmt.Sprintf("index-dim=%d", m)}} }
	return []lab.Claim{
		less("dimension-helps", "index dimension 10 for each layer gives less regret than 1 (appendix C)", 1, at(10), at(1)),
		less("dimension-saturates",
			"from 5 to 10 regret falls by less than a fifth (appendix C: marginal; the bound is ours)", 1.25, at(5), at(10)),
	}
}

// approximationClaims are those of appendices D and E.
func approximationClaims() []lab.Claim {
	of := func(agent string) arm { return arm{agent, nil} }
	return []lab.Claim{
		less("diagonal-not-worse-than-bbb",
			"perturbed SGD trains a diagonal hypermodel to no more regret than Bayes by Backprop (appendix D; within a tenth)", 1.1,
			of("diagonal"), of("bbb")),
		less("linear-below-diagonal", "the linear hypermodel has less regret than the diagonal one (appendix D)", 1,
			of("linear"), of("diagonal")),
		less("linear-below-bbb", "the linear hypermodel has less regret than Bayes by Backprop (appendix D)", 1,
			of("linear"), of("bbb")),
		less("linear-below-dropout", "the linear hypermodel has less regret than dropout (appendix E)", 1, of("linear"),
			of("dropout")),
	}
}

// contrast judges (a - b) - (c - d) < 0 for mean cumulative regrets, by seed.
func contrast(simulate lab.Simulator, size lab.Size, a, b, c, d arm) (lab.Finding, error) {
	_, rows, err := together(simulate, size, a, b, c, d)
	if err != nil {
		return lab.Finding{}, err
	}
	gap, err := lab.PairedContrast(rows, 0, 1, 2, 3)
	if err != nil {
		return lab.Finding{}, err
	}
	statistic := fmt.Sprintf("(%s less %s) %v less the same %v, at period %d", a.agent, b.agent, a.sets, c.sets,
		gap.Period)
	f := lab.Below(statistic, lab.Estimate{Value: gap.Mean, Lower: gap.Lower, Upper: gap.Upper}, 0, gap.Period,
		gap.Pairs)
	f.Diverged = gap.Diverged
	return f, size.Enough(f.Runs)
}
