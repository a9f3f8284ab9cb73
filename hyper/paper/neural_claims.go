package paper

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Sizes of the tests on the neural bandit, see notebooks/results/PROTOCOL.md.
var (
	neuralQuickTest = lab.Size{Periods: 500, Runs: 16}
	neuralFullTest  = lab.Size{Periods: 5000, Runs: 60}
	longTest        = lab.Size{Periods: 100_000, Runs: 24}
	priorTest       = lab.Size{Periods: 2000, Runs: 60}
	dimensionTest   = lab.Size{Periods: 20_000, Runs: 60}
)

// less returns the claim that the mean regret of a is below bound times the mean regret of b.
func less(name, text string, bound float64, a, b study.Side) study.Claim {
	return comparison{A: a, B: b, Claimed: study.Below(bound)}.claim(name, text, neuralFullTest)
}

// comparison is a comparison of two agents on the neural bandit.
type comparison study.RegretRatio

// claim returns the claim that the comparison holds, with a full size.
func (c comparison) claim(name, text string, full lab.Size) study.Claim {
	return study.Claim{Name: name, Text: text, Quick: neuralQuickTest, Full: full, Test: study.RegretRatio(c).Test}
}

// in returns an agent on the neural bandit with a number of actions.
func in(actions int, agent string, sets ...string) study.Side {
	return study.NewSide(agent, append([]string{fmt.Sprintf("actions=%d", actions)}, sets...)...)
}

func particles(n int) string { return fmt.Sprintf("particles=%d", n) }

var ensembleSizes = []int{10, 30, 100, 300}

// ofSentence returns a claim as part of one of the ten sentences.
func ofSentence(number int, c study.Claim) study.Claim {
	c.Sentence = number
	return c
}

// neuralClaims returns claims about section 4.2 in addition to the sentences on it. The sentences compare agents with
// equal training: see belowEnsembles, comparable and gapGrowing. The agents here have the settings of the first
// protocol.
func neuralClaims() []study.Claim {
	const less0 = "with 1000 actions and without perturbations %s has less regret than with perturbations of scale 1 " +
		"(section 4.2)"
	late := func(name, text string, actions int, a, b study.Side) study.Claim {
		return comparison{A: a, B: b, Claimed: study.Below(1), Late: true}.claim("long-run-"+name, fmt.Sprintf(
			"with %d actions %s in the long run (ours: late regret)", actions, text), longTest)
	}
	return []study.Claim{
		less("linear-below-independent-1000",
			"with 1000 actions the linear hypermodel has less regret than independent arms (section 4.2)", 1,
			in(1000, "linear"), in(1000, "independent")),
		less("independent-degrades", "independent arms have less regret with 200 actions than with 1000 (section 4.2)", 1,
			in(200, "independent"), in(1000, "independent")),
		less("linear-no-perturbation", fmt.Sprintf(less0, "the linear hypermodel"), 1,
			in(1000, "linear", "perturbation=0"), in(1000, "linear", "perturbation=1")),
		less("ensemble-no-perturbation", fmt.Sprintf(less0, "an ensemble of 10"), 1,
			in(1000, "ensemble", particles(10), "perturbation=0"), in(1000, "ensemble", particles(10), "perturbation=1")),
		late("ensemble-200-30", "the linear hypermodel by Adam loses less a period than an ensemble of 30", 200,
			in(200, "linear"), in(200, "ensemble", particles(30))),
		late("paper-linear-1000", "the linear hypermodel loses less a period by plain SGD than by Adam", 1000,
			in(1000, "linear", paperSGD...), in(1000, "linear", byAdam1000...)),
		less("hypernetwork-below-linear",
			"with 1000 actions a hypernetwork of as many parameters has less regret than the linear hypermodel (ours: "+
				"section 6 leaves it open)", 1, in(1000, "hypernetwork"), in(1000, "linear")),
	}
}

// additivePriorClaims returns the claims of appendix B.
func additivePriorClaims() []study.Claim {
	var out []study.Claim
	for _, actions := range []int{200, 1000} {
		for _, n := range ensembleSizes {
			name := fmt.Sprintf("prior-helps-%d", n)
			if actions != 200 {
				name = fmt.Sprintf("%s-%d", name, actions)
			}
			c := comparison{A: in(actions, "ensemble", particles(n), "additive-prior=yes"),
				B: in(actions, "ensemble", particles(n), "additive-prior=no"), Claimed: study.Below(1)}
			out = append(out, ofSentence(8, c.claim(name, fmt.Sprintf("with %d actions an additive prior lowers the regret "+
				"of an ensemble of %d (appendix B)", actions, n), priorTest)))
		}
	}
	return out
}

