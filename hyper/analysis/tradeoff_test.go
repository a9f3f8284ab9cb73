package analysis

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// An entry is on the frontier if it certainly has less regret than all entries that cost no more, off the frontier if
// one of those certainly has less, and otherwise undecided. Entries that cost more do not count. The cheapest entry is
// always on the frontier.
func TestFrontier(t *testing.T) {
	rows := regretsOf(100, 101, 99, 100, 102, 98)              // 0
	rows = append(rows, regretsOf(80, 82, 79, 81, 80, 78)...)  // 1: less than 0
	rows = append(rows, regretsOf(81, 79, 80, 82, 78, 80)...)  // 2: like 1
	rows = append(rows, regretsOf(90, 92, 89, 91, 90, 88)...)  // 3: between 0 and 1
	rows = append(rows, regretsOf(70, 300, 69, 71, 70, 70)...) // 4: uncertain
	numbered(rows, 6)
	for _, c := range []struct {
		costs []float64
		want  string
	}{
		{[]float64{1, 2, 3, 4, 5}, "[on the frontier on the frontier undecided off the frontier undecided]"},
		{[]float64{5, 4, 3, 2, 1}, "[off the frontier undecided undecided undecided on the frontier]"},
		{[]float64{1, 1, 1, 1, 1}, "[off the frontier undecided undecided off the frontier undecided]"},
	} {
		places := must.M1(frontier(rows, c.costs))
		if got := fmt.Sprint(places); got != c.want {
			t.Errorf("costs %v: %s, want %s", c.costs, got, c.want)
		}
	}
	if _, err := frontier(rows, []float64{1, 2, 3, 4, 5, 6}); !errors.Is(err, ErrNoRows) {
		t.Errorf("of an entry without rows: error %v, want ErrNoRows", err)
	}

	h := toys.Header(5)
	offers := must.M1(Tradeoffs(h, rows, nil))
	if o := offers[1]; o.Regret.Value != 80 || o.Runs != 6 || o.Operations != 300 || !math.IsNaN(float64(o.Micros)) ||
		o.ByOperations != OnFrontier || o.ByTime != "" {
		t.Errorf("offer %+v", o)
	}
	offers = must.M1(Tradeoffs(h, rows, []float64{5, 4, 3, 2, 1}))
	if o := offers[1]; o.Micros != 4 || o.ByTime != Unplaced {
		t.Errorf("offer with a time %+v", o)
	}
	if _, err := Tradeoffs(h, rows, []float64{1}); err == nil || !strings.Contains(err.Error(), "1 times") {
		t.Errorf("with one time for five: error %v", err)
	}
}

// regretsOf makes the last rows of runs.
func regretsOf(regrets ...float64) (rows []lab.Row) {
	for i, r := range regrets {
		rows = append(rows, lab.Row{Period: 100, Seed: uint64(i), Regret: stats.Float(r)})
	}
	return rows
}

// numbered sets the numbers of the entries in their rows.
func numbered(rows []lab.Row, runs int) {
	for i := range rows {
		rows[i].Entry = i / runs
	}
}

// A tradeoff without a newer key has the settings of entries in which this key is no.
func TestSettingsOfOlderTradeoffs(t *testing.T) {
	older := map[string]any{"step-size": 0.1}
	for value, want := range map[string]bool{"no": true, "yes": false} {
		if got := sameSettings(older, map[string]any{"step-size": 0.1, "newer": value}); got != want {
			t.Errorf("newer key %s: got %v, want %v", value, got, want)
		}
	}
	if sameSettings(older, map[string]any{"step-size": 0.2}) || sameSettings(older, map[string]any{}) {
		t.Error("another step size, or none: got the same settings, want others")
	}
}
