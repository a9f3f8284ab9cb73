package plot

import (
	"fmt"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

func TestSweep(t *testing.T) {
	at := func(agent string, noise float64, n int, mean stats.Float) analysis.Standing {
		return analysis.Standing{Agent: agent, Settings: map[string]any{"noise": noise, "n": n, "same": 1},
			Mean: stats.Estimate{Value: mean, Lower: mean - 1, Upper: mean + 1}}
	}
	mean := func(s analysis.Standing) stats.Estimate { return s.Mean }
	all := []analysis.Standing{at("b", 2, 10, 5), at("a", 1, 10, 6), at("b", 2, 3, 7), at("a", 0.5, 3, 8)}
	got := must.M1(Sweep(all, "n", mean))
	// Agent a has different values of noise, so noise is named; the points of b are in the order of n.
	want := "b, noise=2 [3 10] [7 5] [6 4] [8 6]; a, noise=1 [10] [6] [5] [7]; a, noise=0.5 [3] [8] [7] [9]; "
	text := ""
	for _, s := range got {
		text += fmt.Sprint(s.Label, " ", s.X, " ", s.Y, " ", s.Lower, " ", s.Upper, "; ")
	}
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if got, err := Sweep(all[:1], "n", mean); err != nil || len(got) != 1 || got[0].Label != "" {
		t.Errorf("one line: got %v, error %v, want one series without a label", got, err)
	}
	all[1].Settings["n"] = "many"
	if _, err := Sweep(all, "n", mean); err == nil {
		t.Error("setting that is not a number: got no error")
	}
}

// A leaderboard has an estimate for each agent and tau. Nothing is drawn where an agent was not tried with a tau.
// Without any ratio there is no figure.
func TestLeaderboard(t *testing.T) {
	line := func(agent string, tau int) testbed.Line {
		return testbed.Line{Agent: agent, Tau: tau, Ratio: stats.Estimate{Value: 0.5, Lower: 0.4, Upper: 0.6}}
	}
	lines := []testbed.Line{line("epinet", 1), line("epinet", 10), line("mlp", 10)}
	p := must.M1(Leaderboard("", "mlp", lines))
	if p.X.Max != 1.5 || p.Y.Label.Text != "divergence over that of mlp" {
		t.Errorf("the x axis ends at %v, and the y axis has the label %q", p.X.Max, p.Y.Label.Text)
	}
	if p.Y.Min >= 0.4 || p.Y.Max <= 0.6 {
		t.Errorf("the y axis is from %v to %v, want a margin around the intervals, 0.4 to 0.6", p.Y.Min, p.Y.Max)
	}
	if _, err := PNG(p, 10, 6, 50); err != nil {
		t.Error(err)
	}
	if _, err := Leaderboard("", "mlp", nil); err == nil {
		t.Error("leaderboard without lines: got no error")
	}
}
