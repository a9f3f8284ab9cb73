package paper

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
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
		Compare: comparable},
	{Number: 5, Section: "section 4.2", Label: "epsilon-greedy",
		Text: "Epsilon-greedy falls further behind as the number of actions grows",
		Quote: "The gap between the epsilon-greedy agent and hypermodel agents grows as the number of actions " +
			"becomes large",
		Compare: gapGrowing},
	{Number: 6, Section: "section 5", Label: "IDS",
		Text:  "With the noise as printed, information-directed sampling is dramatically better than Thompson sampling",
		Quote: "As expected, the difference in performance is dramatic", Compare: dramatic},
	{Number: 7, Section: "section 6", Label: "theorem",
		Text:    "The network of the theorem exists, and can be built",
		Quote:   "linear hypermodels can represent essentially any probability distribution over functions",
		Compare: certified},
	{Number: 8, Section: "appendix B", Label: "additive priors",
		Text: "Additive priors lower the regret of ensembles of all sizes",
		Quote: "ensembles with additive priors achieve significantly lower regrets across different numbers of actions and " +
			"ensemble sizes", Compare: additivePriors},
	{Number: 9, Section: "appendix C", Label: "sensitivity",
		Text: "Large noise calls for perturbations, a too narrow prior costs much and a too wide one less, and a larger " +
			"index dimension helps up to a point",
		Quote:   "we need to introduce perturbation into the loss function, as the observation noise grows",
		Compare: sensitive},
	{Number: 10, Section: "appendices D, E", Label: "other posteriors",
		Text: "The linear hypermodel beats the diagonal one, which beats Bayes by " +
			"Backprop, and dropout is behind both hypermodels",
		Quote: "the performance of a tuned dropout agent is worse than the hypermodel agents", Compare: approximations},
}

// ratio is a comparison of two agents by the ratio of their mean regrets.
type ratio struct {
	text    string
	claimed study.Range
	a, b    study.Source
}

