package paper

import (
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

var neuralQuickTest = lab.Size{Periods: 500, Runs: 16}

// regretClaim returns the claim that a ratio of regrets on the neural bandit lies in a range, with a full size.
func regretClaim(name, text string, full lab.Size, ratio study.RegretRatio) study.Claim {
	return study.Claim{Name: name, Text: text, Quick: neuralQuickTest, Full: full, Test: ratio.Test}
}

// lessRegret returns the claim that a has less regret than b on the neural bandit.
func lessRegret(name, text string, full lab.Size, a, b study.Side) study.Claim {
	return regretClaim(name, text, full, study.RegretRatio{A: a, B: b, Claimed: study.Below(1)})
}

// onActions returns an agent on the neural bandit with a number of actions.
func onActions(actions int, agent string, sets ...string) study.Side {
	return study.NewSide(agent, slices.Concat([]string{fmt.Sprintf("actions=%d", actions)}, sets)...)
}

func particles(n int) string { return fmt.Sprintf("particles=%d", n) }

var ensembleSizes = []int{10, 30, 100, 300}

// ofSentence returns a claim as part of one of the ten sentences.
func ofSentence(number int, c study.Claim) study.Claim {
	c.Sentence = number
	return c
}

// paperSGD selects the paper's own algorithm: plain SGD with indices that are drawn independently.
var paperSGD = []string{"optimizer=sgd", "index-set=iid"}

// byAdam1000 has the settings for 1000 actions from the searches of equal budget, see winners. Long runs have other
// defaults, see longPeriods.
var byAdam1000 = slices.Concat(winner("linear-1000"), []string{"clip=0", "schedule=constant"})

// neuralClaims returns claims about section 4.2 in addition to the sentences on it. The sentences compare agents with
// equal training: see belowEnsembles, similarRegret and gapGrowing. The agents here have the settings of the first
// protocol in notebooks/results/PROTOCOL.md.
func neuralClaims() []study.Claim {
	less := func(name, text string, a, b study.Side) study.Claim {
		return lessRegret(name, text+" (section 4.2)", neuralTest, a, b)
	}
	late := func(name, text string, actions int, a, b study.Side) study.Claim {
		return regretClaim("long-run-"+name, fmt.Sprintf("with %d actions, in the second half of the periods, the linear "+
			"hypermodel trained by %s (not in the paper)", actions, text), longTest,
			study.RegretRatio{A: a, B: b, Claimed: study.Below(1), Late: true})
	}
	const unperturbed = "with 1000 actions, %s has less regret without perturbations than with perturbations of scale 1"
	return []study.Claim{
		less("linear-below-independent-1000",
			"with 1000 actions, the linear hypermodel has less regret than Thompson sampling with independent arms",
			onActions(1000, "linear"), onActions(1000, "independent")),
		less("independent-degrades",
			"Thompson sampling with independent arms has less regret with 200 actions than with 1000",
			onActions(200, "independent"), onActions(1000, "independent")),
		less("linear-no-perturbation", fmt.Sprintf(unperturbed, "the linear hypermodel"),
			onActions(1000, "linear", "perturbation=0"), onActions(1000, "linear", "perturbation=1")),
		less("ensemble-no-perturbation", fmt.Sprintf(unperturbed, "an ensemble of 10"),
			onActions(1000, "ensemble", particles(10), "perturbation=0"),
			onActions(1000, "ensemble", particles(10), "perturbation=1")),
		late("ensemble-200-30", "Adam has less regret per period than an ensemble of 30", 200,
			onActions(200, "linear"), onActions(200, "ensemble", particles(30))),
		late("paper-linear-1000", "plain SGD has less regret per period than trained by Adam", 1000,
			onActions(1000, "linear", paperSGD...), onActions(1000, "linear", byAdam1000...)),
		lessRegret("hypernetwork-below-linear", "with 1000 actions, a hypernetwork has less regret than the linear "+
			"hypermodel, which has as many parameters (not in the paper: section 6 leaves it open)", neuralTest,
			onActions(1000, "hypernetwork"), onActions(1000, "linear")),
	}
}

// additivePriorClaims returns the claims of appendix B.
func additivePriorClaims() (out []study.Claim) {
	for _, actions := range []int{200, 1000} {
		for _, n := range ensembleSizes {
			name := fmt.Sprintf("prior-helps-%d", n)
			if actions != 200 {
				name = fmt.Sprintf("%s-%d", name, actions)
			}
			out = append(out, ofSentence(8, lessRegret(name, fmt.Sprintf("with %d actions, an ensemble of %d has less regret "+
				"with an additive prior than without (appendix B)", actions, n), priorTest,
				onActions(actions, "ensemble", particles(n), "additive-prior=yes"),
				onActions(actions, "ensemble", particles(n), "additive-prior=no"))))
		}
	}
	return out
}

const bySGD, byAdam = ", trained by plain SGD,", ", trained by Adam,"

// noiseClaims returns the claims of appendix C about perturbations.
func noiseClaims() (out []study.Claim) {
	linear := func(noise, perturbation int, more ...string) study.Side {
		sets := []string{fmt.Sprintf("noise=%d", noise), fmt.Sprintf("perturbation=%d", perturbation)}
		return study.NewSide("linear", slices.Concat(sets, more)...)
	}
	const withNoise = "with 200 actions and noise of standard deviation %d, "
	for _, noise := range []int{0, 1} {
		for _, scale := range []int{1, 2} {
			name := fmt.Sprintf("no-perturbation-%d", noise)
			if scale == 2 {
				name += "-2"
			}
			out = append(out, lessRegret(name, fmt.Sprintf(withNoise+"the linear hypermodel has less regret without "+
				"perturbations than with perturbations of scale %d (appendix C)", noise, scale), neuralTest,
				linear(noise, 0), linear(noise, scale)))
		}
	}
	const helps = withNoise + "the linear hypermodel%s has less regret with perturbations of scale 1 than without " +
		"(appendix C)"
	out = append(out,
		lessRegret("perturbation-2", fmt.Sprintf(helps, 2, byAdam), longTest, linear(2, 1), linear(2, 0)),
		ofSentence(9, lessRegret("perturbation-2-sgd", fmt.Sprintf(helps, 2, bySGD), longTest,
			linear(2, 1, paperSGD...), linear(2, 0, paperSGD...))),
		moreNoiseClaim(linear(2, 1), linear(2, 0), linear(1, 1), linear(1, 0)))
	for _, c := range []struct {
		name         string
		noise, scale int
	}{{"robust-0", 0, 0}, {"robust-1", 1, 0}, {"robust-2", 2, 0}, {"robust-2-1", 2, 1}} {
		out = append(out, regretClaim(c.name, fmt.Sprintf(withNoise+"the regret of the linear hypermodel with "+
			"perturbations of scale 2 is between 2/3 and 3/2 times the regret with scale %d (appendix C: robust; the bounds "+
			"are not in the paper)", c.noise, c.scale), neuralTest,
			study.RegretRatio{A: linear(c.noise, 2), B: linear(c.noise, c.scale), Claimed: study.Within(1.5)}))
	}
	return out
}

// moreNoiseClaim returns the claim that perturbations are more useful with more noise: the difference a - b, with large
// noise, is below the difference c - d, with small noise.
func moreNoiseClaim(a, b, c, d study.Side) study.Claim {
	return study.Claim{Name: "perturbation-noise", Quick: neuralQuickTest, Full: neuralTest,
		Text: "with 200 actions, perturbations of scale 1 add less to the regret of the linear hypermodel with noise of " +
			"standard deviation 2 than with noise of standard deviation 1 (appendix C: perturbations are needed as the noise " +
			"grows)",
		Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
			return contrast(simulate, size, a, b, c, d)
		}}
}

