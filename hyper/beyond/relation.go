package beyond

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// Relation is how agents' divergences on the testbed and their regrets in a bandit go together.
type Relation struct {
	Tau    int       `json:"tau"` // classes predicted at once
	Agents []string  `json:"agents"`
	KL     []float64 `json:"kl"`     // of each agent, the mean over problems, in nats
	Regret []float64 `json:"regret"` // of each agent, the mean over runs, cumulative
	// Correlation is that of log KL and log Regret over the agents. Its interval is of the bootstrap over problems and
	// over seeds of runs, each drawn anew for all agents at once. It is about these agents: others may differ.
	Correlation lab.Estimate `json:"correlation"`
}

// resamples are those of the bootstrap.
const resamples = 2000

// ErrFewAgents is the cause of an error about fewer agents than a correlation needs, which is three.
var ErrFewAgents = errors.New("a correlation needs three agents that were tried on the testbed and in the bandit")

// Relate compares results of a sweep with those of a bandit, for the agents of one name in both: on the problems that
// all of these were tried on, and at the last period of the seeds that all have. There is a relation for each tau.
func Relate(s testbed.Sweep, results []testbed.Result, h lab.Header, rows []lab.Row) (out []Relation, err error) {
	entries := map[string]int{}
	for i, e := range h.Spec.Entries {
		if _, twice := entries[e.Agent]; twice {
			return nil, fmt.Errorf("there are two entries of %s: compare one of each agent", e.Agent)
		}
		entries[e.Agent] = i
	}
	for _, tau := range testbed.Taus {
		kl := map[string]map[int]float64{} // by agent and number of the problem
		for _, r := range results {
			if _, ok := entries[r.Agent]; ok && r.Tau == tau {
				if kl[r.Agent] == nil {
					kl[r.Agent] = map[int]float64{}
				}
				kl[r.Agent][r.Number] = testbed.Counted(float64(r.KL))
			}
		}
		one := Relation{Tau: tau}
		var chosen []int
		for _, e := range h.Spec.Entries {
			if kl[e.Agent] != nil {
				one.Agents, chosen = append(one.Agents, e.Agent), append(chosen, entries[e.Agent])
			}
		}
		if len(one.Agents) < 3 {
			return nil, fmt.Errorf("%w: there are %d with tau = %d", ErrFewAgents, len(one.Agents), tau)
		}
		regrets, err := lab.Regrets(rows, chosen...)
		if err != nil {
			return nil, err
		}
		problems := problemsOf(s, one.Agents, kl)
		if len(problems[0]) == 0 {
			return nil, fmt.Errorf("no problem of %s was tried with all of %s", s.Name, strings.Join(one.Agents, ", "))
		}
		one.relate(problems, regrets)
		out = append(out, one)
	}
	return out, nil
}

// problemsOf are the divergences of each agent on the problems that all have.
func problemsOf(s testbed.Sweep, agents []string, kl map[string]map[int]float64) [][]float64 {
	out := make([][]float64, len(agents))
	for _, p := range s.Problems {
		if slices.ContainsFunc(agents, func(a string) bool { _, ok := kl[a][p.Number]; return !ok }) {
			continue
		}
		for i, a := range agents {
			out[i] = append(out[i], kl[a][p.Number])
		}
	}
	return out
}

// relate fills in the means and their correlation.
func (r *Relation) relate(kl, regrets [][]float64) {
	r.KL, r.Regret = means(kl, nil), means(regrets, nil)
	random := rand.New(rand.NewPCG(1, uint64(r.Tau)))
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
	quantile := func(p float64) lab.Float { return lab.Float(stat.Quantile(p, stat.Empirical, all, nil)) }
	tail := (1 - lab.Level) / 2
	r.Correlation = lab.Estimate{Value: lab.Float(correlation(r.KL, r.Regret)), Lower: quantile(tail),
		Upper: quantile(1 - tail)}
}

// means are those of rows at places; nil is all.
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

// correlation is that of logarithms.
func correlation(x, y []float64) float64 {
	lx, ly := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	return stat.Correlation(lx, ly, nil)
}
