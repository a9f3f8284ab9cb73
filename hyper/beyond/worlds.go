package beyond

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// World is one world of the table of agents: an experiment, and the files with its results in a folder such as
// notebooks/results.
type World struct {
	Title      string            `json:"world"`
	Experiment string            `json:"experiment"`
	Pieces     []string          `json:"-"` // patterns of the files of a study
	Costs      string            `json:"-"` // file with the output of `hyper bench study --json`; "" is none
	Names      map[string]string `json:"-"` // by name in this world, the table's name of an agent, if different
}

// worlds lists the worlds of the table. The table shows the costs of the first world.
//
// Agents with the same name have the same kind of belief, but their settings differ between worlds. In two bandits with
// rewards 0 and 1 they are the testbed's settings. In a third such bandit and in the paper's they come from searches of
// equal budgets. In the quadratic bandit they are the settings of Ensemble++.
var worlds = []World{
	{Title: "rewards 0 and 1, 1,000 actions", Experiment: "testbed-bandit",
		Pieces: []string{"beyond/testbed-bandit/*.gz"}, Costs: "beyond/testbed-bandit/costs.json"},
	{Title: "rewards 0 and 1, 1,000 actions, searched alike", Experiment: "testbed-bandit",
		Pieces: []string{"beyond/testbed-bandit/searched/*.gz"}},
	{Title: "rewards 0 and 1, 100 actions", Experiment: "testbed-bandit",
		Pieces: []string{"beyond/testbed-bandit/small/*.gz"}},
	{Title: "the paper's, 1,000 actions", Experiment: "neural",
		Pieces: []string{"beyond/neural/*.gz", "neural/linear-1000.*.gz", "neural/ensemble-100-1000.*.gz",
			"neural/dropout-1000.*.gz", "neural/bbb-1000.*.gz", "neural/egreedy-1000.*.gz"},
		Costs: "beyond/neural/costs.json", Names: sameBelief},
	{Title: "quadratic, 1,000 actions", Experiment: "quadratic-bandit",
		Pieces: []string{"beyond/quadratic-bandit/*.gz"}, Names: sameBelief},
}

// sameBelief maps names of agents in the paper and in Ensemble++ to the testbed's names. The ensembles there have prior
// functions, and the linear hypermodel is the testbed's hypermodel.
var sameBelief = map[string]string{"linear": "hypermodel", "ensemble": "ensemble+",
	"ensemble-plus-plus-neural": "ensemble++"}

// Reference is the agent to which the others are compared in each world: the kind of agent that the paper proposes.
const Reference = "hypermodel"

// horizons lists the shares of a world's periods at which the table shows regrets.
var horizons = []float64{0.1, 1. / 3, 1}

// WorldRegrets holds the agents' regrets and costs in a world.
type WorldRegrets struct {
	World
	Agents []Regrets `json:"agents"`
}

// Regrets holds an agent's mean cumulative regrets in a world, with intervals.
type Regrets struct {
	Agent   string           `json:"agent"`
	Runs    int              `json:"runs"`
	Periods []int            `json:"periods"` // the recorded periods nearest to horizons
	Regret  []stats.Estimate `json:"regret"`  // mean, by Periods
	Median  stats.Estimate   `json:"median"`  // at the last period
	Failed  stats.Estimate   `json:"failed"`  // share of runs that failed, see [analysis.Compare]
	// Ratio is the mean regret at the last period divided by the Reference's in this world, on the seeds that both
	// have. It is nil for the reference itself, and if there are no such seeds. Apart reports whether the two differ at
	// 95% confidence, with Holm's correction over the world's agents.
	Ratio      *stats.Estimate `json:"ratio,omitempty"`
	Apart      bool            `json:"apart,omitempty"`
	Operations float64         `json:"operations"`
	Micros     stats.Float     `json:"microseconds"` // for one period of one run on one core; 0 if not measured
	Bytes      int64           `json:"bytes"`        // memory of a run; 0 if not measured
}