// contrast judges whether (a - b) - (c - d) < 0 for mean cumulative regrets, paired by seed.
func contrast(simulate study.Simulator, size lab.Size, a, b, c, d study.Side) (study.Finding, error) {
	_, rows, err := study.SimulateSides(simulate, size, a, b, c, d)
	if err != nil {
		return study.Finding{}, err
	}
	gap, err := analysis.PairedContrast(rows, 0, 1, 2, 3)
	if err != nil {
		return study.Finding{}, err
	}
	statistic := fmt.Sprintf("(%s minus %s) with %v, minus the same difference with %v, at period %d", a.Agent, b.Agent,
		a.Sets, c.Sets, gap.Period)
	f := study.Comparison{Text: statistic, Kind: "difference of gaps", Estimate: gap.Mean, Claimed: study.Below(0),
		Periods: gap.Period, Runs: gap.Pairs, Diverged: gap.Diverged}.Judge()
	f.Share = &gap.Share
	return f, study.EnoughRuns(size, f.Runs)
}

// priorClaims returns the claims of appendix C about misspecified priors, trained by Adam and by the paper's own
// algorithm.
func priorClaims() (out []study.Claim) {
	for _, training := range []struct {
		suffix, text string
		sets         []string
		sentence     int
	}{{"", byAdam, nil, 0}, {"-sgd", bySGD, paperSGD, 9}} {
		linear := func(multiplier string) study.Side {
			return study.NewSide("linear", slices.Concat(training.sets, []string{"prior-multiplier=" + multiplier})...)
		}
		add := func(name, text, a, b string) {
			out = append(out, ofSentence(training.sentence, lessRegret(name+training.suffix, fmt.Sprintf(
				"with 200 actions, the linear hypermodel%s has less regret with %s", training.text, text), longTest,
				linear(a), linear(b))))
		}
		add("small-prior-costs", "the right prior than with a prior of 1/100 of the variance (appendix C)", "1", "0.01")
		add("large-prior-costs", "the right prior than with a prior of 30 times the variance (appendix C)", "1", "30")
		add("large-prior-is-mild", "a prior of 30 times the right variance than with a prior of 1/100 of the right "+
			"variance (appendix C: a large variance adds some regret, and a small variance adds much regret)", "30", "0.01")
	}
	return out
}

