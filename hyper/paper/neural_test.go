package paper_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// An impossible setting is refused, with the reason, before anything is compiled.
func TestNeuralSettingsAreRefused(t *testing.T) {
	before := lab.Compilations()
	for _, c := range []struct{ experiment, agent, set, want string }{
		{"neural", "linear", "hidden=0x10", `hidden=0x10: want widths of hidden layers joined by x, as 10x10, or none`},
		{"neural", "linear", "hidden=ax3", `hidden=ax3: want widths`},
		{"neural", "linear", "hidden=10x", `hidden=10x: want widths`},
		{"neural", "linear", "hidden=-3", `hidden=-3: want widths`},
		{"neural", "egreedy", "generator=3x0", `generator=3x0: want widths`},
		{"neural", "independent", "generator=3.5", `generator=3.5: want widths`},
		{"neural", "linear", "index-dim=0", "index-dim must be at least 1, got 0"},
		{"neural", "linear", "actions=0", "actions must be at least 1, got 0"},
		{"neural", "linear", "features=0", "features must be at least 1, got 0"},
		{"neural", "linear", "noise=-1", "noise must be finite and not negative, got -1"},
		{"neural", "linear", "perturbation=-1", "perturbation must be finite and not negative"},
		{"neural", "linear", "map-step=0", "map-step must be positive and finite, got 0"},
		{"neural", "linear", "clip=-1", "clip must be finite and not negative"},
		{"neural", "linear", "index-set=frame;index-samples=15",
			"index-set frame needs an even number of index-samples, got 15"},
		{"neural", "linear", "index-set=antithetic;index-samples=15", "index-set antithetic needs an even number"},
		{"neural", "linear", "index-set=magic", `index-set: unknown "magic"; choose one of iid, antithetic, frame`},
		{"neural", "linear", "index-set=frame;index-dim=200", "at most 512 dimensions, got 600"}, // three layers
		{"neural", "linear", "integrate=analytic", "linear in its parameters"},
		{"neural", "ensemble", "integrate=full-data", "linear in its parameters"},
		{"neural", "ensemble", "integrate=sampled;index-set=frame", "needs Gaussian indices"},
		{"neural", "ensemble", "integrate=sampled;index-set=antithetic", "symmetric about 0"},
		{"neural", "ensemble", "particles=0", "particles must be at least 1, got 0"},
		{"neural", "ensemble", "additive-prior=perhaps", "additive-prior"},
		{"neural", "egreedy", "anneal=-1", "anneal must be finite and not negative, got -1"},
		{"posterior-approximations", "dropout", "keep=0",
			"keep, the probability of keeping a unit, must be in (0, 1], got 0"},
		{"posterior-approximations", "dropout", "keep=2",
			"keep, the probability of keeping a unit, must be in (0, 1], got 2"},
		{"posterior-approximations", "dropout", "index-set=antithetic", "symmetric about 0"},
		{"posterior-approximations", "bbb", "kl-strength=-1", "kl-strength must be finite and not negative"},
		{"posterior-approximations", "bbb", "prior-deviation=0", "prior-deviation must be positive"},
		{"posterior-approximations", "bbb", "initial-deviation=0", "initial-deviation must be positive"},
		{"posterior-approximations", "bbb", "index-set=frame", "at most 512 dimensions"},
		{"posterior-approximations", "diagonal", "integrate=analytic", "linear in its parameters"},
	} {
		_, err := paper.Known[c.experiment].Spec([]string{c.agent}, strings.Split(c.set, ";"),
			lab.Size{Periods: 5, Runs: 1}, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: error %v, want %q", c.agent, c.set, err, c.want)
		}
	}
	// A comma separates the values of a sweep: 10,10 means one hidden layer, twice, not a network of two layers.
	_, err := paper.Neural.Spec([]string{"linear"}, []string{"hidden=10,10"}, lab.Size{Periods: 5, Runs: 1}, 1)
	if err == nil || !strings.Contains(err.Error(), "10 and 10 are the same value; give it once") {
		t.Errorf("hidden=10,10: got error %v, want one about equal values", err)
	}
	if n := lab.Compilations() - before; n != 0 {
		t.Errorf("%d programs were compiled, want none", n)
	}
}

// All faults of a setting are reported together.
func TestNeuralFaultsComeTogether(t *testing.T) {
	_, err := paper.Neural.Spec([]string{"linear"}, []string{"hidden=a", "actions=0", "index-dim=0", "step-size=-1",
		"optimizer=magic"}, lab.Size{Periods: 5, Runs: 1}, 1)
	for _, want := range []string{"hidden", "actions", "index-dim", "step-size", "one of sgd, adam"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want also %q", err, want)
		}
	}
}

