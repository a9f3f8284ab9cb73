package beyond

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// World is a place of the table of agents: an experiment, and the files that tell of it in a folder of results such as
// notebooks/results.
type World struct {
	Title      string            `json:"world"`
	Experiment string            `json:"experiment"`
	Pieces     []string          `json:"-"` // patterns of pieces of a study
	Costs      string            `json:"-"` // what `hyper bench study --json` printed; "" is none
	Names      map[string]string `json:"-"` // what the table calls agents of other names here
}

// Worlds are those of the table. The first one's costs are the agents'.
//
// Agents of one name have one kind of belief. Their settings are those of each world: the testbed's in two bandits of
// rewards 0 and 1, those of searches of equal budgets in a third and in the paper's, and those of Ensemble++ in the
// quadratic one.
var Worlds = []World{
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

// sameBelief are names of the testbed for agents that the paper and Ensemble++ call otherwise: their ensembles have
// prior functions, and the linear hypermodel is the hypermodel.
var sameBelief = map[string]string{"linear": "hypermodel", "ensemble": "ensemble+",
	"ensemble-plus-plus-neural": "ensemble++"}

// sweepFiles are records of the testbed's sweeps.
const sweepFiles = "beyond/testbed/*.jsonl"

// order is that of agents in the table; others come after these.
var order = []string{"mlp", "egreedy", "dropout", "bbb", "ensemble", "ensemble+", "hypermodel", "epinet", "last-layer",
	"ensemble++", "network-gp"}

// Reference is the agent that others are compared with in each world: the paper's kind.
const Reference = "hypermodel"

// Horizons are the shares of a world's periods at which the table has regrets.
var Horizons = []float64{0.1, 1. / 3, 1}

// Table has what is known of each agent: what it costs, how good its beliefs are, and its regret in each world.
type Table struct {
	Agents []string       `json:"agents"`
	Sweeps []SweepScores  `json:"sweeps"`
	Worlds []WorldRegrets `json:"worlds"`
}

// SweepScores are the scores of agents on a sweep of the testbed.
type SweepScores struct {
	Sweep  string         `json:"sweep"`
	Scores []testbed.Line `json:"scores"` // over the single network's, mlp
}

// WorldRegrets are agents' regrets and costs in a world.
type WorldRegrets struct {
	World
	Agents []Regrets `json:"agents"`
}

// Regrets are an agent's in a world: means of cumulative regret, with intervals.
type Regrets struct {
	Agent   string         `json:"agent"`
	Runs    int            `json:"runs"`
	Periods []int          `json:"periods"` // at Horizons, about
	Regret  []lab.Estimate `json:"regret"`  // by Periods
	Median  lab.Estimate   `json:"median"`  // at the last
	Failed  lab.Estimate   `json:"failed"`  // share of runs, see [lab.Compare]
	// Ratio is the mean regret at the last period over that of the Reference in this world, on the seeds of both; nil of
	// the reference itself, and where it has no runs. Apart tells whether the two are told apart at 95% confidence, with
	// Holm's correction over the world's agents.
	Ratio      *lab.Estimate `json:"ratio,omitempty"`
	Apart      bool          `json:"apart,omitempty"`
	Operations float64       `json:"operations"`
	Micros     lab.Float     `json:"microseconds"` // of a run-period on one core; 0 where it was not measured
	Bytes      int64         `json:"bytes"`        // that a run takes; 0 where it was not measured
}

// ErrNoResults is the cause of an error about a folder that has nothing for the table.
var ErrNoResults = errors.New("no results of the testbed or of a world of the table")

// Tabulate makes the table from a folder of results. Worlds and sweeps of which it has no file are left out. Results of
// one world that were made by different revisions are joined, which hear is told of; nil refuses them.
func Tabulate(known map[string]lab.Experiment, dir string, hear func(why error)) (t Table, err error) {
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
	for _, w := range Worlds {
		r, err := w.regrets(known, dir, hear)
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

// scoresOf are those of a record's sweep.
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

// regrets are those of the world's files.
func (w World) regrets(known map[string]lab.Experiment, dir string, hear func(error)) (out WorldRegrets, err error) {
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
	h, rows, err := lab.Study{Mix: hear}.Read(known, paths...)
	if err != nil {
		return out, err
	}
	if h.Spec.Experiment != w.Experiment {
		return out, fmt.Errorf("the files are of experiment %s, not of %s", h.Spec.Experiment, w.Experiment)
	}
	costs, err := w.costs(dir)
	if err != nil {
		return out, err
	}
	ends, err := lab.Compare(h, rows, known[w.Experiment].Failure)
	if err != nil {
		return out, err
	}
	for i, s := range h.Spec.Entries {
		name := cmp.Or(w.Names[s.Agent], s.Agent)
		if slices.ContainsFunc(out.Agents, func(r Regrets) bool { return r.Agent == name }) {
			return out, fmt.Errorf("there are two entries of %s: keep one in the folder", name)
		}
		r := Regrets{Agent: name, Median: ends[i].Median, Failed: ends[i].Failed}
		periods, regrets, err := lab.Regrets(rows, Horizons, i)
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
		for _, at := range regrets {
			r.Regret = append(r.Regret, lab.MeanRegret(at[0]))
		}
		_, agent := s.Setting.Build(h.Spec.Periods)
		r.Periods, r.Runs, r.Operations = periods, len(regrets[0][0]), agent.Computation()
		if o, ok := lab.Measured(costs, s); ok {
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

// compare sets the ratios of agents, the i-th of which has the rows of entry i.
func (w *WorldRegrets) compare(rows []lab.Row) error {
	at := slices.IndexFunc(w.Agents, func(r Regrets) bool { return r.Agent == Reference })
	if at < 0 {
		return nil
	}
	var findings []lab.Finding
	var places []int // of findings
	for i := range w.Agents {
		if i == at {
			continue
		}
		d, err := lab.PairedDifference(rows, i, at)
		if errors.Is(err, lab.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		w.Agents[i].Ratio = &d.Ratio
		findings, places = append(findings, lab.Below("", d.Ratio, 1, d.Period, d.Pairs)), append(places, i)
	}
	for i, f := range lab.Holm(findings) {
		w.Agents[places[i]].Apart = f.Verdict != lab.Undecided
	}
	return nil
}

// costs are measured ones, if there are any.
func (w World) costs(dir string) (all []lab.Offer, err error) {
	if w.Costs == "" {
		return nil, nil
	}
	all, err = lines.Read[lab.Offer](filepath.Join(dir, w.Costs))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// place is where the table has an agent.
func place(agent string) int {
	if at := slices.Index(order, agent); at >= 0 {
		return at
	}
	return len(order)
}

// names are those of all agents, in order.
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

// Line is an agent's on a sweep, at one tau.
func (s SweepScores) Line(agent string, tau int) (testbed.Line, bool) {
	at := slices.IndexFunc(s.Scores, func(l testbed.Line) bool { return l.Agent == agent && l.Tau == tau })
	if at < 0 {
		return testbed.Line{}, false
	}
	return s.Scores[at], true
}

// Of is an agent's line in a world.
func (w WorldRegrets) Of(agent string) (Regrets, bool) {
	at := slices.IndexFunc(w.Agents, func(r Regrets) bool { return r.Agent == agent })
	if at < 0 {
		return Regrets{}, false
	}
	return w.Agents[at], true
}