// dimensionClaims returns the claims of appendix C about the index dimension.
func dimensionClaims() []study.Claim {
	linear := func(m int) study.Side { return study.NewSide("linear", fmt.Sprintf("index-dim=%d", m)) }
	return []study.Claim{
		ofSentence(9, lessRegret("dimension-helps", "with 200 actions, the linear hypermodel has less regret with "+
			"index dimension 10 for each layer than with index dimension 1 (appendix C)", dimensionTest, linear(10), linear(1))),
		ofSentence(9, regretClaim("dimension-flat", fmt.Sprintf("with 200 actions, the regret of the linear "+
			"hypermodel with index dimension 5 for each layer is between 1/%[1]v and %[1]v times the regret with index "+
			"dimension 10 (appendix C: the gain is marginal; the bounds are not in the paper)", similarBound), dimensionTest,
			study.RegretRatio{A: linear(5), B: linear(10), Claimed: study.Within(similarBound)})),
	}
}

// approximationClaims returns the claims of appendices D and E.
func approximationClaims() []study.Claim {
	const fourIndices = "with 200 actions and 4 indices in each SGD step (not in the paper), "
	less := func(name, text string, a, b study.Side) study.Claim {
		return lessRegret(name, fourIndices+text, neuralTest, a, b)
	}
	ratio := func(name, text string, claimed study.Range, a, b study.Side) study.Claim {
		return regretClaim(name, fourIndices+text, neuralTest, study.RegretRatio{A: a, B: b, Claimed: claimed})
	}
	keepsHalf := func(name, keep string) study.Claim {
		return ratio(name, fmt.Sprintf("dropout that keeps half of the units has at most %v times the regret of dropout "+
			"that keeps %s (appendix E: a half works well; the bound is not in the paper)", similarBound, keep),
			study.Below(similarBound), study.NewSide("dropout", "keep=0.5"), study.NewSide("dropout", "keep="+keep))
	}
	linear, diagonal := study.NewSide("linear"), study.NewSide("diagonal")
	bbb, dropout := study.NewSide("bbb"), study.NewSide("dropout")
	return []study.Claim{
		ofSentence(10, less("diagonal-below-bbb", "the diagonal hypermodel with diagonal B has less regret trained by "+
			"perturbed SGD than trained by Bayes by Backprop (appendix D: slightly)", diagonal, bbb)),
		less("linear-below-diagonal", "the linear hypermodel has less regret than the diagonal hypermodel with diagonal B "+
			"(appendix D)", linear, diagonal),
		less("linear-below-bbb", "the linear hypermodel has less regret than Bayes by Backprop (appendix D)", linear, bbb),
		less("weak-divergence", "Bayes by Backprop has less regret with the weight of the divergence that a search found "+
			"than with weight 1 (appendix D)", bbb, study.NewSide("bbb", "kl-strength=1")),
		less("weak-divergence-order", "Bayes by Backprop has less regret with weight 0.1 of the divergence than with weight "+
			"1 (appendix D: the weight is lowered by an order)", study.NewSide("bbb", "kl-strength=0.1"),
			study.NewSide("bbb", "kl-strength=1")),
		less("narrow-prior", "Bayes by Backprop has less regret with a prior of standard deviation 0.2 than with a prior of "+
			"0.01 (appendix D)", study.NewSide("bbb", "prior-deviation=0.2"), study.NewSide("bbb", "prior-deviation=0.01")),
		less("wide-prior", "Bayes by Backprop has less regret with a prior of standard deviation 0.2 than with a prior of 1 "+
			"(appendix D)", study.NewSide("bbb", "prior-deviation=0.2"), study.NewSide("bbb", "prior-deviation=1")),
		ratio("diagonal-perturbation", fmt.Sprintf("the regret of the diagonal hypermodel with diagonal B and "+
			"perturbations of scale 1 is between 1/%[1]v and %[1]v times the regret without perturbations (appendix D: "+
			"little difference; the bounds are not in the paper)", similarBound), study.Within(similarBound),
			study.NewSide("diagonal", "perturbation=1"), study.NewSide("diagonal", "perturbation=0")),
		less("linear-below-dropout", "the linear hypermodel has less regret than dropout (appendix E)", linear, dropout),
		ofSentence(10, less("diagonal-below-dropout", "the diagonal hypermodel with diagonal B has less regret than dropout "+
			"(appendix E)", diagonal, dropout)),
		less("bbb-below-dropout", "Bayes by Backprop has less regret than dropout (appendix E: dropout is worse than the "+
			"hypermodel agents)", bbb, dropout),
		keepsHalf("keep-half-80", "0.8"),
		keepsHalf("keep-half-95", "0.95"),
	}
}
