package learners_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// small lists settings that make every learner and world fast, for the keys that they have.
var small = []string{
	"arms=4", "actions=6", "features=3", "size=5", "generator=2", "hyper-hidden=3", "index-dim=2", "particles=3",
	"batch=8", "index-samples=4", "sgd-steps=2", "policy-samples=9", "waves=12", "file=testdata/rows.csv",
}

// worldsOf returns the experiments with another world each.
var worldsOf = append([]string{"gaussian", "neural", "ids"}, "drifting", "table")

// The settings in the record of a search are accepted as they are: numbers and others as texts.
func TestForTakesARecord(t *testing.T) {
	p := bandit.Problem{Actions: 3, Features: 4, Moves: true}
	l := must.M1(catalog.For("ensemble", p,
		[]byte(`{"particles": "7", "step-size": "0.0033", "hidden": "8", "optimizer": "adam"}`)))
	if e := l.Belief.(hyper.Model).Hyper.(hyper.Ensemble); e.Particles != 7 || l.StepSize != 0.0033 {
		t.Errorf("%d particles, step size %v", e.Particles, l.StepSize)
	}
	for settings, want := range map[string]string{`{"particles": "many"}`: "whole number",
		`{"step-size": true}`: "finite number", `{"policy-gamma": 1000}`: `key "policy-gamma" needs policy=squarecb`} {
		if _, err := catalog.For("ensemble", p, []byte(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

// Every learner acts and learns with delayed rewards, in a world of networks and in a world whose rows come in turn and
// are scaled by the rows so far: for 25 periods all predictions and regrets are finite. (TestAgentsActAsInTheLab is
// about all worlds, without a delay.)
func TestEveryLearnerWithDelays(t *testing.T) {
	if testing.Short() {
		t.Skip("TestAgentsActAsInTheLab is quicker")
	}
	for name, sets := range map[string][]string{"neural": {"delay=3"},
		"table": {"delay=3", "order=shuffled", "standardize=online"}} {
		x := must.M1(lab.Find(paper.Known, name))
		var spec lab.Spec
		for _, kind := range catalog.Names(catalog.Learners()) {
			one := smallSpec(t, x, kind, lab.Size{Periods: 25, Runs: 2}, sets...)
			spec.Experiment, spec.Periods, spec.Runs, spec.Seed = one.Experiment, one.Periods, one.Runs, one.Seed
			spec.Entries = append(spec.Entries, one.Entries...)
		}
		_, rows, err := lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range rows {
			if r.Diverged != 0 || !(r.Regret >= 0) || math.IsInf(float64(r.Regret), 0) {
				t.Errorf("%s, %s, %s: %+v", name, spec.Entries[r.Entry].Agent, sets, r)
			}
		}
		if want := len(spec.Entries) * spec.Runs * len(lab.Schedule(25)); len(rows) != want {
			t.Errorf("%s, %s: %d rows, want %d", name, sets, len(rows), want)
		}
	}
}

// smallSpec returns a Spec for one learner, with the small settings for the keys that it has.
func smallSpec(t *testing.T, x lab.Experiment, kind string, size lab.Size, more ...string) lab.Spec {
	t.Helper()
	x.Sets = nil
	x.Agents = nil // use the learner's own defaults, not the experiment's
	s := must.M1(x.New(kind))
	values, sets := catalog.Values(s), slices.Clone(more)
	for _, set := range append(small, "hidden=4x3") {
		key, _, _ := strings.Cut(set, "=")
		value, has := values[key]
		given := slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, key+"=") })
		if has && !given && value != "none" { // hidden=none stays, because a small network is not a linear model
			sets = append(sets, set)
		}
	}
	spec, err := x.Spec([]string{kind}, sets, size, 3)
	if err != nil {
		t.Fatalf("%s, %s: %v", x.Name, kind, err)
	}
	return spec
}

// Beliefs on networks learn rewards of 0 and 1 with the logistic loss and weight decay: over 200 periods each has less
// than half of the regret of actions without learning, which are always drawn from 12 actions.
func TestNetworksLearnLogistic(t *testing.T) {
	if testing.Short() {
		t.Skip("200 periods of four networks")
	}
	x := must.M1(lab.Find(paper.Known, "neural-logistic"))
	sets := []string{"actions=12", "features=3", "generator=8x8", "regularize=decay", "belief-hidden=8", "sgd-steps=2",
		"batch=32",
		"index-samples=8"}
	size := lab.Size{Periods: 200, Runs: 3}
	kinds := []string{"epinet", "last-layer", "ensemble-plus-plus-neural", "network-gp"}
	spec := must.M1(x.Spec(kinds, sets, size, 3))
	random := must.M1(x.Spec([]string{"egreedy"}, []string{"actions=12", "features=3", "generator=8x8", "hidden=4",
		"anneal=1000000000"}, size, 3))
	regret := func(spec lab.Spec) []float64 {
		_, rows := must.M2(lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go}))
		out := make([]float64, len(spec.Entries))
		for _, r := range rows {
			if r.Period == size.Periods {
				out[r.Entry] += float64(r.Regret) / float64(size.Runs)
			}
		}
		return out
	}
	unlearned := regret(random)[0]
	for i, got := range regret(spec) {
		t.Logf("%s: %.1f of %.1f", kinds[i], got, unlearned)
		if !(got < unlearned/2) {
			t.Errorf("%s has a regret of %.1f, without learning it is %.1f", kinds[i], got, unlearned)
		}
	}
}
