package beyond

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// Relation describes how agents' divergences on the testbed are related to their regrets in a bandit.
type Relation struct {
	Taus     []int   `json:"taus"`    // numbers of classes predicted together
	Periods  []int   `json:"periods"` // three horizons: about a tenth, about a third, and all of the bandit's periods
	Problems int     `json:"problems"`
	Runs     int     `json:"runs"`
	Agents   []Agent `json:"agents"`
	// Correlations has, for each tau, the correlation over agents of log KL and log regret at the last period.
	// Intervals come from the bootstrap over problems and over seeds of runs; each resample is the same for all agents.
	// The intervals are about these agents only: other agents may differ.
	Correlations []stats.Estimate `json:"correlations"`
}

// Agent is an agent that was tried on the testbed and in the bandit. The intervals of KL are over problems, and treat
// differences between settings of the problems as chance.
type Agent struct {
	Name        string           `json:"agent"`
	Computation float64          `json:"computation"` // of a period, by the paper's formula
	KL          []stats.Estimate `json:"kl"`          // mean for each tau, in nats
	Regret      []stats.Estimate `json:"regret"`      // mean cumulative regret at each horizon
}

// resamples is the number of resamples of the bootstrap.
const resamples = 2000

// Relate compares results of a sweep to results of a bandit, for the agents whose name is in both. It uses the taus of
// which all these agents have results, the problems on which all of them were tried with each of these taus, and the
// seeds that all of them have.
func Relate(s testbed.Sweep, results []testbed.Result, h lab.Header, rows []lab.Row) (r Relation, err error) {
	kl := testbed.Divergences(results)
	var entries []int
	for i, e := range h.Spec.Entries {
		if !slices.ContainsFunc(results, func(x testbed.Result) bool { return x.Agent == e.Agent }) {
			continue
		}
		if slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.Name == e.Agent }) {
			return r, fmt.Errorf("there are two entries of %s: compare one entry of each agent", e.Agent)
		}
		_, agent := e.Setting.Build(h.Spec.Periods)
		r.Agents, entries = append(r.Agents, Agent{Name: e.Agent, Computation: agent.Computation()}), append(entries, i)
	}
	if len(r.Agents) < 3 {
		return r, fmt.Errorf("a correlation needs three agents that were tried on the testbed and in the bandit: "+
			"there are %d", len(r.Agents))
	}
	for _, tau := range slices.Sorted(maps.Keys(kl)) {
		if !slices.ContainsFunc(r.Agents, func(a Agent) bool { return len(kl[tau][a.Name]) == 0 }) {
			r.Taus = append(r.Taus, tau)
		}
	}
	problems := r.problems(s, kl)
	if len(problems) == 0 || len(problems[0][0]) == 0 {
		return r, fmt.Errorf("no problem of %s was tried with all agents", s.Name)
	}
	r.Problems = len(problems[0][0])
	periods, regrets, err := analysis.Regrets(rows, horizons, entries...)
	if err != nil {
		return r, err
	}
	r.Periods, r.Runs = periods, len(regrets[0][0])
	last := regrets[len(regrets)-1]
	for t := range r.Taus {
		r.Correlations = append(r.Correlations, correlationOf(problems[t], last, uint64(t)))
	}
	for i := range r.Agents {
		for t := range r.Taus {
			r.Agents[i].KL = append(r.Agents[i].KL, stats.MeanRegret(problems[t][i]))
		}
		for _, at := range regrets {
			r.Agents[i].Regret = append(r.Agents[i].Regret, stats.MeanRegret(at[i]))
		}
	}
	return r, nil
}

// problems returns, for each tau and agent, the divergences on the problems that all agents have.
func (r Relation) problems(s testbed.Sweep, kl map[int]map[string]map[int]float64) (out [][][]float64) {
	for range r.Taus {
		out = append(out, make([][]float64, len(r.Agents)))
	}
	for _, p := range s.Problems {
		lacks := func(a Agent) bool {
			return slices.ContainsFunc(r.Taus, func(tau int) bool { _, ok := kl[tau][a.Name][p.Number]; return !ok })
		}
		if slices.ContainsFunc(r.Agents, lacks) {
			continue
		}
		for t, tau := range r.Taus {
			for i, a := range r.Agents {
				out[t][i] = append(out[t][i], testbed.FiniteScore(kl[tau][a.Name][p.Number]))
			}
		}
	}
	return out
}

// correlationOf returns the correlation of the logarithms of row means, with its interval.
func correlationOf(kl, regrets [][]float64, seed uint64) stats.Estimate {
	random := rand.New(rand.NewPCG(1, seed))
	draw := func(of [][]float64) []int {
		at := make([]int, len(of[0]))
		for i := range at {
			at[i] = random.IntN(len(at))
		}
		return at
	}
	all := make([]float64, resamples)
	for i := range all {
		all[i] = correlation(means(kl, draw(kl)), means(regrets, draw(regrets)))
	}
	slices.Sort(all)
	quantile := func(p float64) stats.Float { return stats.Float(stat.Quantile(p, stat.Empirical, all, nil)) }
	tail := (1 - stats.Level) / 2
	return stats.Estimate{Value: stats.Float(correlation(means(kl, nil), means(regrets, nil))), Lower: quantile(tail),
		Upper: quantile(1 - tail)}
}

// means returns the mean of each row over the columns in places; nil places are all columns.
func means(of [][]float64, places []int) (out []float64) {
	for _, row := range of {
		some := row
		if places != nil {
			some = make([]float64, len(places))
			for i, at := range places {
				some[i] = row[at]
			}
		}
		out = append(out, stat.Mean(some, nil))
	}
	return out
}

// correlation returns the correlation of the logarithms of x and y.
func correlation(x, y []float64) float64 {
	lx, ly := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	return stat.Correlation(lx, ly, nil)
}
