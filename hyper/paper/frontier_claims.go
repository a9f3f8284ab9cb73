package paper

import (
	_ "embed" // of frontier.csv
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// frontierSetting is a setting near the frontier of figure 2.
type frontierSetting struct {
	agent, integrate string
	arms             int
	size             int // index dimension of an arm, or number of particles
	indices          int // number of index samples of an SGD step; 0 if none are drawn
	step             float64
	perturbation     float64 // scale of the data perturbations
}

// frontierTable lists settings. For each agent, training method and number of arms they go from less to more
// computation.
var frontierTable = slices.Concat(frontierFound(), sizesOnAllData(30, fine), sizesOnAllData(100, fine),
	sizesOnAllData(300, coarse))

//go:embed frontier.csv
var frontierText string

// frontierFound returns the settings of frontier.csv.
func frontierFound() (out []frontierSetting) {
	lines := must.M1(csv.NewReader(strings.NewReader(frontierText)).ReadAll())
	for _, l := range lines[1:] {
		whole := func(i int) int { return must.M1(strconv.Atoi(l[i])) }
		number := func(i int) float64 { return must.M1(strconv.ParseFloat(l[i], 64)) }
		out = append(out, frontierSetting{l[0], l[1], whole(2), whole(3), whole(4), number(5), number(6)})
	}
	return out
}

// sizes lists index dimensions and numbers of particles.
type sizes struct{ dims, particles []int }

var (
	coarse = sizes{[]int{1, 2, 3, 5, 10}, []int{10, 30, 100, 300}}
	fine   = sizes{[]int{1, 2, 3, 4, 5, 10}, []int{10, 30, 50, 100, 150, 200, 300}}
)

// sizesOnAllData returns settings of both agents with several sizes, trained on all data with a step size of 1.
func sizesOnAllData(arms int, of sizes) (out []frontierSetting) {
	for _, m := range of.dims {
		out = append(out, frontierSetting{"linear", "full-data", arms, m, 0, 1, 1})
	}
	for _, particles := range of.particles {
		out = append(out, frontierSetting{"ensemble", "full-data", arms, particles, 0, 1, 1})
	}
	return out
}

// frontierArms lists the numbers of arms of figure 2.
var frontierArms = []int{10, 30, 100, 300, 1000}

// frontierSearched returns the numbers of arms for which an agent was searched with a training method.
func frontierSearched(agent, integrate string) (arms []int) {
	for _, s := range frontierTable {
		if s.agent == agent && s.integrate == integrate && !slices.Contains(arms, s.arms) {
			arms = append(arms, s.arms)
		}
	}
	return arms
}

// FrontierSettings returns an agent's settings near the frontier of figure 2, for a number of arms and a training
// method (the key integrate). Settings are "key=value" texts, and go from less to more computation. They are results of
// searches of equal budget (notebooks/results/tuning/frontier-*.json), and some settings in between. There are two
// exceptions: full-data with 30 arms or more is a grid of sizes, and analytic with 300 arms has the settings for 100
// arms and the results of a search of the linear agent alone.
func FrontierSettings(agent, integrate string, arms int) [][]string {
	var out [][]string
	for _, s := range frontierTable {
		if s.agent != agent || s.integrate != integrate || s.arms != arms {
			continue
		}
		size := "index-dim"
		if agent == "ensemble" {
			size = "particles"
		}
		sets := []string{fmt.Sprintf("arms=%d", arms), "integrate=" + integrate, fmt.Sprintf("%s=%d", size, s.size),
			fmt.Sprintf("step-size=%v", s.step)}
		if s.indices > 0 {
			sets = append(sets, fmt.Sprintf("index-samples=%d", s.indices))
		}
		if s.perturbation != 1 {
			sets = append(sets, fmt.Sprintf("perturbation=%v", s.perturbation))
		}
		out = append(out, sets)
	}
	return out
}

// frontierClaims returns the claims about figure 2. The first claims ask whether exact Thompson sampling performs well:
// if it does not, agents that approximate it hardly can. The others compare the two agents for each number of arms for
// which both were searched.
func frontierClaims() (out []study.Claim) {
	for _, arms := range []int{100, 300, 1000} {
		out = append(out, study.Claim{
			Name: fmt.Sprintf("exact-%d", arms),
			Text: fmt.Sprintf("exact Thompson sampling, which both agents approximate, performs well, K = %d arms (ours)",
				arms),
			Quick: performQuick, Full: performFull,
			Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
				return exactAgainstTarget(simulate, size, arms)
			},
		})
	}
	const than = "the diagonal linear hypermodel %s with %s an ensemble, K = %d arms (%s)"
	for _, arms := range []int{10, 30} {
		out = append(out, leastComputation(fmt.Sprintf("least-%d", arms), fmt.Sprintf(than, "performs well",
			"less computation than", arms, "section 4.1, figure 2"), 1, PerformsWell, arms))
	}
	fiftieth := leastComputation("least-100", fmt.Sprintf(than, "performs well", "at most a fiftieth of the computation of",
		100, "section 4.1, figure 2"), 1./50, PerformsWell, 100)
	fiftieth.Full.Runs = 400
	out = append(out, ofSentence(2, fiftieth))
	for _, arms := range frontierSearched("ensemble", "sampled") {
		out = append(out, leastComputation(fmt.Sprintf("twice-least-%d", arms), fmt.Sprintf(than,
			"has at most twice the regret of exact Thompson sampling", "less computation than", arms, "ours"), 1, TwiceExact,
			arms))
	}
	return out
}

