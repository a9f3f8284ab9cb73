package analysis_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// mixed makes results with entries in no particular order: the regret of each row is the number of its entry.
func mixed(t *testing.T) (lab.Header, []lab.Row) {
	t.Helper()
	h := lab.Header{Spec: lab.Spec{Experiment: "gaussian", Periods: 1, Runs: 1}}
	for _, sets := range []string{"ensemble arms=20 particles=100", "linear arms=5 step-size=0.7",
		"ensemble arms=20 particles=9", "linear arms=20 step-size=0.7", "ensemble arms=5 particles=9"} {
		words := strings.Fields(sets)
		s := must.M1(paper.Gaussian.Spec(words[:1], words[1:], lab.Size{Periods: 1, Runs: 1}, 0))
		h.Spec.Entries = append(h.Spec.Entries, s.Entries...)
	}
	var rows []lab.Row
	for i := range h.Spec.Entries {
		rows = append(rows, lab.Row{Entry: i, Period: 1, Regret: stats.Float(i)})
	}
	return h, rows
}

// A part has the entries that fit, sorted, each with its own rows. The whole is not changed.
func TestSelect(t *testing.T) {
	h, rows := mixed(t)
	for sets, want := range map[string][]int{ // paper.Gaussian.Order has linear before ensemble
		"":                                {1, 3, 0, 2, 4},
		"arms=20":                         {3, 0, 2},
		"arms=20 particles":               {3, 2, 0},
		"arms":                            {1, 3, 4, 0, 2},
		"arms=20,5":                       {3, 1, 0, 2, 4},
		"particles=9":                     {2, 4},
		"arms=20 particles=100,9":         {0, 2},
		"arms=21":                         nil,
		"no-such-key=1":                   nil,
		"arms=20 step-size=0.7 particles": {3},
	} {
		part, own := analysis.Select(paper.Gaussian, h, rows, strings.Fields(sets)...)
		var got []int
		for i, e := range part.Spec.Entries {
			for _, r := range own {
				if r.Entry == i {
					got = append(got, int(r.Regret))
				}
			}
			n := got[len(got)-1]
			if want := catalog.Values(h.Spec.Entries[n].Setting); !maps.Equal(catalog.Values(e.Setting), want) {
				t.Errorf("%q: the rows of entry %d belong to other settings", sets, n)
			}
		}
		if !slices.Equal(got, want) || len(own) != len(want) {
			t.Errorf("%q: entries %v with %d rows, want %v", sets, got, len(own), want)
		}
	}
	if len(h.Spec.Entries) != 5 || rows[1].Entry != 1 {
		t.Error("the whole was changed")
	}
}

func TestLevels(t *testing.T) {
	h, _ := mixed(t)
	if got := fmt.Sprint(analysis.Levels(h, "particles"), analysis.Levels(h, "arms"),
		analysis.Levels(h, "none")); got != "[9 100] [5 20] []" {
		t.Errorf("levels %s", got)
	}
	texts := must.M1(paper.Gaussian.Spec([]string{"hypernetwork"}, []string{"hyper-hidden=5x5,32,5"},
		lab.Size{Periods: 1, Runs: 1}, 0))
	if got := fmt.Sprint(analysis.Levels(lab.Header{Spec: texts}, "hyper-hidden")); got != "[5 32 5x5]" {
		t.Errorf("levels of a text %s", got)
	}
}

// The first periods of a run do not depend on how many follow. Lookup relies on this.
func TestFirstPeriodsOfLongerRuns(t *testing.T) {
	for _, c := range []struct {
		x    lab.Experiment
		sets []string
	}{
		{paper.Gaussian, []string{"arms=4", "particles=5", "batch=8"}},
		{paper.IDS, []string{"size=4", "batch=8"}},
	} {
		of := map[int]map[lab.Row]bool{}
		for _, periods := range []int{12, 30} {
			spec := must.M1(c.x.Spec(c.x.Order[:3], c.sets, lab.Size{Periods: periods, Runs: 2}, 5))
			_, rows := must.M2(lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go}))
			of[periods] = map[lab.Row]bool{}
			for _, r := range rows {
				of[periods][r] = true
			}
		}
		shared := 0
		for r := range of[12] {
			if slices.Contains(lab.Schedule(30), r.Period) {
				shared++
				if !of[30][r] {
					t.Errorf("%s: %+v is not a row of the longer runs", c.x.Name, r)
				}
			}
		}
		if shared < 6*len(lab.Schedule(12))-6 {
			t.Errorf("%s: only %d rows are compared", c.x.Name, shared)
		}
	}
}
