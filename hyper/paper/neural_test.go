package paper_test

import (
	"math"
	"strings"
	"testing"

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

func simulate(t *testing.T, s lab.Spec) []lab.Row {
	t.Helper()
	_, rows := must.M2(lab.Simulate(t.Context(), s, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 64}))
	return rows
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
