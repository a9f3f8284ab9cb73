package notebook

import (
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Labels have the values of settings that sets does not fix, also values that are not numbers.
func TestValueLabels(t *testing.T) {
	all := []analysis.Curve{{Agent: "ensemble", Settings: map[string]any{"particles": 10, "actions": 200, "prior": "yes"}},
		{Agent: "exact", Settings: map[string]any{"actions": 200}}}
	got := valueLabels(all, []string{"particles", "actions=200", "prior=yes,no"})
	if want := []string{"ensemble 10 yes", "exact"}; !slices.Equal(got, want) {
		t.Errorf("got labels %q, want %q", got, want)
	}
}

// Standings take turns: the first name has the first standing of each kind. Kinds have the colours of their agents.
func TestMeansAndMedians(t *testing.T) {
	standing := func(agent string, mean float64) analysis.Standing {
		return analysis.Standing{Agent: agent, Mean: estimate(mean, mean-1, mean+1), Median: estimate(mean/2, mean/2, mean/2)}
	}
	all := []analysis.Standing{standing("linear", 10), standing("ensemble", 20), standing("linear", 30), standing("ensemble", 40)}
	names := []string{"few", "many"}
	panels := MeansAndMedians(plot.Axes{Title: "a", FromZero: true}, names, []string{"one", "other"}, all)
	if len(panels) != 2 || panels[0].Y.Label.Text != "mean regret" || panels[1].Y.Label.Text != "median regret" ||
		panels[0].Y.Max < 41 || panels[1].Y.Max > 41 || panels[1].Y.Min != 0 {
		t.Errorf("got %d panels, the first from %v to %v", len(panels), panels[0].Y.Min, panels[0].Y.Max)
	}
	one := MeanAndMedian(plot.Axes{}, names, []analysis.Standing{all[0], all[2]})
	if one.Y.Min > 5 || one.Y.Max < 31 {
		t.Errorf("one panel from %v to %v, want mean and median in it", one.Y.Min, one.Y.Max)
	}
	must.M1(plot.Panels(1, 10, 10, 50, one))
}

// The figures of notebook 11 are of the committed studies.
func TestRegrets(t *testing.T) {
	t.Chdir("../../notebooks")
	const pattern = "neural/ensemble-?0-200"
	panels := Regrets(plot.Options{Title: "two sizes"}, pattern)
	if len(panels) != 2 || panels[0].Title.Text != "two sizes, mean" || panels[1].Title.Text != "two sizes, median" {
		t.Errorf("got %d panels with the title %q", len(panels), panels[0].Title.Text)
	}
	if p := MeanRegret(plot.Options{Title: "x"}, pattern); p.Title.Text != "x" {
		t.Errorf("got title %q, want x", p.Title.Text)
	}
	all := FinalRegrets(pattern)
	if len(all) != 2 || all[0].Runs != 60 || all[0].Agent != "ensemble" {
		t.Errorf("got %+v, want two ensembles in 60 runs", all)
	}
	defer func() {
		if recover() == nil {
			t.Error("no study: got no panic")
		}
	}()
	MeanRegret(plot.Options{}, "none/*")
}

// The overview has the number of sentences that hold, and a row for each sentence.
func TestOverview(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of the paper")
	}
	t.Chdir("../../notebooks")
	if got := Overview(); !strings.HasPrefix(got, "**Of 10 sentences ") || strings.Count(got, "\n| ") != 12 {
		t.Errorf("got\n%s", got)
	}
	if got := Evidence(6); !strings.HasPrefix(got, "* **6. ") || strings.Count(got, "\n| ") != 3 {
		t.Errorf("got\n%s", got)
	}
}
