package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Sentences lists ten sentences that represent the paper, see notebooks/results/PROTOCOL.md. The tests of sentences 1,
// 3, 4 and 5 were written there before their runs.
var Sentences = []study.Sentence{
	{Number: 1, Section: "abstract, section 4.1", Label: "near exact",
		Text:  "The linear hypermodel explores nearly as well as exact Thompson sampling",
		Quote: "This allows more accurate approximation of Thompson sampling", Compare: nearExact},
	{Number: 2, Section: "section 4.1", Label: "less computation",
		Text:  "The linear hypermodel performs well with 50 to 100 times less computation than an ensemble",
		Quote: "a speed-up of around 50 to 100 times for large numbers of actions", Compare: lessComputation},
	{Number: 3, Section: "section 4.2", Label: "ensembles, 1000 actions",
		Text: "With 1000 actions the linear hypermodel has less regret than ensembles of any size",
		Quote: "a large performance gap when the number of actions is greater than 200, which, surprisingly, cannot be " +
			"compensated by increasing the ensemble size", Compare: belowEnsembles},
	{Number: 4, Section: "section 4.2", Label: "ensembles, 200 actions",
		Text:    "With 200 actions the linear hypermodel and ensembles have similar regret",
		Quote:   "The performance of ensemble hypermodels is comparable when the number of actions is 200",
		Compare: similarRegret},
	{Number: 5, Section: "section 4.2", Label: "epsilon-greedy",
		Text: "Epsilon-greedy falls further behind as the number of actions grows",
		Quote: "The gap between the epsilon-greedy agent and hypermodel agents grows as the number of actions " +
			"becomes large",
		Compare: gapGrowing},
	{Number: 6, Section: "section 5", Label: "IDS",
		Text:  "With the noise as printed, information-directed sampling is dramatically better than Thompson sampling",
		Quote: "As expected, the difference in performance is dramatic", Compare: idsFarBelowThompson},
	{Number: 7, Section: "section 6", Label: "theorem",
		Text:    "The network of the theorem exists, and can be built",
		Quote:   "linear hypermodels can represent essentially any probability distribution over functions",
		Compare: certified},
	{Number: 8, Section: "appendix B", Label: "additive priors",
		Text: "Additive priors lower the regret of ensembles of all sizes",
		Quote: "ensembles with additive priors achieve significantly lower regrets across different numbers of actions and " +
			"ensemble sizes", Compare: additivePriors},
	{Number: 9, Section: "appendix C", Label: "sensitivity",
		Text: "With large noise perturbations lower the regret, a prior that is too narrow adds more regret than one that " +
			"is too wide, and a larger index dimension lowers the regret up to a point",
		Quote:   "we need to introduce perturbation into the loss function, as the observation noise grows",
		Compare: sensitivity},
	{Number: 10, Section: "appendices D, E", Label: "other posteriors",
		Text: "The linear hypermodel has less regret than the diagonal one, which has less than Bayes by Backprop, and " +
			"both hypermodels have less regret than dropout",
		Quote: "the performance of a tuned dropout agent is worse than the hypermodel agents", Compare: approximations},
}

// regretRatio is the claim that the mean regret of x divided by the mean regret of y lies in a range.
type regretRatio struct {
	text    string
	claimed study.Range
	x, y    study.Source
}