func simulate(t *testing.T, s lab.Spec) []lab.Row {
	t.Helper()
	_, rows, err := lab.Simulate(t.Context(), s, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 64})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// With the same seed, all agents meet the same actions and mean rewards. With two actions, the runs of two agents with
// the same first action have the same regret; if the first actions differ, one of the two regrets is 0.
func TestNeuralAgentsMeetTheSameEnvironment(t *testing.T) {
	one := lab.Size{Periods: 1, Runs: 40}
	a := simulate(t, tiny(t, paper.Neural, []string{"independent"}, one, "actions=2"))
	for _, agent := range []string{"linear", "ensemble", "egreedy"} {
		b := simulate(t, tiny(t, paper.Neural, []string{agent}, one, "actions=2"))
		same := 0
		for i := range a {
			switch {
			case a[i].Seed != b[i].Seed:
				t.Fatal("the agents have different seeds")
			case a[i].Digest == b[i].Digest:
				same++
				if math.Abs(float64(a[i].Regret-b[i].Regret)) > 1e-6 { // the two programs fuse operations differently
					t.Errorf("%s, seed %d: got regret %v, want %v as for the independent arms",
						agent, a[i].Seed, b[i].Regret, a[i].Regret)
				}
			case a[i].Regret != 0 && b[i].Regret != 0:
				t.Errorf("%s, seed %d: both of two actions have regret", agent, a[i].Seed)
			}
		}
		if same == 0 || same == len(a) {
			t.Errorf("%s: %d of %d first actions agree, want some that agree and some that differ", agent, same, len(a))
		}
	}
}

// With a huge annealing rate epsilon-greedy acts at random, and with a rate of 1 it soon exploits. Over the same 300
// environments, the first has more regret after 60 periods, by more than 3 standard errors of the difference.
func TestEpsilonGreedyAnneals(t *testing.T) {
	if testing.Short() {
		t.Skip("takes hundreds of runs")
	}
	const runs = 300
	rows := simulate(t, tiny(t, paper.Neural, []string{"egreedy"}, lab.Size{Periods: 60, Runs: runs}, "anneal=1000000,1",
		"noise=0.1"))
	var differences [runs]float64
	for _, r := range rows {
		if r.Period == 60 {
			differences[r.Run] += []float64{1, -1}[r.Entry] * float64(r.Regret)
		}
	}
	mean, square := 0.0, 0.0
	for _, d := range differences {
		mean, square = mean+d/runs, square+d*d/runs
	}
	if se := math.Sqrt((square - mean*mean) / runs); !(mean > 3*se) {
		t.Errorf("random actions cost %.2f +- %.2f more, want more than 3 standard errors", mean, se)
	} else {
		t.Logf("acting at random costs %.2f +- %.2f more", mean, se)
	}
}

// A run of each kind of agent that is interrupted after any number of calls, and continued, has the same bytes as an
// uninterrupted run.
func TestInterruptedNeuralRunsResumeToTheSameBytes(t *testing.T) {
	for _, c := range []struct{ experiment, agent, set string }{
		{"neural", "linear", "clip=1,0"}, {"neural", "egreedy", "anneal=3"}, {"neural", "independent", "noise=1"},
		{"posterior-approximations", "bbb", "optimizer=adam"}, {"posterior-approximations", "dropout", "noise=1"},
	} {
		if testing.Short() && c.agent != "linear" {
			continue
		}
		s := tiny(t, paper.Known[c.experiment], []string{c.agent}, lab.Size{Periods: 20, Runs: 3}, c.set)
		o := lab.Options{Backend: backend.Go, BatchRuns: 2, Workers: 2, Chunk: 7, Every: time.Nanosecond, Dir: t.TempDir(),
			Programs: new(lab.Programs)}
		text := func() string { return string(must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile)))) }
		if _, err := lab.Run(t.Context(), s, paper.Known, o); err != nil {
			t.Fatal(err)
		}
		want := text()
		o.Dir = t.TempDir()
		stops := 0
		for err := error(lab.ErrInterrupted); errors.Is(err, lab.ErrInterrupted); stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			calls := atomic.Int64{}
			o.Progress = func(lab.Progress) {
				if calls.Add(1) == int64(3+4*stops) {
					cancel()
				}
			}
			_, err = lab.Run(ctx, s, paper.Known, o)
			cancel()
			if err != nil && !errors.Is(err, lab.ErrInterrupted) || stops > 50 {
				t.Fatal(err)
			}
		}
		if stops < 2 {
			t.Errorf("agent %s was never interrupted, so the test shows nothing", c.agent)
		}
		if text() != want {
			t.Errorf("%s: the resumed results differ from the uninterrupted ones", c.agent)
		}
	}
}
