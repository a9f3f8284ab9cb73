package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// brokenCoins is the world Coins with other results of Step.
type brokenCoins struct {
	Coins
	change func(*bandit.Outcome, bandit.State) bandit.State
}

func (w *brokenCoins) Step(now bandit.State, n hyper.Numbers, s rng.Stream, t, x *Node) (bandit.Outcome, bandit.State) {
	out, next := w.Coins.Step(now, n, s, t, x)
	next = w.change(&out, next)
	return out, next
}

// carryingCoins is the world Coins with a part of the state that only Offer and Step have, and regrets in float64.
type carryingCoins struct{ Coins }

func (w *carryingCoins) Offer(now bandit.State, n hyper.Numbers, s rng.Stream, t *Node) (bandit.Offer, bandit.State) {
	offer, next := w.Coins.Offer(now, n, s, t)
	next["best"] = ReduceMax(next["chance"], 1)
	return offer, next
}

func (w *carryingCoins) Step(now bandit.State, n hyper.Numbers, s rng.Stream, t, x *Node) (bandit.Outcome, bandit.State) {
	out, next := w.Coins.Step(now, n, s, t, x)
	out.Regret = ConvertDType(out.Regret, dtypes.Float64)
	return out, next
}

func TestWorldCarriesFromOfferToStep(t *testing.T) {
	if err := tried(t, func() bandit.World { return &carryingCoins{Coins{3}} }); err != nil {
		t.Error(err)
	}
}

// tried returns the error of three periods of an agent in a world.
func tried(t *testing.T, world func() bandit.World) error {
	x := lab.Experiment{Name: "tried", World: world}
	s, err := x.Spec([]string{"linear"}, nil, lab.Size{Periods: 3, Runs: 2}, 0)
	if err == nil {
		_, _, err = lab.Simulate(t.Context(), s, map[string]lab.Experiment{x.Name: x}, lab.Options{Backend: backend.Go})
	}
	return err
}

// misspelt changes a state as a world does that reads a part which it does not have.
func misspelt(_ *bandit.Outcome, next bandit.State) bandit.State {
	return bandit.State{"chance": Neg(next["chanse"])}
}

// A run that fails before its first period leaves no results, so that a mended world may run in the same folder.
func TestFailedStartLeavesNoResults(t *testing.T) {
	x := lab.Experiment{Name: "tried", World: func() bandit.World { return &brokenCoins{Coins{3}, misspelt} }}
	s := must.M1(x.Spec([]string{"linear"}, nil, lab.Size{Periods: 3, Runs: 2}, 0))
	dir := t.TempDir()
	_, err := lab.Run(t.Context(), s, map[string]lab.Experiment{x.Name: x}, lab.Options{Backend: backend.Go, Dir: dir})
	if err == nil || !strings.HasPrefix(err.Error(), "Step of the world") {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, lab.ResultsFile)); err == nil {
		t.Error("a result file without rows is left")
	}
}

// A mistake in a world of one's own is an error that names the wrong part, in one line without names of programs.
func TestWorldsThatDoNotConform(t *testing.T) {
	fine := func(_ *bandit.Outcome, next bandit.State) bandit.State { return next }
	for want, c := range map[string]struct {
		arms   int
		change func(*bandit.Outcome, bandit.State) bandit.State
	}{
		"": {3, fine},
		"agent linear: the Problem of the world *lab_test.brokenCoins has 0 Actions": {0, fine},
		"Outcome.Regret of the world *lab_test.brokenCoins is missing, want (Float32)[": {3,
			func(out *bandit.Outcome, next bandit.State) bandit.State { out.Regret = nil; return next }},
		"after 1 periods the regret of run": {3,
			func(out *bandit.Outcome, next bandit.State) bandit.State {
				out.Regret = Log(MinScalar(out.Regret, -1))
				return next
			}},
		"Outcome.Reward of the world *lab_test.brokenCoins has the shape (Float32), want (Float32)[": {3,
			func(out *bandit.Outcome, next bandit.State) bandit.State {
				out.Reward = ReduceAllSum(out.Reward)
				return next
			}},
		"\"chance\" in the state after Step of the world *lab_test.brokenCoins is missing": {3,
			func(*bandit.Outcome, bandit.State) bandit.State { return nil }},
		"\"more\" in the state after Step of the world *lab_test.brokenCoins was not in the state of Init": {3,
			func(_ *bandit.Outcome, next bandit.State) bandit.State {
				return bandit.State{"chance": next["chance"], "more": next["chance"]}
			}},
		"Step of the world *lab_test.brokenCoins, conform_test.go:": {3, misspelt},
	} {
		err := tried(t, func() bandit.World { return &brokenCoins{Coins{c.arms}, c.change} })
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	x := lab.Experiment{Name: "empty"}
	if _, err := x.Spec([]string{"linear"}, nil, lab.Size{Periods: 3, Runs: 2}, 0); err == nil ||
		err.Error() != `experiment "empty" has no World` {
		t.Errorf("got error %v for an experiment without a world", err)
	}
}
