package paper

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// FrontierPoint is a point of figure 2: the least computation with which an agent, with a training method and a number
// of arms, has an average regret below a bound. Estimates are NaN if there is no estimate.
type FrontierPoint struct {
	Agent     string
	Integrate string // the training method
	Arms      int
	Bound     RegretBound // the upper bound on the average regret
	// Setting has the keys and values with the least computation, as "key=value" texts. Setting is nil if the agent
	// stays below the bound with none.
	Setting     []string
	Computation stats.Estimate // of a period, by the paper's formula
	Average     stats.Estimate // average regret per period
	Runs        int
	// Ratio is an ensemble's computation divided by the linear hypermodel's, with the same training method.
	Ratio stats.Estimate
}

// Found returns the searched part of the setting: all keys except the number of arms and the training method.
func (p FrontierPoint) Found() string {
	fixed := frontierFamily{p.Agent, enum.Of[train.Integration](p.Integrate), p.Arms}.fixed()
	return strings.Join(slices.DeleteFunc(slices.Clone(p.Setting), func(set string) bool {
		return slices.Contains(fixed, set)
	}), " ")
}

// FrontierOf returns the points of figure 2 in a study, by bound, from fewer to more arms. A point needs all
// settings of its family, and exact Thompson sampling for the bound that depends on it; other points are left out.
// Points are judged as claims judge them.
func FrontierOf(h lab.Header, rows []lab.Row) (all []FrontierPoint, err error) {
	for _, bound := range RegretBounds {
		points, err := frontierBelow(bound, analysis.Lookup(Frontier, h, rows))
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	return all, nil
}

// frontierBelow returns the points of FrontierOf for one bound.
func frontierBelow(bound RegretBound, simulate study.Simulator) (points []FrontierPoint, err error) {
	nothing := stats.NoEstimate()
	found := map[frontierFamily]analysis.Least{}
	for _, f := range families() {
		least, err := leastOf(simulate, Frontier.Full, bound, f)
		if errors.Is(err, analysis.ErrMissing) {
			continue
		}
		p := FrontierPoint{Agent: f.agent, Integrate: f.integrate.String(), Arms: f.arms, Bound: bound, Computation: nothing,
			Average: nothing, Runs: least.Runs, Ratio: nothing}
		if errors.Is(err, analysis.ErrNoneBelow) {
			points = append(points, p)
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Setting, p.Computation, p.Average = f.settings()[least.Entry], least.Computation, least.Average
		if linear, ok := found[frontierFamily{"linear", f.integrate, f.arms}]; ok {
			if p.Ratio, _, err = least.Over(linear, 1); err != nil {
				return nil, err
			}
		}
		found[f] = least
		points = append(points, p)
	}
	return points, nil
}

// FrontierLimit compares the target of figure 2 with the regret per period that no agent can avoid, for a number of
// arms. The comparison is not in the paper.
type FrontierLimit struct {
	Arms   int
	Target float64        // 0.01 sqrt(K): agents with a lower average regret perform well
	Least  float64        // lower bound on the average regret of every agent, see bandit.Gaussian.LeastRegret
	Exact  stats.Estimate // average regret of exact Thompson sampling, which both agents approximate
	Runs   int            // number of runs of exact Thompson sampling
}

// FrontierLimits returns a limit for each of the paper's numbers of arms for which the study contains exact Thompson
// sampling.
func FrontierLimits(h lab.Header, rows []lab.Row) ([]FrontierLimit, error) {
	simulate := analysis.Lookup(Frontier, h, rows)
	var out []FrontierLimit
	for _, arms := range frontierArms {
		exact, err := exactAgainstTarget(simulate, Frontier.Full, arms)
		if errors.Is(err, analysis.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		world := bandit.NewGaussian()
		world.Arms = arms
		least := world.LeastRegret(Frontier.Full.Periods) / float64(Frontier.Full.Periods)
		out = append(out, FrontierLimit{Arms: arms, Target: exact.Claimed.Below, Least: least, Exact: exact.Estimate,
			Runs: exact.Runs})
	}
	return out, nil
}

// families returns the families that were searched, from fewer to more arms. For each number of arms the paper's
// training method comes first, and for each method the linear hypermodel.
func families() (all []frontierFamily) {
	for _, s := range frontierTable {
		if !slices.Contains(all, s.frontierFamily) {
			all = append(all, s.frontierFamily)
		}
	}
	place := func(f frontierFamily) int { return slices.Index(Frontier.Order, f.agent) }
	slices.SortFunc(all, func(a, b frontierFamily) int {
		return cmp.Or(cmp.Compare(a.arms, b.arms), cmp.Compare(a.integrate, b.integrate), cmp.Compare(place(a), place(b)))
	})
	return all
}
