package beyond

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// sweepFiles is the pattern of the records of the testbed's sweeps.
const sweepFiles = "beyond/testbed/*.jsonl"

// order is the order of agents in the table. All other agents follow.
var order = []string{"mlp", "egreedy", "dropout", "bbb", "ensemble", "ensemble+", "hypermodel", "epinet", "last-layer",
	"ensemble++", "network-gp"}

// Table holds the results of each agent: its cost, its scores on the testbed, and its regret in each world.
type Table struct {
	Agents []string       `json:"agents"`
	Sweeps []SweepScores  `json:"sweeps"`
	Worlds []WorldRegrets `json:"worlds"`
}

// SweepScores holds the scores of agents on a sweep of the testbed.
type SweepScores struct {
	Sweep  string         `json:"sweep"`
	Scores []testbed.Line `json:"scores"` // relative to the single network, mlp
}

// ErrNoResults is wrapped by the error about a folder that has no results for the table.
var ErrNoResults = errors.New("no results of the testbed or of a world of the table")

// Tabulate makes the table from a folder of results. known has the experiments of worlds that are not in this package.
// Tabulate leaves out worlds and sweeps without files. mix is called if results of one world come from different
// revisions, and the results are joined; if mix is nil, such results are an error.
func Tabulate(known map[string]lab.Experiment, dir string, mix func(why error)) (t Table, err error) {
	known = maps.Clone(known)
	maps.Copy(known, Known)
	records, err := filepath.Glob(filepath.Join(dir, sweepFiles))
	if err != nil {
		return t, err
	}
	for _, file := range records {
		s, err := scoresOf(file)
		if err != nil {
			return t, err
		}
		t.Sweeps = append(t.Sweeps, s)
	}
	for _, w := range worlds {
		r, err := w.regrets(known, dir, mix)
		if err != nil {
			return t, fmt.Errorf("%s: %w", w.Title, err)
		}
		if len(r.Agents) > 0 {
			t.Worlds = append(t.Worlds, r)
		}
	}
	if t.Agents = t.names(); len(t.Agents) == 0 {
		return t, fmt.Errorf("%s: %w", dir, ErrNoResults)
	}
	return t, nil
}

// scoresOf returns the scores of a record's sweep.
func scoresOf(file string) (s SweepScores, err error) {
	r, err := testbed.ReadRecord(file)
	if err != nil {
		return s, err
	}
	sweep, ok := testbed.Known[r.Sweep]
	if !ok {
		return s, fmt.Errorf("%s: there is no sweep %q", file, r.Sweep)
	}
	return SweepScores{r.Sweep, testbed.Leaderboard(sweep(), r.Results, "mlp")}, nil
}

// place returns the position of an agent in the table's order.
func place(agent string) int {
	if at := slices.Index(order, agent); at >= 0 {
		return at
	}
	return len(order)
}

// names returns the names of all agents, in order.
func (t Table) names() (all []string) {
	for _, s := range t.Sweeps {
		for _, l := range s.Scores {
			all = append(all, l.Agent)
		}
	}
	for _, w := range t.Worlds {
		for _, r := range w.Agents {
			all = append(all, r.Agent)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return slices.Compact(all)
}

// Line returns an agent's scores at one tau, and whether there are any.
func (s SweepScores) Line(agent string, tau int) (testbed.Line, bool) {
	at := slices.IndexFunc(s.Scores, func(l testbed.Line) bool { return l.Agent == agent && l.Tau == tau })
	if at < 0 {
		return testbed.Line{}, false
	}
	return s.Scores[at], true
}
