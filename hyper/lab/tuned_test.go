package lab_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// unusual returns the settings of an entry that are neither defaults nor results of a search.
func unusual(e lab.Entry) map[string]any {
	values := catalog.Values(e.Setting)
	for _, k := range e.Setting.Usual() {
		delete(values, k)
	}
	return values
}

// The first result of a search whose conditions hold is used, except for given keys. A result is not used if another
// choice is given than its search made. Legends leave its settings out, also for results that were read.
func TestTuned(t *testing.T) {
	x := paper.Neural
	x.Tuned = []lab.SearchResult{
		{Agent: "linear", Periods: 500, When: []string{"actions=40"}, Sets: []string{"optimizer=sgd", "step-size=2"}},
		{Agent: "linear", When: []string{"actions=40", "index-set=iid"}, Sets: []string{"step-size=0.5"}},
		{Agent: "linear", When: []string{"actions=40"}, Sets: []string{"clip=5", "optimizer=sgd", "step-size=0.25"}},
		{Agent: "linear", When: []string{"actions=40"}, Sets: []string{"optimizer=adamax", "step-size=0.75"}},
		{Agent: "linear", When: []string{"actions=50"}, Sets: []string{"optimizer=sgd", "step-size=0.125"}},
	}
	plain := must.M1(x.New("linear"))
	step := fmt.Sprint(catalog.Values(plain)["step-size"])
	for sets, want := range map[string]string{
		"actions=30":                             "adam " + step,
		"actions=40":                             "sgd 0.25",
		"actions=40 sgd-steps=2":                 "sgd 0.25",
		"actions=40 step-size=1":                 "sgd 1",
		"actions=40 optimizer=sgd":               "sgd 0.25",
		"actions=40 optimizer=adamax":            "adamax 0.75",
		"actions=40 optimizer=rmsprop":           "rmsprop " + step,
		"actions=40 index-set=iid":               "adam 0.5",
		"actions=40 index-set=iid optimizer=sgd": "sgd 0.5",
	} {
		spec := must.M1(x.Spec([]string{"linear"}, strings.Fields(sets), lab.Size{Periods: 1, Runs: 1}, 0))
		v := catalog.Values(spec.Entries[0].Setting)
		if got := fmt.Sprint(v["optimizer"], " ", v["step-size"]); got != want {
			t.Errorf("%s: %s, want %s", sets, got, want)
		}
	}

	skipped := must.M1(x.Spec([]string{"linear"}, []string{"actions=40", "optimizer=adamax"}, lab.Size{Periods: 1,
		Runs: 1}, 0))
	if got := fmt.Sprint(unusual(skipped.Entries[0])); got != "map[actions:40]" {
		t.Errorf("with the second result, unusual settings %s", got)
	}
	for periods, want := range map[int]string{499: "0.25", 500: "2"} {
		spec := must.M1(x.Spec([]string{"linear"}, []string{"actions=40"}, lab.Size{Periods: periods, Runs: 1}, 0))
		e := spec.Entries[0]
		if got := fmt.Sprint(catalog.Values(e.Setting)["step-size"], unusual(e)); got != want+" map[actions:40]" {
			t.Errorf("%d periods: %s, want %s", periods, got, want)
		}
	}
	spec := must.M1(x.Spec([]string{"linear"}, []string{"actions=40,50"}, lab.Size{Periods: 1, Runs: 1}, 0))
	read := must.M1(lab.ParseSpec(must.M1(json.Marshal(spec)), map[string]lab.Experiment{x.Name: x}))
	for _, s := range []lab.Spec{spec, read} {
		got := strings.Join(plot.Labels(analysis.Curves(lab.Header{Spec: s}, nil)), "; ")
		if want := "linear, actions=40; linear, actions=50"; got != want {
			t.Errorf("labels %q, want %q", got, want)
		}
		if got := fmt.Sprint(unusual(s.Entries[0])); got != "map[actions:40]" {
			t.Errorf("unusual settings %s", got)
		}
	}

	other := must.M1(x.Spec([]string{"linear"}, []string{"actions=40", "step-size=0.25,1"}, lab.Size{Periods: 1,
		Runs: 1}, 0))
	if got := strings.Join(plot.Labels(analysis.Curves(lab.Header{Spec: other}, nil)), "; "); got !=
		"linear, step-size=0.25; linear, step-size=1" {
		t.Errorf("labels %q", got)
	}
	x.Tuned[1].Sets = []string{"foo=1"}
	if _, err := x.Spec([]string{"linear"}, []string{"actions=40", "index-set=iid"}, lab.Size{Periods: 1, Runs: 1},
		0); err == nil || !strings.Contains(err.Error(), `tuned settings of agent linear: `) {
		t.Errorf("error %v", err)
	}
}

// Two learners of one's own do not change each other, even if the first has the name of the learner that both are.
func TestOwnLearnersAreApart(t *testing.T) {
	x := must.M1(lab.Find(paper.Known, "drifting"))
	plain := catalog.Values(must.M1(x.New("linear")))["batch"]
	x = must.M1(x.WithLearner("linear", "linear", json.RawMessage(`{"batch": 7}`)))
	x = must.M1(x.WithLearner("wide", "linear", json.RawMessage(`{"sgd-steps": 2}`)))
	if got := catalog.Values(must.M1(x.New("wide")))["batch"]; got != plain {
		t.Errorf("the second learner has batch %v of the first, want %v", got, plain)
	}
}

// The settings of a learner of one's own have precedence over the settings of an experiment, but not over given ones.
func TestOwnSettingsAndSetsOfAnExperiment(t *testing.T) {
	for own, wants := range map[string]map[string][]int{
		`{"particles": 20}`:    {"": {20}, "particles=5,6": {5, 6}},
		`{"step-size": 0.001}`: {"": {10, 30, 100, 300}, "particles=5": {5}},
	} {
		x := must.M1(paper.Neural.WithLearner("mine", "ensemble", json.RawMessage(own)))
		for given, want := range wants {
			spec := must.M1(x.Spec([]string{"mine"}, strings.Fields(given), lab.Size{Periods: 1, Runs: 1}, 0))
			var got []int
			for _, e := range spec.Entries {
				got = append(got, catalog.Values(e.Setting)["particles"].(int))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s with %q: particles %v, want %v", own, given, got, want)
			}
		}
	}
}