// ratios returns the comparisons of a sentence about ratios.
func ratios(a *study.Archive, all []ratio) (out []study.Comparison, err error) {
	for _, r := range all {
		c, err := a.Ratio(r.text, r.claimed, r.a, r.b)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func nearExact(a *study.Archive) ([]study.Comparison, error) {
	const bound = 1.35 // not in the paper
	var all []ratio
	for _, arms := range []int{10, 30, 100} {
		of := func(agent string, sets ...string) study.Source {
			return study.Source{Folder: "gaussian/near-exact", Periods: 10_000, Runs: 128,
				Side: study.NewSide(agent, append(sets, fmt.Sprintf("arms=%d", arms))...)}
		}
		all = append(all, ratio{fmt.Sprintf("regret of the linear hypermodel over exact Thompson sampling, %d arms", arms),
			study.Below(bound), of("linear", "index-dim=10"), of("exact")})
	}
	return ratios(a, all)
}

// lessComputation judges figure 2 with 100 arms. If no setting of an agent certainly performs well, the ratio has no
// estimate, and only one end of its interval is known.
func lessComputation(a *study.Archive) ([]study.Comparison, error) {
	const bound = 1. / 50
	size := lab.Size{Periods: 10_000, Runs: 400}
	c := study.Comparison{Claimed: study.Below(bound), Estimate: stats.NoEstimate(), Inside: 1, Outside: 1}
	h, rows, err := a.Study("frontier/k100")
	if err != nil {
		return nil, err
	}
	if rows == nil {
		c.Missing = "frontier/k100 has no runs"
	} else if c, err = lessComputationIn(h, rows, size, c); err != nil {
		return nil, err
	}
	c.Text = "computation of the linear hypermodel over an ensemble's, 100 arms"
	c.Runs, c.Periods = size.Runs, size.Periods
	return []study.Comparison{c}, nil
}

// lessComputationIn makes the comparison of lessComputation from results. It returns unknown, with an interval, if no
// setting of an agent certainly performs well.
func lessComputationIn(h lab.Header, rows []lab.Row, size lab.Size,
	unknown study.Comparison) (study.Comparison, error) {
	var least [2]analysis.Least
	sure := true
	for i, agent := range []string{"linear", "ensemble"} {
		var err error
		least[i], err = leastOf(analysis.Lookup(Frontier, h, rows), size, PerformsWell, family{agent, "sampled", 100})
		if sure = sure && err == nil; err != nil && !errors.Is(err, analysis.ErrNoneBelow) {
			return unknown, err
		}
	}
	if sure {
		return computationRatio(least[0], least[1], unknown.Claimed)
	}
	lower, upper := least[0].Bounds(least[1])
	unknown.Estimate.Lower, unknown.Estimate.Upper = stats.Float(lower), stats.Float(upper)
	runs, computation := least[1].RunsToPass()
	unknown.Decide = fmt.Sprintf("about %s runs in all (with %d, no ensemble performs well with confidence) would decide",
		study.RoundRuns(runs), size.Runs)
	if ratio := float64(least[0].Computation.Value) / computation; ratio > unknown.Claimed.Below {
		unknown.Decide += ": it would not hold"
	}
	return unknown, nil
}

// likeForLike returns an agent of the protocol's stratum A.
func likeForLike(actions, runs int, agent string, sets ...string) study.Source {
	if agent == "linear" || agent == "ensemble" {
		sets = append(sets, "clip=0") // the study's second arm bounds gradients
	}
	return study.Source{Folder: fmt.Sprintf("neural/like-for-like-%d", actions), Side: study.NewSide(agent, sets...),
		Periods: 100_000, Runs: runs}
}

func belowEnsembles(a *study.Archive) ([]study.Comparison, error) {
	var all []ratio
	for _, n := range []int{10, 30, 100} {
		all = append(all, ratio{fmt.Sprintf("regret of the linear hypermodel over an ensemble of %d, 1000 actions", n),
			study.Below(1), likeForLike(1000, 128, "linear"), likeForLike(1000, 128, "ensemble", particles(n))})
	}
	return ratios(a, all)
}

func comparable(a *study.Archive) ([]study.Comparison, error) {
	const alike = 1.25 // not in the paper
	var all []ratio
	for _, n := range []int{10, 30} {
		all = append(all, ratio{fmt.Sprintf("regret of the linear hypermodel over an ensemble of %d, 200 actions", n),
			study.Within(alike), likeForLike(200, 64, "linear"), likeForLike(200, 64, "ensemble", particles(n))})
	}
	return ratios(a, all)
}

func gapGrowing(a *study.Archive) (out []study.Comparison, err error) {
	for _, other := range []struct {
		text, agent string
		sets        []string
	}{
		{"the linear hypermodel", "linear", nil},
		{"an ensemble of 10", "ensemble", []string{particles(10)}},
		{"an ensemble of 30", "ensemble", []string{particles(30)}},
	} {
		of := func(actions int, agent string, sets ...string) study.Source {
			return likeForLike(actions, 64, agent, sets...)
		}
		c, err := a.Gap("regret of epsilon-greedy minus regret of "+other.text+", at 1000 actions minus at 200",
			study.Above(0),
			of(1000, "egreedy"), of(1000, other.agent, other.sets...),
			of(200, "egreedy"), of(200, other.agent, other.sets...))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func dramatic(a *study.Archive) ([]study.Comparison, error) {
	of := func(agent string) study.Source {
		return study.Source{Folder: "ids/study8", Side: study.NewSide(agent, "noise-factor=100", "noise-variance=0.01"),
			Periods: 400, Runs: 500}
	}
	return ratios(a, []ratio{{"regret of IDS over Thompson sampling, noise as printed", study.Below(0.5), of("ids"),
		of("thompson")}})
}

func additivePriors(a *study.Archive) ([]study.Comparison, error) {
	var all []ratio
	for _, actions := range []int{200, 1000} {
		for _, n := range ensembleSizes {
			of := func(prior string) study.Source {
				return study.Source{Folder: "additive-prior", Side: in(actions, "ensemble", particles(n), "additive-prior="+prior),
					Periods: 2_000, Runs: 60}
			}
			all = append(all, ratio{fmt.Sprintf("regret with an additive prior over regret without, ensemble of %d, %d actions",
				n, actions), study.Below(1), of("yes"), of("no")})
		}
	}
	return ratios(a, all)
}

func sensitive(a *study.Archive) ([]study.Comparison, error) {
	of := func(folder string, periods, runs int, set string) study.Source {
		return study.Source{Folder: folder, Side: study.NewSide("linear", set), Periods: periods, Runs: runs}
	}
	noise := func(scale int) study.Source {
		return of("noise-sensitivity/sgd-100000", 100_000, 48, fmt.Sprintf("perturbation=%d", scale))
	}
	prior := func(multiplier string, runs int) study.Source {
		return of("prior-sensitivity/sgd-100000", 100_000, runs, "prior-multiplier="+multiplier)
	}
	dimension := func(m int) study.Source {
		return of("index-dimension/adam-20000", 20_000, 60, fmt.Sprintf("index-dim=%d", m))
	}
	return ratios(a, []ratio{
		{"regret with perturbations over regret without, noise 2", study.Below(1), noise(1), noise(0)},
		{"regret with the right prior over a hundredth of its variance", study.Below(1), prior("1", 24), prior("0.01", 24)},
		{"regret with the right prior over thirty times its variance", study.Below(1), prior("1", 24), prior("30", 24)},
		{"regret with thirty times the prior's variance over a hundredth", study.Below(1), prior("30", 48),
			prior("0.01", 48)},
		{"regret with index dimension 10 over dimension 1", study.Below(1), dimension(10), dimension(1)},
		{"regret with index dimension 5 over dimension 10", study.Within(1.25), dimension(5), dimension(10)},
	})
}

func approximations(a *study.Archive) ([]study.Comparison, error) {
	of := func(folder, agent string, sets ...string) study.Source {
		return study.Source{Folder: folder, Side: study.NewSide(agent, sets...), Periods: 5_000, Runs: 60}
	}
	const folder = "posterior-approximations"
	linear := of("neural", "linear", "actions=200")
	diagonal := of(folder, "diagonal", "perturbation=1")
	bbb := of(folder, "bbb", "kl-strength=0.0203", "prior-deviation=0.5")
	dropout := of(folder, "dropout", "keep=0.8", "index-set=iid")
	return ratios(a, []ratio{
		{"regret of the linear hypermodel over the diagonal one, B diagonal", study.Below(1), linear, diagonal},
		{"regret of the linear hypermodel over Bayes by Backprop", study.Below(1), linear, bbb},
		{"regret of the diagonal hypermodel, B diagonal, over Bayes by Backprop", study.Below(1), diagonal, bbb},
		{"regret of the linear hypermodel over dropout", study.Below(1), linear, dropout},
		{"regret of the diagonal hypermodel, B diagonal, over dropout", study.Below(1), diagonal, dropout},
	})
}
