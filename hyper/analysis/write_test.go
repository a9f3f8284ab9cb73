package analysis

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// exportTo writes the part of results that has some settings to a file.
func exportTo(dir, file string, sets ...string) error {
	h, rows, err := Complete(dir, toys.Known, sets...)
	if err != nil {
		return err
	}
	return Write(file, h, rows, false)
}

// export writes results of toys as a piece of a study.
func export(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "piece.jsonl.gz")
	must.M(exportTo(dir, file))
	return file
}

// A part of results is a piece with the same rows. A part that does not exist is an error.
func TestPartOfResults(t *testing.T) {
	dir, file := toys.Write(t, []int{2, 3}, 3, 100, 10, toys.Linear), filepath.Join(t.TempDir(), "part.jsonl.gz")
	must.M(exportTo(dir, file, "arms=3"))
	must.M(exportTo(dir, file, "agent=toy", "arms= 3.0")) // the same content
	h, rows, err := Read(toys.Known, file)
	if err != nil || len(h.Spec.Entries) != 1 || catalog.Values(h.Spec.Entries[0].Setting)["arms"] != 3 {
		t.Fatalf("%+v, %v", h.Spec, err)
	}
	whole, all := must.M2(Read(toys.Known, export(t, dir)))
	if _, want := Select(toys.Known[h.Spec.Experiment], whole, all, "arms=3"); !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if _, kept := Select(toys.Known[h.Spec.Experiment], whole, all, "agent"); len(kept) != len(all) {
		t.Errorf("the bare key agent keeps %d of %d rows", len(kept), len(all))
	}
	for set, want := range map[string]string{"arms=3,4": "no agent has arms=4; the values are 2, 3",
		"agent=toys": `no agent has agent=toys (did you mean "toy"?); the values are toy`,
		"arm=3":      `no agent has a key "arm" (did you mean "arms"?); the keys are agent, arms, delay`} {
		if err := exportTo(dir, file, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A table has every row with every digit, and columns for the keys in which entries differ.
func TestTable(t *testing.T) {
	dir, file := toys.Write(t, []int{2, 3}, 2, 20, 10, toys.Linear), filepath.Join(t.TempDir(), "rows.csv")
	must.M(exportTo(dir, file))
	lines := must.M1(csv.NewReader(bytes.NewReader(must.M1(os.ReadFile(file)))).ReadAll())
	if got := strings.Join(lines[0], " "); got != "agent arms seed period cumulative_regret diverged" {
		t.Error(got)
	}
	h, rows := must.M2(lab.ReadResults(dir, toys.Known))
	if len(lines) != 1+len(rows) {
		t.Fatalf("%d lines, want one for each of %d rows and a head", len(lines), len(rows))
	}
	for i, r := range rows {
		e := h.Spec.Entries[r.Entry]
		want := fmt.Sprint([]any{e.Agent, catalog.Values(e.Setting)["arms"], r.Seed, r.Period, float64(r.Regret), r.Diverged})
		if got := fmt.Sprint(lines[1+i]); got != want {
			t.Errorf("line %d: %s, want %s", 1+i, got, want)
		}
	}
	must.M(exportTo(dir, file)) // the same bytes again
	must.M(os.Remove(file))
	must.M(exportTo(dir, file, "arms=3"))
	must.M(exportTo(dir, file, "agent=toy", "arms=3")) // the same content
	if text := string(must.M1(os.ReadFile(file))); !strings.HasPrefix(text, "agent,seed,period,") {
		t.Errorf("a table of one entry begins %.40q, want no column of settings", text)
	}
}

// Results replace another file only if the bytes are the same or on request. They never replace a run's own file.
func TestResultsReplaceNothing(t *testing.T) {
	h, rows := must.M2(Complete(toys.Write(t, []int{2}, 2, 20, 1, toys.Linear), toys.Known))
	folder, own := t.TempDir(), filepath.Join(toys.Write(t, []int{3}, 2, 20, 1, toys.Linear), lab.ResultsFile)
	other := filepath.Join(folder, "other.jsonl")
	must.M(Write(other, h, rows[:1], false))
	for _, c := range []struct {
		path    string
		replace bool
		want    string // "" if the file is written
	}{
		{filepath.Join(folder, "new.jsonl"), false, ""},
		{filepath.Join(folder, "new.jsonl"), false, ""}, // the same bytes
		{filepath.Join(folder, "new.jsonl.gz"), false, ""},
		{other, false, "other.jsonl exists: choose another name, or replace the file with --force"},
		{own, true, "results.jsonl exists: choose another name, because runs keep"},
		{folder, true, "is a folder"},
		{filepath.Join(folder, "new.gz"), false, "FILE.jsonl.gz, for a piece of a study, or FILE.jsonl"},
		{filepath.Join(folder, "new"), false, "FILE.jsonl.gz"},
		{other, true, ""},
	} {
		before, _ := os.ReadFile(c.path)
		err := Write(c.path, h, rows, c.replace)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
		if after, _ := os.ReadFile(c.path); c.want != "" && !bytes.Equal(before, after) {
			t.Errorf("%s has changed", c.path)
		}
	}
}

// The periods of a piece are every second period of one grid, whatever its last period is. Pieces of two lengths
// therefore share all periods up to the end of the shorter one.
func TestPiecesShareTheirPeriods(t *testing.T) {
	want := []int{10, 13, 17, 23, 31, 42, 56, 74, 100, 133, 177, 237, 316, 421, 562, 749, 1000, 1333, 1778, 2371, 3162,
		4216, 5623, 7498, 10_000}
	if got := thinned(10_000); !slices.Equal(got, want) {
		// 10^(k/8) from 10 on: the periods that pieces of 10,000 periods have always had
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, periods := range []int{1, 9, 10, 11, 200, 300, 1000, 1200, 2000, 5000} {
		got := thinned(periods)
		for i, p := range got[:len(got)-1] {
			if p != want[i] || !slices.Contains(lab.Schedule(periods), p) {
				t.Errorf("%d periods: %v", periods, got)
			}
		}
		if got[len(got)-1] != periods {
			t.Errorf("the last of %d periods is %d", periods, got[len(got)-1])
		}
	}
}

// Entries that were exported after 2,000 and 5,000 periods are compared at their last common period, also by the least
// computation.
func TestPiecesOfDifferentLengths(t *testing.T) {
	short := toys.Write(t, []int{2}, 3, 2000, 10, toys.Linear)
	long := toys.Write(t, []int{3}, 3, 5000, 10, toys.Linear)
	h, rows := must.M2(Read(toys.Known, export(t, short), export(t, long)))
	d, err := PairedDifference(rows, 1, 0)
	if err != nil || d.Period != 1778 || d.Pairs != 3 {
		t.Fatalf("got %+v, %v, want 3 pairs at period 1778", d, err)
	}
	toys.Near(t, "difference", float64(d.Mean.Value), 1778) // 3 minus 2 arms per period
	l, err := LeastComputation(h, rows, []int{1, 0}, func(*lab.Setting) float64 { return 4 })
	if err != nil || l.Entry != 0 {
		t.Fatalf("got %+v, %v", l, err)
	}
	toys.Near(t, "average regret", float64(l.Average.Value), 2.11) // 2 arms and the mean of seeds 10 to 12, in hundredths
}

// Pieces that share no period, as some old pieces do, are refused with the reason, without a panic.
func TestPiecesWithoutACommonPeriod(t *testing.T) {
	rows := toys.Rows(0, []float64{10}, []float64{12})
	for _, r := range toys.Rows(1, []float64{10}, []float64{12}) {
		r.Period = 11
		rows = append(rows, r)
	}
	_, err1 := PairedDifference(rows, 0, 1)
	_, err2 := LeastComputation(toys.Header(2), rows, []int{0, 1}, toyTarget)
	_, err3 := PairedContrast(rows, 0, 1, 0, 1)
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, ErrNoRows) || !strings.Contains(err.Error(), "2 common seeds, but no period") {
			t.Errorf("got %v", err)
		}
	}
}

// A piece and the folder it came from agree, in both orders, although a piece is rounded. Other regrets contradict.
func TestPieceAgreesWithItsFolder(t *testing.T) {
	third := func(int, uint64) float64 { return 1. / 3 }
	folder := toys.Write(t, []int{2}, 2, 100, 1, third)
	piece := export(t, folder)
	for _, paths := range [][]string{{folder, piece}, {piece, folder}, {piece, piece}} {
		if _, rows, err := Read(toys.Known, paths...); err != nil || len(rows) == 0 {
			t.Errorf("%v: %v", paths, err)
		}
	}
	other := toys.Write(t, []int{2}, 2, 100, 1, func(int, uint64) float64 { return 1./3 + 1e-4 })
	if _, _, err := Read(toys.Known, piece, other); err == nil ||
		!strings.Contains(err.Error(), "in an earlier piece") {
		t.Errorf("regrets that differ by 0.01 at period 100: %v", err)
	}
	nan := lab.Row{Regret: stats.Float(math.NaN()), Diverged: 7}
	if !agree(nan, nan) || agree(nan, lab.Row{Diverged: 7}) || agree(lab.Row{Regret: 1, Diverged: 3}, lab.Row{Regret: 1}) {
		t.Error("rows of runs that diverged: agree is wrong")
	}
}

// Results of a run that has not reached its first row are not a study.
func TestStudyWithoutRows(t *testing.T) {
	dir := toys.Write(t, []int{2}, 0, 100, 1, toys.Linear)
	_, _, err := Read(toys.Known, dir)
	if err == nil || !strings.Contains(fmt.Sprint(err), "runs must be at least 1") {
		t.Errorf("a header of no runs: %v", err)
	}
	dir = toys.Write(t, nil, 1, 100, 1, toys.Linear)
	if _, _, err = Read(toys.Known, dir); err == nil {
		t.Error("a header of no entries was read")
	}
	header := cutToHeader(t, toys.Write(t, []int{2}, 2, 100, 1, toys.Linear))
	if _, _, err = Read(toys.Known, header); !errors.Is(err, ErrNoRows) ||
		!strings.Contains(err.Error(), "hyper resume") {
		t.Errorf("a header alone: %v", err)
	}
}