// regrets returns the regrets in the world's files.
func (w World) regrets(known map[string]lab.Experiment, dir string, mix func(error)) (out WorldRegrets, err error) {
	out.World = w
	var paths []string
	for _, pattern := range w.Pieces {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return out, err
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return out, nil
	}
	h, rows, err := analysis.Reader{Mix: mix}.Read(known, paths...)
	if err != nil {
		return out, err
	}
	if h.Spec.Experiment != w.Experiment {
		return out, fmt.Errorf("the files have results of experiment %s, not of %s", h.Spec.Experiment, w.Experiment)
	}
	costs, err := w.costs(dir)
	if err != nil {
		return out, err
	}
	ends, err := analysis.Compare(h, rows, known[w.Experiment].Failure)
	if err != nil {
		return out, err
	}
	for i, s := range h.Spec.Entries {
		name := cmp.Or(w.Names[s.Agent], s.Agent)
		if slices.ContainsFunc(out.Agents, func(r Regrets) bool { return r.Agent == name }) {
			return out, fmt.Errorf("there are two entries of %s: keep one in the folder", name)
		}
		r := Regrets{Agent: name, Median: ends[i].Median, Failed: ends[i].Failed}
		periods, regrets, err := analysis.Regrets(rows, horizons, i)
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
		if len(out.Agents) > 0 && !slices.Equal(periods, out.Agents[0].Periods) {
			return out, fmt.Errorf("%s has regrets at the periods %v, and %s at %v: a folder must have results with the same "+
				"number of periods", name, periods, out.Agents[0].Agent, out.Agents[0].Periods)
		}
		for _, at := range regrets {
			r.Regret = append(r.Regret, stats.MeanRegret(at[0]))
		}
		_, agent := s.Setting.Build(h.Spec.Periods)
		r.Periods, r.Runs, r.Operations = periods, len(regrets[0][0]), agent.Computation()
		if o, ok := analysis.FindTradeoff(costs, s); ok {
			r.Micros, r.Bytes = o.Micros, o.Bytes
		}
		out.Agents = append(out.Agents, r)
	}
	if err := out.compare(rows); err != nil {
		return out, err
	}
	slices.SortStableFunc(out.Agents, func(a, b Regrets) int { return cmp.Compare(place(a.Agent), place(b.Agent)) })
	return out, nil
}

// compare sets the ratios of the agents. The i-th agent has the rows of entry i.
func (w *WorldRegrets) compare(rows []lab.Row) error {
	at := slices.IndexFunc(w.Agents, func(r Regrets) bool { return r.Agent == Reference })
	if at < 0 {
		return nil
	}
	var findings []study.Finding
	var places []int // by finding, the index of its agent
	for i := range w.Agents {
		if i == at {
			continue
		}
		d, err := analysis.PairedDifference(rows, i, at)
		if errors.Is(err, analysis.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		w.Agents[i].Ratio = &d.Ratio
		findings, places = append(findings, study.Comparison{Estimate: d.Ratio, Claimed: study.Below(1)}.Judge()), append(places, i)
	}
	for i, f := range study.Correct(findings) {
		w.Agents[places[i]].Apart = f.Verdict != study.Undecided
	}
	return nil
}

// costs returns the measured costs, or nil if there are none.
func (w World) costs(dir string) (all []analysis.Tradeoff, err error) {
	if w.Costs == "" {
		return nil, nil
	}
	all, err = lines.Read[analysis.Tradeoff](filepath.Join(dir, w.Costs))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// Of returns an agent's regrets in the world, and whether there are any.
func (w WorldRegrets) Of(agent string) (Regrets, bool) {
	at := slices.IndexFunc(w.Agents, func(r Regrets) bool { return r.Agent == agent })
	if at < 0 {
		return Regrets{}, false
	}
	return w.Agents[at], true
}