// paperSGD selects the paper's own algorithm: plain SGD with indices that are drawn independently.
var paperSGD = []string{"optimizer=sgd", "index-set=iid"}

// byAdam1000 has the settings for 1000 actions from the second part of the protocol. They are not the defaults of long
// runs.
var byAdam1000 = append(strings.Fields(winners["linear-1000"]), "clip=0", "schedule=constant")

const bySGD, byAdam = ", trained by plain SGD", ", trained by Adam"

// noiseClaims returns the claims of appendix C about perturbations.
func noiseClaims() []study.Claim {
	at := func(noise, perturbation int, more ...string) study.Side {
		world := []string{fmt.Sprintf("noise=%d", noise), fmt.Sprintf("perturbation=%d", perturbation)}
		return study.NewSide("linear", append(world, more...)...)
	}
	var out []study.Claim
	for _, noise := range []int{0, 1} {
		for _, scale := range []int{1, 2} {
			name := fmt.Sprintf("no-perturbation-%d", noise)
			if scale == 2 {
				name += "-2"
			}
			c := comparison{A: at(noise, 0), B: at(noise, scale), Claimed: study.Below(1)}
			out = append(out, c.claim(name, fmt.Sprintf("200 actions, noise %d: without perturbations regret is lower than "+
				"with scale %d (appendix C)", noise, scale), neuralFullTest))
		}
	}
	const helps = "200 actions, noise 2: perturbations of scale 1 give less regret than none%s (appendix C)"
	out = append(out,
		comparison{A: at(2, 1), B: at(2, 0), Claimed: study.Below(1)}.claim("perturbation-2", fmt.Sprintf(helps, byAdam), longTest),
		ofSentence(9, comparison{A: at(2, 1, paperSGD...), B: at(2, 0, paperSGD...), Claimed: study.Below(1)}.claim("perturbation-2-sgd",
			fmt.Sprintf(helps, bySGD), longTest)), moreNoiseClaim(at(2, 1), at(2, 0), at(1, 1), at(1, 0)))
	for _, of := range []struct {
		name         string
		noise, other int
	}{{"robust-0", 0, 0}, {"robust-1", 1, 0}, {"robust-2", 2, 0}, {"robust-2-1", 2, 1}} {
		c := comparison{A: at(of.noise, 2), B: at(of.noise, of.other), Claimed: study.Within(1.5)}
		out = append(out, c.claim(of.name, fmt.Sprintf("200 actions, noise %d: regret with perturbations of scale 2 is like "+
			"that with scale %d (appendix C: robust; within a half, ours)", of.noise, of.other), neuralFullTest))
	}
	return out
}

// moreNoiseClaim returns the claim that perturbations are more useful with more noise: the difference a - b, with large
// noise, is below the difference c - d, with small noise.
func moreNoiseClaim(a, b, c, d study.Side) study.Claim {
	return study.Claim{Name: "perturbation-noise",
		Text: "200 actions: what perturbations of scale 1 add to the regret is less " +
			"with noise 2 than with noise 1 (appendix C: needed as the noise grows)", Quick: neuralQuickTest,
		Full: neuralFullTest,
		Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
			return contrast(simulate, size, a, b, c, d)
		}}
}

// priorClaims returns the claims of appendix C about misspecified priors, trained by Adam and by the paper's own
// algorithm.
func priorClaims() (out []study.Claim) {
	for _, by := range []struct {
		name, text string
		sets       []string
		sentence   int
	}{{"", byAdam, nil, 0}, {"-sgd", bySGD, paperSGD, 9}} {
		of := func(name, text string, a, b string) {
			at := func(m string) study.Side { return study.NewSide("linear", append(by.sets, "prior-multiplier="+m)...) }
			out = append(out, ofSentence(by.sentence, comparison{A: at(a), B: at(b), Claimed: study.Below(1)}.claim(name+by.name,
				fmt.Sprintf("200 actions%s: %s", by.text, text), longTest)))
		}
		of("small-prior-costs", "the right prior has less regret than one of a hundredth of the variance (appendix C)", "1",
			"0.01")
		of("large-prior-costs", "the right prior has less regret than one of thirty times the variance (appendix C)", "1",
			"30")
		of("large-prior-is-mild", "a prior of thirty times the variance has less regret than one of a hundredth (appendix "+
			"C: some additional regret, and a huge one)", "30", "0.01")
	}
	return out
}

