package testbed

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Line is an agent of a leaderboard, at one tau.
type Line struct {
	Agent    string       `json:"agent"`
	Tau      int          `json:"tau"`
	Problems int          `json:"problems"` // on which both it and the baseline were tried
	Mean     lab.Float    `json:"mean"`     // of the divergences, in nats
	SE       lab.Float    `json:"se"`       // by classes of seeds
	Ratio    lab.Estimate `json:"ratio"`    // the mean over the baseline's on the same problems
	// Accuracy and ECE are means over the problems, nil unless all results have them; see [Calibration].
	Accuracy *lab.Float `json:"accuracy,omitempty"`
	ECE      *lab.Float `json:"ece,omitempty"`
}

// Divergences are those of results, in nats, by tau, agent and the number of the problem; of several the last.
func Divergences(results []Result) map[int]map[string]map[int]float64 {
	kl := map[int]map[string]map[int]float64{}
	for _, r := range results {
		if kl[r.Tau] == nil {
			kl[r.Tau] = map[string]map[int]float64{}
		}
		if kl[r.Tau][r.Agent] == nil {
			kl[r.Tau][r.Agent] = map[int]float64{}
		}
		kl[r.Tau][r.Agent][r.Number] = float64(r.KL)
	}
	return kl
}

// Leaderboard compares the agents of results with a baseline among them, at each tau, from the best to the worst at the
// largest tau. Agents are compared with the baseline on the problems on which both were tried.
func Leaderboard(s Sweep, results []Result, baseline string) []Line {
	kl := Divergences(results)
	var agents []string
	for _, r := range results {
		if !slices.Contains(agents, r.Agent) {
			agents = append(agents, r.Agent)
		}
	}
	taus := slices.Collect(maps.Keys(kl))
	slices.Sort(taus)
	var out []Line
	for _, tau := range taus {
		for _, agent := range agents {
			if line, ok := lineOf(s, kl[tau][agent], kl[tau][baseline]); ok {
				line.Agent, line.Tau = agent, tau
				line.Accuracy = meanMark(results, agent, tau, func(r Result) *lab.Float { return r.Accuracy })
				line.ECE = meanMark(results, agent, tau, func(r Result) *lab.Float { return r.ECE })
				out = append(out, line)
			}
		}
	}
	rank := map[string]float64{}
	for _, l := range out { // the last is of the largest tau
		rank[l.Agent] = float64(l.Ratio.Value)
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Compare(orLast(rank[a.Agent]), orLast(rank[b.Agent])) })
	return out
}

// meanMark is the mean of a mark of an agent's results at a tau, nil where one lacks it.
func meanMark(results []Result, agent string, tau int, of func(Result) *lab.Float) *lab.Float {
	var sum lab.Float
	n := 0
	for _, r := range results {
		if r.Agent != agent || r.Tau != tau {
			continue
		}
		x := of(r)
		if x == nil {
			return nil
		}
		sum, n = sum+*x, n+1
	}
	mean := sum / lab.Float(n)
	return &mean
}

// orLast makes what is no number the largest.
func orLast(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// lineOf compares divergences by the numbers of problems.
func lineOf(s Sweep, own, baseline map[int]float64) (Line, bool) {
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool {
		_, ok := own[p.Number]
		_, both := baseline[p.Number]
		return !ok || !both
	})
	if len(s.Problems) == 0 {
		return Line{}, false
	}
	a, b := s.Score(own), s.Score(baseline)
	return Line{Problems: len(s.Problems), Mean: lab.Float(a.Mean()), SE: lab.Float(a.StdErr()), Ratio: a.Paired(b)}, true
}
