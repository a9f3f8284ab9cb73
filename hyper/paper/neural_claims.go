package paper

import (
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The sizes of the tests on the neural bandit, see notebooks/results/PROTOCOL.md.
var (
	neuralQuickTest = lab.Size{Periods: 500, Runs: 16}
	neuralFullTest  = lab.Size{Periods: 5000, Runs: 60}
	longTest        = lab.Size{Periods: 100_000, Runs: 24}
	priorTest       = lab.Size{Periods: 2000, Runs: 60}
	dimensionTest   = lab.Size{Periods: 20_000, Runs: 60}

	// what the studies of the appendices had before the protocol
	appendixB, appendixC = []lab.Size{{Periods: 1000, Runs: 30}}, []lab.Size{{Periods: 1000, Runs: 24}}
)

// less is the claim that the mean regret of a is below bound times that of b.
func less(name, text string, bound float64, a, b arm) lab.Claim {
	return comparison{a: a, b: b, bound: bound}.claim(name, text, neuralFullTest)
}

// claim is that the comparison comes out, at a size.
func (c comparison) claim(name, text string, full lab.Size, smaller ...lab.Size) lab.Claim {
	return lab.Claim{Name: name, Text: text, Quick: neuralQuickTest, Full: full, Smaller: smaller, Test: c.judge}
}

// in is an agent on the neural bandit with a number of actions.
func in(actions int, agent string, sets ...string) arm {
	return arm{agent, append([]string{fmt.Sprintf("actions=%d", actions)}, sets...)}
}

func particles(n int) string { return fmt.Sprintf("particles=%d", n) }

var ensembleSizes = []int{10, 30, 100, 300}

// neuralClaims are those of section 4.2.
func neuralClaims() []lab.Claim {
	out := slices.Concat(ensembleClaims(), otherClaims(), longClaims())
	return append(out, less("hypernetwork-below-linear",
		"a hypernetwork of as many parameters has less regret than the linear hypermodel (section 6: an open question)", 1,
		in(1000, "hypernetwork"), in(1000, "linear")))
}

// ensembleClaims compare the linear hypermodel with ensembles: better with 1000 actions, like them with 200.
func ensembleClaims() (out []lab.Claim) {
	for _, n := range ensembleSizes {
		out = append(out, less(fmt.Sprintf("linear-below-ensemble-%d", n),
			fmt.Sprintf("with 1000 actions the linear hypermodel has less regret than an ensemble of %d (section 4.2)", n), 1,
			in(1000, "linear"), in(1000, "ensemble", particles(n))))
	}
	for _, n := range ensembleSizes {
		c := comparison{a: in(200, "linear"), b: in(200, "ensemble", particles(n)), above: 1 / 1.25, bound: 1.25}
		out = append(out, c.claim(fmt.Sprintf("comparable-%d", n), fmt.Sprintf(
			"with 200 actions the linear hypermodel and an ensemble of %d have comparable regret (section 4.2; within a "+
				"quarter, ours)", n), neuralFullTest))
	}
	return out
}

// otherClaims compare the linear hypermodel with agents that do worse, and ensembles with perturbations and without.
func otherClaims() (out []lab.Claim) {
	for _, actions := range []int{200, 1000} {
		for _, other := range []string{"egreedy", "independent"} {
			out = append(out, less(fmt.Sprintf("linear-below-%s-%d", other, actions),
				fmt.Sprintf("with %d actions the linear hypermodel has less regret than %s (section 4.2)", actions,
					words[other]), 1, in(actions, "linear"), in(actions, other)))
		}
	}
	for _, other := range []string{"egreedy", "independent"} {
		out = append(out, lab.Claim{
			Name: other + "-gap-grows",
			Text: fmt.Sprintf("the gap between %s and the linear hypermodel grows from 200 actions to 1000 "+
				"(section 4.2)", words[other]),
			Quick: neuralQuickTest, Full: neuralFullTest,
			Test: func(simulate lab.Simulator, size lab.Size) (lab.Finding, error) {
				return contrast(simulate, size, in(1000, "linear"), in(1000, other), in(200, "linear"), in(200, other))
			},
		})
	}
	return append(out, less("ensemble-no-perturbation",
		"without perturbations an ensemble of 10 has less regret than with scale 1 (section 4.2)", 1,
		in(1000, "ensemble", particles(10), "perturbation=0"), in(1000, "ensemble", particles(10), "perturbation=1")))
}

// longClaims compare what agents lose a period in the long run.
func longClaims() (out []lab.Claim) {
	for _, other := range []struct {
		agent              string
		actions, particles int
	}{{"ensemble", 1000, 10}, {"ensemble", 1000, 30}, {"egreedy", 1000, 0}, {"ensemble", 200, 10}} {
		name, text := fmt.Sprintf("long-run-%s-%d", other.agent, other.actions), words[other.agent]
		b := in(other.actions, other.agent)
		if other.particles > 0 {
			name, text = fmt.Sprintf("%s-%d", name, other.particles), fmt.Sprintf("%s of %d", text, other.particles)
			b = in(other.actions, other.agent, particles(other.particles))
		}
		c := comparison{a: in(other.actions, "linear"), b: b, bound: 1, late: true}
		out = append(out, c.claim(name, fmt.Sprintf("in the long run the linear hypermodel loses less a period than %s, "+
			"%d actions (section 4.2)", text, other.actions), longTest))
	}
	return out
}

// words name agents in sentences.
var words = map[string]string{"egreedy": "epsilon-greedy", "independent": "independent arms", "ensemble": "an ensemble"}

// additivePriorClaims are those of appendix B.
func additivePriorClaims() []lab.Claim {
	var out []lab.Claim
	for _, actions := range []int{200, 1000} {
		for _, n := range ensembleSizes {
			name, smaller := fmt.Sprintf("prior-helps-%d", n), appendixB
			if actions != 200 {
				name, smaller = fmt.Sprintf("%s-%d", name, actions), nil
			}
			c := comparison{a: in(actions, "ensemble", particles(n), "additive-prior=yes"),
				b: in(actions, "ensemble", particles(n), "additive-prior=no"), bound: 1}
			out = append(out, c.claim(name, fmt.Sprintf("an additive prior lowers the regret of an ensemble of %d, %d "+
				"actions (appendix B)", n, actions), priorTest, smaller...))
		}
	}
	return out
}

// noiseClaims are those of appendix C on perturbations.
func noiseClaims() []lab.Claim {
	at := func(noise, perturbation int, more ...string) arm {
		return arm{"linear", append([]string{fmt.Sprintf("noise=%d", noise), fmt.Sprintf("perturbation=%d", perturbation)},
			more...)}
	}
	var out []lab.Claim
	for _, noise := range []int{0, 1} {
		for _, scale := range []int{1, 2} {
			name := fmt.Sprintf("no-perturbation-%d", noise)
			if scale == 2 {
				name += "-2"
			}
			c := comparison{a: at(noise, 0), b: at(noise, scale), bound: 1}
			out = append(out, c.claim(name, fmt.Sprintf("without perturbations regret is lower than with scale %d when the "+
				"noise is %d (appendix C)", scale, noise), neuralFullTest, appendixC...))
		}
	}
	const helps = "perturbations of scale 1 give less regret than none when the noise is 2%s (appendix C)"
	out = append(out,
		comparison{a: at(2, 1), b: at(2, 0), bound: 1}.claim("perturbation-2", fmt.Sprintf(helps, ""), longTest,
			appendixC...),
		comparison{a: at(2, 1, "optimizer=sgd"), b: at(2, 0, "optimizer=sgd"), bound: 1}.claim("perturbation-2-sgd",
			fmt.Sprintf(helps, ", trained by SGD"), longTest))
	for _, noise := range []int{0, 1, 2} {
		c := comparison{a: at(noise, 2), b: at(noise, 0), above: 1 / 1.5, bound: 1.5}
		out = append(out, c.claim(fmt.Sprintf("robust-%d", noise), fmt.Sprintf("regret with perturbations of scale 2 is "+
			"like that with none when the noise is %d (appendix C: robust; within a half, ours)", noise), neuralFullTest,
			appendixC...))
	}
	return out
}

// priorClaims are those of appendix C on misspecified priors.
func priorClaims() []lab.Claim {
	at := func(m string) arm { return arm{"linear", []string{"prior-multiplier=" + m}} }
	of := func(name, text string, a, b string) lab.Claim {
		return comparison{a: at(a), b: at(b), bound: 1}.claim(name, text+" (appendix C)", longTest, appendixC...)
	}
	return []lab.Claim{
		of("small-prior-costs", "a prior of a hundredth of the variance has more regret than the right one", "1", "0.01"),
		of("large-prior-costs", "a prior of thirty times the variance has more regret than the right one", "1", "30"),
		of("large-prior-is-mild", "a prior of ten times the variance costs less than one of a hundredth", "10", "0.01"),
	}
}

// dimensionClaims are those of appendix C on the index dimension.
func dimensionClaims() []lab.Claim {
	at := func(m int) arm { return arm{"linear", []string{fmt.Sprintf("index-dim=%d", m)}} }
	return []lab.Claim{
		comparison{a: at(10), b: at(1), bound: 1}.claim("dimension-helps",
			"index dimension 10 for each layer gives less regret than 1 (appendix C)", dimensionTest, appendixC...),
		comparison{a: at(5), b: at(10), bound: 1.25}.claim("dimension-saturates",
			"from 5 to 10 regret falls by less than a fifth (appendix C: marginal; the bound is ours)", dimensionTest,
			appendixC...),
	}
}

// approximationClaims are those of appendices D and E.
func approximationClaims() []lab.Claim {
	of := func(agent string, sets ...string) arm { return arm{agent, sets} }
	claim := func(name, text string, bound float64, a, b arm) lab.Claim {
		return comparison{a: a, b: b, bound: bound}.claim(name, text, neuralFullTest, appendixC...)
	}
	alike := comparison{a: of("diagonal", "perturbation=1"), b: of("diagonal", "perturbation=0"), above: 1 / 1.25,
		bound: 1.25}
	return []lab.Claim{
		claim("diagonal-below-bbb",
			"perturbed SGD trains a diagonal hypermodel to less regret than Bayes by Backprop (appendix D)", 1,
			of("diagonal"), of("bbb")),
		claim("linear-below-diagonal", "the linear hypermodel has less regret than the diagonal one (appendix D)", 1,
			of("linear"), of("diagonal")),
		claim("linear-below-bbb", "the linear hypermodel has less regret than Bayes by Backprop (appendix D)", 1,
			of("linear"), of("bbb")),
		claim("weak-divergence", "Bayes by Backprop with the weight of the divergence that a search found has less regret "+
			"than with weight 1 (appendix D)", 1, of("bbb"), of("bbb", "kl-strength=1")),
		claim("narrow-prior", "Bayes by Backprop has less regret with a prior of deviation 0.2 than of 0.01 (appendix D)", 1,
			of("bbb", "prior-deviation=0.2"), of("bbb", "prior-deviation=0.01")),
		claim("wide-prior", "Bayes by Backprop has less regret with a prior of deviation 0.2 than of 1 (appendix D)", 1,
			of("bbb", "prior-deviation=0.2"), of("bbb", "prior-deviation=1")),
		alike.claim("diagonal-perturbation", "perturbations make no difference to the diagonal hypermodel (appendix D; "+
			"within a quarter, ours)", neuralFullTest),
		claim("linear-below-dropout", "the linear hypermodel has less regret than dropout (appendix E)", 1, of("linear"),
			of("dropout")),
		claim("diagonal-below-dropout", "the diagonal hypermodel has less regret than dropout (appendix E)", 1,
			of("diagonal"), of("dropout")),
		claim("keep-half", "dropout that keeps half of the units has less regret than one that keeps 0.95 (appendix E)", 1,
			of("dropout", "keep=0.5"), of("dropout", "keep=0.95")),
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
	f := lab.Below(statistic, gap.Mean, 0, gap.Period, gap.Pairs)
	f.Kind, f.Diverged, f.Share = "difference of gaps", gap.Diverged, &gap.Share
	return f, size.Enough(f.Runs)
}
