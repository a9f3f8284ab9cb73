package lab

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// toysLearner holds the settings of the agent.
type toysLearner struct {
	Arms int `help:"arms"`
}

// toysAgent is an agent that has only a computation.
type toysAgent struct {
	Agent
	arms, periods int
}

// toysWorld is a world without settings.
type toysWorld struct{ bandit.World }

// Validate returns nil.
func (*toysWorld) Validate() error { return nil }

// Problem returns an empty problem.
func (*toysWorld) Problem() bandit.Problem { return bandit.Problem{} }

// toysSetting returns a setting with a number of arms.
func toysSetting(arms int) *Setting {
	return &Setting{World: new(toysWorld), Learner: &toysLearner{Arms: arms}}
}

// Validate returns nil.
func (s *toysLearner) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent.
func (s *toysLearner) Agent(bandit.Problem) Agent { return toysAgent{arms: s.Arms, periods: 100} }

// Computation returns the number of arms times 100.
func (a toysAgent) Computation() float64 { return float64(a.arms * a.periods) }

// toysHeader returns the header of results with a number of entries; entry i has i + 2 arms.
func toysHeader(entries int) Header {
	h := Header{Backend: "go", Spec: Spec{Experiment: "toys", Periods: 100, Runs: 4, Seed: 7}}
	for i := range entries {
		h.Spec.Entries = append(h.Spec.Entries, Entry{Agent: "toy", Setting: toysSetting(i + 2)})
	}
	return h
}

// toysRows returns the rows of an entry: regrets[run][i] at periods 10, 100, ...
func toysRows(entry int, regrets ...[]float64) (rows []Row) {
	for run, r := range regrets {
		for i, x := range r {
			rows = append(rows, Row{Entry: entry, Run: run, Seed: 7 + uint64(run), Period: []int{10, 100}[i],
				Regret: Float(x)})
		}
	}
	return rows
}

// toysNear reports an error unless two numbers are equal, up to a ten-thousandth, or both NaN.
func toysNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= 1e-4*math.Max(1, math.Abs(want))) &&
		!(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// toysExperiment is an experiment whose one agent has a number of arms as its setting.
var toysExperiment = Experiment{
	Name:   "toys",
	World:  func() bandit.World { return new(toysWorld) },
	Agents: map[string]func() Learner{"toy": func() Learner { return &toysLearner{Arms: 2} }},
	Order:  []string{"toy"},
}

// toysKnown maps the name of the experiment to it.
var toysKnown = map[string]Experiment{"toys": toysExperiment}

// toysWrite writes results of toys with the given arms in the form of a run, with one row for each run and period of
// the schedule. The regret of a run is regret(arms, seed) times the period.
func toysWrite(t testing.TB, arms []int, runs, periods int, seed uint64,
	regret func(arms int, seed uint64) float64) string {
	t.Helper()
	h := Header{Format: Format, Backend: "go", Spec: Spec{Experiment: "toys", Periods: periods, Runs: runs, Seed: seed}}
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
		h.Spec.Entries = append(h.Spec.Entries, Entry{Agent: "toy", Setting: toysSetting(n)})
	}
	add(h)
	for i, n := range arms {
		for _, period := range Schedule(periods) {
			for run := range runs {
				s := seed + uint64(run)
				add(Row{Entry: i, Run: run, Seed: s, Period: period, Regret: Float(regret(n, s) * float64(period))})
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ResultsFile), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// toysLinear returns the regret per period: the number of arms, plus a hundredth of the seed.
func toysLinear(arms int, seed uint64) float64 { return float64(arms) + float64(seed)/100 }
