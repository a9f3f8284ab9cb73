// Package toys makes results of an experiment without a computation, for tests.
package toys

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Learner holds the settings of the agent.
type Learner struct {
	Arms int `help:"arms"`
}

// agent is an agent that has only a computation.
type agent struct {
	lab.Agent
	arms, periods int
}

// World is a world without settings.
type World struct{ bandit.World }

// Validate returns nil.
func (*World) Validate() error { return nil }

// Problem returns an empty problem.
func (*World) Problem() bandit.Problem { return bandit.Problem{} }

// Setting returns a setting with a number of arms.
func Setting(arms int) *lab.Setting {
	return &lab.Setting{World: new(World), Learner: &Learner{Arms: arms}}
}

// Validate returns nil.
func (s *Learner) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent.
func (s *Learner) Agent(bandit.Problem) lab.Agent { return agent{arms: s.Arms, periods: 100} }

// Computation returns the number of arms times 100.
func (a agent) Computation() float64 { return float64(a.arms * a.periods) }

// Header returns the header of results with a number of entries; entry i has i + 2 arms.
func Header(entries int) lab.Header {
	h := lab.Header{Backend: "go", Spec: lab.Spec{Experiment: "toys", Periods: 100, Runs: 4, Seed: 7}}
	for i := range entries {
		h.Spec.Entries = append(h.Spec.Entries, lab.Entry{Agent: "toy", Setting: Setting(i + 2)})
	}
	return h
}

// Rows returns the rows of an entry: regrets[run][i] at periods 10, 100, ...
func Rows(entry int, regrets ...[]float64) (rows []lab.Row) {
	for run, r := range regrets {
		for i, x := range r {
			rows = append(rows, lab.Row{Entry: entry, Run: run, Seed: 7 + uint64(run), Period: []int{10, 100}[i],
				Regret: stats.Float(x)})
		}
	}
	return rows
}

// Near reports an error unless two numbers are equal, up to a ten-thousandth, or both NaN.
func Near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= 1e-4*math.Max(1, math.Abs(want))) &&
		!(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Experiment is an experiment whose one agent has a number of arms as its setting.
var Experiment = lab.Experiment{
	Name:   "toys",
	World:  func() bandit.World { return new(World) },
	Agents: map[string]func() lab.Learner{"toy": func() lab.Learner { return &Learner{Arms: 2} }},
	Order:  []string{"toy"},
}

// Known maps the name of the experiment to the experiment.
var Known = map[string]lab.Experiment{"toys": Experiment}

// Write writes results of toys with the given arms in the form of a run, with one row for each run and period of
// the schedule. The regret of a run is regret(arms, seed) times the period.
func Write(t testing.TB, arms []int, runs, periods int, seed uint64,
	regret func(arms int, seed uint64) float64) string {
	t.Helper()
	h := lab.Header{Format: lab.Format, Backend: "go", Spec: lab.Spec{Experiment: "toys", Periods: periods, Runs: runs, Seed: seed}}
	dir := t.TempDir()
	var lines []string
	add := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	for _, n := range arms {
		h.Spec.Entries = append(h.Spec.Entries, lab.Entry{Agent: "toy", Setting: Setting(n)})
	}
	add(h)
	for i, n := range arms {
		for _, period := range lab.Schedule(periods) {
			for run := range runs {
				s := seed + uint64(run)
				add(lab.Row{Entry: i, Run: run, Seed: s, Period: period, Regret: stats.Float(regret(n, s) * float64(period))})
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, lab.ResultsFile), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Linear returns the regret per period: the number of arms, plus a hundredth of the seed.
func Linear(arms int, seed uint64) float64 { return float64(arms) + float64(seed)/100 }
