package testbed

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Line is one row of a leaderboard: an agent at one tau.
type Line struct {
	Agent    string         `json:"agent"`
	Tau      int            `json:"tau"`
	Problems int            `json:"problems"` // on which both the agent and the baseline were tried
	Mean     stats.Float    `json:"mean"`     // of the divergences, in nats
	SE       stats.Float    `json:"se"`       // standard error of Mean, see [Sweep].Seeds; NaN for a single seed
	Ratio    stats.Estimate `json:"ratio"`    // the mean divided by the baseline's mean on the same problems
	// Accuracy and ECE are means over the problems, see [Result]. They are nil unless all results have them.
	Accuracy *stats.Float `json:"accuracy,omitempty"`
	ECE      *stats.Float `json:"ece,omitempty"`
}

// Divergences returns the divergences of results, in nats, by tau, agent and problem number. If a key occurs more than
// once, the last result counts.
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

// Leaderboard compares the agents of results to a baseline among them, at each tau. Agents are ordered from best to
// worst by their ratio at the largest tau. Each agent is compared to the baseline on the problems on which both were
// tried.
func Leaderboard(s Sweep, results []Result, baseline string) []Line {
	kl := Divergences(results)
	var agents []string
	for _, r := range results {
		if !slices.Contains(agents, r.Agent) {
			agents = append(agents, r.Agent)
		}
	}
	var out []Line
	for _, tau := range slices.Sorted(maps.Keys(kl)) {
		for _, agent := range agents {
			if line, ok := lineOf(s, kl[tau][agent], kl[tau][baseline]); ok {
				line.Agent, line.Tau = agent, tau
				line.Accuracy = meanMark(results, agent, tau, func(r Result) *stats.Float { return r.Accuracy })
				line.ECE = meanMark(results, agent, tau, func(r Result) *stats.Float { return r.ECE })
				out = append(out, line)
			}
		}
	}
	rank := map[string]float64{}
	for _, l := range out { // lines of the largest tau come last
		rank[l.Agent] = float64(l.Ratio.Value)
		if math.IsNaN(rank[l.Agent]) { // NaN is ordered last
			rank[l.Agent] = math.Inf(1)
		}
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Compare(rank[a.Agent], rank[b.Agent]) })
	return out
}

// meanMark returns the mean of one score over an agent's results at a tau, nil if a result lacks the score.
func meanMark(results []Result, agent string, tau int, of func(Result) *stats.Float) *stats.Float {
	var sum stats.Float
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
	return new(sum / stats.Float(n))
}

// lineOf compares an agent's divergences to the baseline's, both by problem number.
func lineOf(s Sweep, own, baseline map[int]float64) (Line, bool) {
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool {
		_, ok := own[p.Number]
		_, both := baseline[p.Number]
		return !ok || !both
	})
	if len(s.Problems) == 0 {
		return Line{}, false
	}
	a, b := s.score(own), s.score(baseline)
	return Line{Problems: len(s.Problems), Mean: stats.Float(a.Mean()), SE: stats.Float(a.StdErr()),
		// The interval treats differences between settings as chance. It is too wide if the ratio depends on the setting.
		Ratio: stats.RatioOfMeans(a.KL, b.KL)}, true
}
