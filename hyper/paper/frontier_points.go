package paper

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// FrontierPoint is a point of figure 2: the least computation with which an agent, trained in some way, is below a bar
// with a number of arms. Estimates are NaN where there is nothing to estimate.
type FrontierPoint struct {
	Agent     string `json:"agent"`
	Integrate string `json:"integrate"` // the way to train
	Arms      int    `json:"arms"`
	Bar       Bar    `json:"bar"` // what to be below
	// Setting is that of the least computation, as "key=value" texts; nil where no setting is below the bar.
	Setting     []string     `json:"setting"`
	Computation lab.Estimate `json:"computation"`    // of a period, by the paper's formula
	Average     lab.Estimate `json:"average_regret"` // per period
	Runs        int          `json:"runs"`
	// Ratio is that of an ensemble's computation to that of the linear hypermodel trained in the same way.
	Ratio lab.Estimate `json:"ratio"`
}

// Found is what a search found, of the setting: all of it but the number of arms and the way to train.
func (p FrontierPoint) Found() string { return strings.Join(p.Setting[min(2, len(p.Setting)):], " ") }

// FrontierTime is a point with the time of a period, as `hyper bench frontier` measures it.
type FrontierTime struct {
	FrontierPoint
	Micros      float64   `json:"microseconds"`       // of a run-period, on one core
	MicrosRatio lab.Float `json:"microseconds_ratio"` // of an ensemble's to that of the linear hypermodel, as Ratio
	Backend     string    `json:"backend"`
	CPU         string    `json:"cpu"`
}

// FrontierOf returns the points of figure 2 that a study holds, bar by bar, from fewer to more arms: those of which it
// has all FrontierSettings, and exact Thompson sampling for the bar that needs it. They are judged as claims judge
// them, see LeastOf.
func FrontierOf(h lab.Header, rows []lab.Row) (all []FrontierPoint, err error) {
	for _, bar := range Bars {
		points, err := frontierBelow(bar, lab.FromStudy(Frontier, h, rows))
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	return all, nil
}

// frontierBelow is the part of FrontierOf of one bar.
func frontierBelow(bar Bar, simulate lab.Simulator) (points []FrontierPoint, err error) {
	nan := lab.Float(math.NaN())
	nothing := lab.Estimate{Value: nan, Lower: nan, Upper: nan}
	found := map[family]lab.Least{}
	for _, f := range families() {
		least, err := LeastOf(simulate, Frontier.Full, bar, f.agent, f.integrate, f.arms)
		if errors.Is(err, lab.ErrNotInStudy) {
			continue
		}
		p := FrontierPoint{Agent: f.agent, Integrate: f.integrate, Arms: f.arms, Bar: bar, Computation: nothing,
			Average: nothing, Runs: least.Runs, Ratio: nothing}
		if errors.Is(err, lab.ErrNoneBelow) {
			points = append(points, p)
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Setting, p.Computation, p.Average = FrontierSettings(f.agent, f.integrate,
			f.arms)[least.Entry], least.Computation, least.Average
		if linear, ok := found[family{"linear", f.integrate, f.arms}]; ok {
			if p.Ratio, _, err = least.Over(linear, 1); err != nil {
				return nil, err
			}
		}
		found[f] = least
		points = append(points, p)
	}
	return points, nil
}

// FrontierLimit says how much regret agents must have with a number of arms, per period, beside the target of figure 2.
// (Ours.)
type FrontierLimit struct {
	Arms   int
	Target float64      // 0.01 sqrt(K): less is to perform well
	Least  float64      // on average any agent whatever has at least this, see bandit.Gaussian.LeastRegret
	Exact  lab.Estimate // of exact Thompson sampling, which both agents approximate
	Runs   int          // of exact Thompson sampling
}

// FrontierLimits returns the limits for the paper's numbers of arms for which a study has exact Thompson sampling.
func FrontierLimits(h lab.Header, rows []lab.Row) ([]FrontierLimit, error) {
	simulate := lab.FromStudy(Frontier, h, rows)
	var out []FrontierLimit
	for _, arms := range frontierArms {
		f, err := exactAgainstTarget(simulate, Frontier.Full, arms)
		if errors.Is(err, lab.ErrNotInStudy) {
			continue
		}
		if err != nil {
			return nil, err
		}
		world := bandit.NewGaussian()
		world.Arms = arms
		least := world.LeastRegret(Frontier.Full.Periods) / float64(Frontier.Full.Periods)
		out = append(out, FrontierLimit{arms, f.Bound, least,
			lab.Estimate{Value: f.Estimate, Lower: f.Lower, Upper: f.Upper}, f.Runs})
	}
	return out, nil
}

// families are those that were searched: from fewer to more arms, the paper's way to train first, and the linear
// hypermodel first.
func families() (all []family) {
	for _, s := range frontierTable {
		if f := (family{s.agent, s.integrate, s.arms}); !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	way := func(f family) train.Integration { return lab.OfWord[train.Integration](f.integrate) }
	agent := func(f family) int { return slices.Index(Frontier.Order, f.agent) }
	slices.SortFunc(all, func(a, b family) int {
		return cmp.Or(cmp.Compare(a.arms, b.arms), cmp.Compare(way(a), way(b)), cmp.Compare(agent(a), agent(b)))
	})
	return all
}