// Sizes at which claims about performing well are tested.
var performQuick, performFull = lab.Size{Periods: 10_000, Runs: 20}, lab.Size{Periods: 10_000, Runs: 100}

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
		Estimate: mean.Scaled(1 / float64(periods)), Claimed: study.Below(performsWell(h.Spec.Entries[0].Setting)),
		Periods: periods, Runs: c.Runs, Diverged: [2]int{c.Diverged}}.Judge()
	return f, study.EnoughRuns(size, f.Runs)
}

// family is the set of settings that has one point of the frontier: an agent, a training method and a number of arms.
type family struct {
	agent, integrate string
	arms             int
}

func (f family) String() string { return fmt.Sprintf("%s (%s)", f.agent, f.integrate) }

// leastComputation returns the claim that the least computation of a diagonal linear hypermodel, divided by the least
// computation of an ensemble, is below a bound. Both are trained by the paper's algorithm.
func leastComputation(name, text string, bound float64, bar Bar, arms int) study.Claim {
	a, b := family{"linear", "sampled", arms}, family{"ensemble", "sampled", arms}
	return study.Claim{Name: name, Text: text, Quick: performQuick, Full: performFull,
		Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
			var found [2]analysis.Least
			var none study.NonePassesError
			for i, f := range []family{a, b} {
				var err error
				found[i], err = leastOf(simulate, size, bar, f)
				if errors.Is(err, analysis.ErrNoneBelow) {
					none.Agents, none.Cause = append(none.Agents, f.agent), errors.Join(none.Cause, err)
				} else if err != nil {
					return study.Finding{}, err
				}
			}
			if none.Cause != nil {
				return study.Finding{}, none
			}
			c, err := computationRatio(found[0], found[1], study.Below(bound))
			c.Kind, c.Periods = "ratio of computation", size.Periods
			c.Text = fmt.Sprintf("least computation of %v, %.3g, over that of %v, %.3g", a,
				float64(found[0].Computation.Value), b, float64(found[1].Computation.Value))
			f := c.Judge()
			f.Discrete = true
			return f, err
		}}
}

// computationRatio compares two agents by the ratio of their least computations, which is claimed to be below a bound.
// Both must be known.
func computationRatio(least, other analysis.Least, claimed study.Range) (study.Comparison, error) {
	ratio, p, err := least.Over(other, claimed.Below)
	c := study.Comparison{Claimed: claimed, Estimate: ratio, Runs: least.Runs, Inside: 1, Outside: 1}
	if float64(ratio.Value) < claimed.Below {
		c.Inside = p / 2
	} else {
		c.Outside = p / 2
	}
	return c, err
}

// leastOf simulates a family's settings, and returns the least computation among those below a bar. The error wraps
// analysis.ErrNoneBelow if no setting is below the bar.
func leastOf(simulate study.Simulator, size lab.Size, bar Bar, f family) (analysis.Least, error) {
	var sides []study.Side
	for _, sets := range FrontierSettings(f.agent, f.integrate, f.arms) {
		sides = append(sides, study.NewSide(f.agent, sets...))
	}
	if sides == nil {
		return analysis.Least{}, fmt.Errorf("no search has found settings of %v with %d arms near the frontier", f, f.arms)
	}
	target, err := bar.target(simulate, size, f.arms)
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
	if enough := study.EnoughRuns(size, least.Runs); err == nil || errors.Is(err, analysis.ErrNoneBelow) && enough != nil {
		err = enough
	}
	return least, err
}