// compareRegrets returns the comparisons of a sentence about ratios of regret.
func compareRegrets(a *study.Archive, all []regretRatio) (out []study.Comparison, err error) {
	for _, r := range all {
		c, err := a.Ratio(r.text, r.claimed, r.x, r.y)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// source returns the runs of an agent in a folder of the archive.
func source(folder string, size lab.Size, side study.Side) study.Source {
	return study.Source{Folder: folder, Side: side, Periods: size.Periods, Runs: size.Runs}
}

// nearExact compares the linear hypermodel with exact Thompson sampling.
func nearExact(a *study.Archive) ([]study.Comparison, error) {
	var all []regretRatio
	for _, arms := range []int{10, 30, 100} {
		runs := func(agent string, sets ...string) study.Source {
			return source("gaussian/near-exact", lab.Size{Periods: 10_000, Runs: 128},
				study.NewSide(agent, append(sets, fmt.Sprintf("arms=%d", arms))...))
		}
		all = append(all, regretRatio{
			fmt.Sprintf("regret of the linear hypermodel over exact Thompson sampling, %d arms", arms),
			study.Below(nearExactBound), runs("linear", "index-dim=10"), runs("exact")})
	}
	return compareRegrets(a, all)
}

// lessComputation judges figure 2 with 100 arms. If no setting of an agent performs well, the ratio has no estimate,
// and only one end of its interval is known.
func lessComputation(a *study.Archive) ([]study.Comparison, error) {
	c := study.Comparison{Claimed: study.Below(fiftieth), Estimate: stats.NoEstimate(), Inside: 1, Outside: 1}
	h, rows, err := a.Study("frontier/k100")
	if err != nil {
		return nil, err
	}
	if rows == nil {
		c.Missing = "frontier/k100 has no runs"
	} else if c, err = lessComputationIn(analysis.Lookup(Frontier, h, rows), c); err != nil {
		return nil, err
	}
	c.Text = "computation of the linear hypermodel over an ensemble's, 100 arms"
	c.Runs, c.Periods = fiftiethTest.Runs, fiftiethTest.Periods
	return []study.Comparison{c}, nil
}

// lessComputationIn makes the comparison of lessComputation from results. If no setting of an agent performs well,
// lessComputationIn returns unknown, with an interval.
func lessComputationIn(simulate study.Simulator, unknown study.Comparison) (study.Comparison, error) {
	var least [2]analysis.Least
	var fail []string
	for i, agent := range []string{"linear", "ensemble"} {
		var err error
		least[i], err = leastOf(simulate, fiftiethTest, PerformsWell, frontierFamily{agent, train.Sampled, 100})
		if errors.Is(err, analysis.ErrNoneBelow) {
			fail = append(fail, agent)
		} else if err != nil {
			return unknown, err
		}
	}
	if len(fail) == 0 {
		return computationRatio(least[0], least[1], unknown.Claimed)
	}
	lower, upper := least[0].Bounds(least[1])
	unknown.Estimate.Lower, unknown.Estimate.Upper = stats.Float(lower), stats.Float(upper)
	runs, computation := least[1].RunsToPass()
	if len(fail) > 1 || fail[0] != "ensemble" || math.IsInf(runs, 0) || math.IsNaN(runs) {
		unknown.Decide = fmt.Sprintf("with %d runs, no setting of %s performs well with confidence: these runs do not say "+
			"how many would decide", fiftiethTest.Runs, strings.Join(fail, " or "))
		return unknown, nil
	}
	unknown.Decide = fmt.Sprintf("more than %s runs in all (with %d, no ensemble performs well with confidence) would decide",
		study.RoundRuns(runs), fiftiethTest.Runs)
	if float64(least[0].Computation.Value)/computation > unknown.Claimed.Below {
		unknown.Decide += ": it would not hold"
	}
	return unknown, nil
}

// likeForLike returns the runs of an agent that is trained like its rivals (stratum A of
// notebooks/results/PROTOCOL.md).
func likeForLike(actions, runs int, agent string, sets ...string) study.Source {
	if agent == "linear" || agent == "ensemble" {
		sets = slices.Concat(sets, []string{"clip=0"}) // the folders also have runs of these agents with bounded gradients
	}
	return source(fmt.Sprintf("neural/like-for-like-%d", actions), lab.Size{Periods: 100_000, Runs: runs},
		study.NewSide(agent, sets...))
}

// belowEnsembles compares the linear hypermodel with ensembles for 1000 actions.
func belowEnsembles(a *study.Archive) ([]study.Comparison, error) {
	return overEnsembles(a, 1000, 128, study.Below(1), 10, 30, 100)
}

// similarRegret compares the linear hypermodel with ensembles for 200 actions.
func similarRegret(a *study.Archive) ([]study.Comparison, error) {
	return overEnsembles(a, 200, 64, study.Within(similarBound), 10, 30)
}

// overEnsembles compares the linear hypermodel with ensembles of several sizes.
func overEnsembles(a *study.Archive, actions, runs int, claimed study.Range, sizes ...int) ([]study.Comparison, error) {
	var all []regretRatio
	for _, n := range sizes {
		all = append(all, regretRatio{
			fmt.Sprintf("regret of the linear hypermodel over an ensemble of %d, %d actions", n, actions), claimed,
			likeForLike(actions, runs, "linear"), likeForLike(actions, runs, "ensemble", particles(n))})
	}
	return compareRegrets(a, all)
}

// gapGrowing compares the gap between epsilon-greedy and other agents for 1000 actions with the gap for 200.
func gapGrowing(a *study.Archive) (out []study.Comparison, err error) {
	const runs = 64
	for _, other := range []struct {
		text string
		side study.Side
	}{
		{"the linear hypermodel", study.NewSide("linear")},
		{"an ensemble of 10", study.NewSide("ensemble", particles(10))},
		{"an ensemble of 30", study.NewSide("ensemble", particles(30))},
	} {
		greedy := func(actions int) study.Source { return likeForLike(actions, runs, "egreedy") }
		rival := func(actions int) study.Source {
			return likeForLike(actions, runs, other.side.Agent, other.side.Sets...)
		}
		c, err := a.Gap("regret of epsilon-greedy minus regret of "+other.text+", at 1000 actions minus at 200",
			study.Above(0), greedy(1000), rival(1000), greedy(200), rival(200))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// idsFarBelowThompson compares IDS with Thompson sampling, with the noise as the paper prints it.
func idsFarBelowThompson(a *study.Archive) ([]study.Comparison, error) {
	sets := slices.Concat(asPrinted, []string{"noise-variance=0.01"})
	runs := func(agent string) study.Source {
		return source("ids/study8", sparseTest, study.NewSide(agent, sets...))
	}
	return compareRegrets(a, []regretRatio{{"regret of IDS over Thompson sampling, noise as printed",
		study.Below(dramaticBound), runs("ids"), runs("thompson")}})
}

// additivePriors compares ensembles with and without an additive prior.
func additivePriors(a *study.Archive) ([]study.Comparison, error) {
	var all []regretRatio
	for _, actions := range []int{200, 1000} {
		for _, n := range ensembleSizes {
			runs := func(prior string) study.Source {
				return source("additive-prior", priorTest,
					onActions(actions, "ensemble", particles(n), "additive-prior="+prior))
			}
			all = append(all, regretRatio{fmt.Sprintf(
				"regret with an additive prior over regret without, ensemble of %d, %d actions", n, actions), study.Below(1),
				runs("yes"), runs("no")})
		}
	}
	return compareRegrets(a, all)
}

// sensitivity compares perturbations, priors and index dimensions of the linear hypermodel. Two comparisons have more
// runs than the others, see the additions to notebooks/results/PROTOCOL.md.
func sensitivity(a *study.Archive) ([]study.Comparison, error) {
	longer := lab.Size{Periods: longTest.Periods, Runs: 48}
	perturbed := func(scale int) study.Source {
		return source("noise-sensitivity/sgd-100000", longer, study.NewSide("linear", fmt.Sprintf("perturbation=%d", scale)))
	}
	prior := func(multiplier string, size lab.Size) study.Source {
		return source("prior-sensitivity/sgd-100000", size, study.NewSide("linear", "prior-multiplier="+multiplier))
	}
	dimension := func(m int) study.Source {
		return source("index-dimension/adam-20000", dimensionTest, study.NewSide("linear", fmt.Sprintf("index-dim=%d", m)))
	}
	return compareRegrets(a, []regretRatio{
		{"regret with perturbations over regret without, noise 2", study.Below(1), perturbed(1), perturbed(0)},
		{"regret with the right prior over a hundredth of its variance", study.Below(1), prior("1", longTest),
			prior("0.01", longTest)},
		{"regret with the right prior over thirty times its variance", study.Below(1), prior("1", longTest),
			prior("30", longTest)},
		{"regret with thirty times the prior's variance over a hundredth", study.Below(1), prior("30", longer),
			prior("0.01", longer)},
		{"regret with index dimension 10 over dimension 1", study.Below(1), dimension(10), dimension(1)},
		{"regret with index dimension 5 over dimension 10", study.Within(similarBound), dimension(5), dimension(10)},
	})
}

// approximations compares the linear and the diagonal hypermodel with each other, with Bayes by Backprop and with
// dropout.
func approximations(a *study.Archive) ([]study.Comparison, error) {
	rival := func(agent string, sets ...string) study.Source {
		return source("posterior-approximations", neuralTest, study.NewSide(agent, sets...))
	}
	linear := source("neural", neuralTest, study.NewSide("linear", "actions=200"))
	diagonal := rival("diagonal", "perturbation=1")
	bbb := rival("bbb", "kl-strength=0.0203", "prior-deviation=0.5")
	dropout := rival("dropout", "keep=0.8", "index-set=iid")
	return compareRegrets(a, []regretRatio{
		{"regret of the linear hypermodel over the diagonal one, B diagonal", study.Below(1), linear, diagonal},
		{"regret of the linear hypermodel over Bayes by Backprop", study.Below(1), linear, bbb},
		{"regret of the diagonal hypermodel, B diagonal, over Bayes by Backprop", study.Below(1), diagonal, bbb},
		{"regret of the linear hypermodel over dropout", study.Below(1), linear, dropout},
		{"regret of the diagonal hypermodel, B diagonal, over dropout", study.Below(1), diagonal, dropout},
	})
}
