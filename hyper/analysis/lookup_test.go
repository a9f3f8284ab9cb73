package analysis

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// cutToHeader removes everything except the header from the results in a folder, like a run that stopped in its first
// period.
func cutToHeader(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, lab.ResultsFile)
	text := must.M1(os.ReadFile(path))
	must.M(os.WriteFile(path, text[:strings.IndexByte(string(text), '\n')+1], 0o644))
	return dir
}

// Lookup asks results for runs that have a row at exactly one period. If there are too few, or they are too short,
// the error says what the study has.
func TestLookupWantsTheSizeAskedFor(t *testing.T) {
	h, rows := must.M2(Read(toys.Known, toys.Write(t, []int{2, 3}, 3, 1000, 10, toys.Linear),
		toys.Write(t, []int{3}, 2, 5000, 13, toys.Linear)))
	find := Lookup(toys.Experiment, h, rows)
	for _, c := range []struct {
		arms string
		size lab.Size
		want string // of the error; "" for none
		runs int
	}{
		{"2", lab.Size{Periods: 1000, Runs: 3}, "", 3},
		{"2", lab.Size{Periods: 1000, Runs: 2}, "", 3}, // more runs than needed are used
		{"2", lab.Size{Periods: 100, Runs: 3}, "", 3},  // the first periods of longer runs
		{"3", lab.Size{Periods: 1000, Runs: 5}, "", 5}, // runs of both lengths
		{"3", lab.Size{Periods: 5000, Runs: 2}, "", 2},
		{"2", lab.Size{Periods: 1000, Runs: 4}, "needs 4 runs with results at period 1000; the study has 3 runs of " +
			"1000 periods", 0},
		{"2", lab.Size{Periods: 2000, Runs: 3}, "needs 3 runs with results at period 2000; the study has 3 runs of " +
			"1000 periods", 0},
		{"2", lab.Size{Periods: 101, Runs: 3}, "the study has 3 runs of 1000 periods, none of them with results at " +
			"that period", 0},
		{"3", lab.Size{Periods: 5000, Runs: 3}, "the study has 3 runs of 1000 periods and 2 runs of 5000 periods, 2 of " +
			"them with results at that period", 0},
		{"4", lab.Size{Periods: 1000, Runs: 3}, "agent toy with arms=4, its other settings at their defaults, needs 3 " +
			"runs with results at period 1000; the study has none", 0},
	} {
		found, some, err := find([]string{"toy"}, []string{"arms=" + c.arms}, c.size)
		if c.want != "" {
			if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s arms, %v: error %v, want %q", c.arms, c.size, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s arms, %v: %v", c.arms, c.size, err)
			continue
		}
		final := Curves(found, some)[0]
		if _, last := final.Final(); last != c.size.Periods || final.Runs != c.runs {
			t.Errorf("%s arms, %v: %d runs to period %d, want %d to %d", c.arms, c.size, final.Runs, last, c.runs,
				c.size.Periods)
		}
	}
}