// dimensionClaims returns the claims of appendix C about the index dimension.
func dimensionClaims() []study.Claim {
	at := func(m int) study.Side { return study.NewSide("linear", fmt.Sprintf("index-dim=%d", m)) }
	return []study.Claim{
		ofSentence(9, comparison{A: at(10), B: at(1), Claimed: study.Below(1)}.claim("dimension-helps",
			"200 actions: index dimension 10 for each layer gives less regret than 1 (appendix C)", dimensionTest)),
		ofSentence(9, comparison{A: at(5), B: at(10), Claimed: study.Within(1.25)}.claim("dimension-flat",
			"200 actions: regret with 5 and with 10 is alike (appendix C: marginal; within a quarter, ours)", dimensionTest)),
	}
}

// approximationClaims returns the claims of appendices D and E.
func approximationClaims() []study.Claim {
	const fourIndices = "200 actions, 4 indices a step (ours): "
	of := func(agent string, sets ...string) study.Side { return study.NewSide(agent, sets...) }
	claim := func(name, text string, bound float64, a, b study.Side) study.Claim {
		return comparison{A: a, B: b, Claimed: study.Below(bound)}.claim(name, fourIndices+text, neuralFullTest)
	}
	alike := comparison{A: of("diagonal", "perturbation=1"), B: of("diagonal", "perturbation=0"),
		Claimed: study.Within(1.25)}
	const keeps = "dropout that keeps half of the units has at most 1.25 times the regret of one that keeps %s " +
		"(appendix E: a half works well; the bound is ours)"
	return []study.Claim{
		ofSentence(10, claim("diagonal-below-bbb", "a diagonal hypermodel, B diagonal, has less regret trained by perturbed "+
			"SGD than by Bayes by Backprop (appendix D: slightly)", 1, of("diagonal"), of("bbb"))),
		claim("linear-below-diagonal", "the linear hypermodel has less regret than the diagonal one, B diagonal (appendix "+
			"D)", 1, of("linear"), of("diagonal")),
		claim("linear-below-bbb", "the linear hypermodel has less regret than Bayes by Backprop (appendix D)", 1,
			of("linear"), of("bbb")),
		claim("weak-divergence", "Bayes by Backprop with the weight of the divergence that a search found has less regret "+
			"than with weight 1 (appendix D)", 1, of("bbb"), of("bbb", "kl-strength=1")),
		claim("weak-divergence-order", "Bayes by Backprop has less regret with a tenth of the weight of the divergence than "+
			"with all of it (appendix D: by an order)", 1, of("bbb", "kl-strength=0.1"), of("bbb", "kl-strength=1")),
		claim("narrow-prior", "Bayes by Backprop has less regret with a prior of deviation 0.2 than of 0.01 (appendix D)", 1,
			of("bbb", "prior-deviation=0.2"), of("bbb", "prior-deviation=0.01")),
		claim("wide-prior", "Bayes by Backprop has less regret with a prior of deviation 0.2 than of 1 (appendix D)", 1,
			of("bbb", "prior-deviation=0.2"), of("bbb", "prior-deviation=1")),
		alike.claim("diagonal-perturbation", fourIndices+"perturbations of scale 1 make little difference to the diagonal "+
			"hypermodel, B diagonal (appendix D; within a quarter, ours)", neuralFullTest),
		claim("linear-below-dropout", "the linear hypermodel has less regret than dropout (appendix E)", 1, of("linear"),
			of("dropout")),
		ofSentence(10, claim("diagonal-below-dropout", "the diagonal hypermodel, B diagonal, has less regret than "+
			"dropout (appendix E)", 1, of("diagonal"), of("dropout"))),
		claim("bbb-below-dropout", "Bayes by Backprop has less regret than dropout (appendix E: worse than the hypermodel "+
			"agents)", 1, of("bbb"), of("dropout")),
		claim("keep-half-80", fmt.Sprintf(keeps, "0.8"), 1.25, of("dropout", "keep=0.5"), of("dropout", "keep=0.8")),
		claim("keep-half-95", fmt.Sprintf(keeps, "0.95"), 1.25, of("dropout", "keep=0.5"), of("dropout", "keep=0.95")),
	}
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
	statistic := fmt.Sprintf("(%s less %s) %v less the same %v, at period %d", a.Agent, b.Agent, a.Sets, c.Sets,
		gap.Period)
	f := study.Comparison{Text: statistic, Kind: "difference of gaps", Estimate: gap.Mean, Claimed: study.Below(0),
		Periods: gap.Period, Runs: gap.Pairs, Diverged: gap.Diverged}.Judge()
	f.Share = &gap.Share
	return f, study.EnoughRuns(size, f.Runs)
}
