package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// arrived runs a Spec and returns the rows that Options.Rows received. It checks that these are the rows of the file,
// each once, and that the rows of a run are in the order of periods.
func arrived(t *testing.T, s lab.Spec, o lab.Options) (all []lab.Row) {
	t.Helper()
	o.Rows = func(rows []lab.Row) { all = append(all, rows...) } // calls do not overlap, as the race detector checks
	kept, _ := run(t, s, o)
	if len(all) != len(kept) {
		t.Fatalf("Options.Rows received %d rows, and the file has %d", len(all), len(kept))
	}
	compare(t, "arrived", byRun(kept), byRun(all))
	last := map[[2]int]int{}
	for _, r := range all {
		at := [2]int{r.Entry, r.Run}
		if r.Period <= last[at] {
			t.Fatalf("entry %d, run %d: period %d after %d", r.Entry, r.Run, r.Period, last[at])
		}
		last[at] = r.Period
	}
	return all
}

// Rows arrive while a run goes on, not at its end.
func TestRowsArriveWhenTheyAreMade(t *testing.T) {
	s := resumable(t)
	var before []int
	n := 0
	o := lab.Options{Dir: t.TempDir(), Backend: backend.Go, BatchRuns: 8, Workers: 1,
		Rows: func(rows []lab.Row) { n += len(rows) }}
	o.Progress = func(lab.Progress) { before = append(before, n) }
	must.M1(lab.Run(t.Context(), s, paper.Known, o))
	// At the i-th call the rows of the i-1 earlier periods exist: the first periods of the schedule take one call each.
	if want := []int{0, 8, 16, 24}; !slices.Equal(before[:4], want) {
		t.Errorf("rows received before the first calls: %v, want %v", before[:4], want)
	}
}

// An interruption that cannot save its batches is not reported as one that could.
func TestInterruptionThatCannotSave(t *testing.T) {
	o := lab.Options{Dir: t.TempDir(), Backend: backend.Go, BatchRuns: 2, Workers: 2, Chunk: 5}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(lab.Progress) {
		_ = os.WriteFile(filepath.Join(o.Dir, "checkpoints"), nil, 0o600) // in place of the folder
		cancel()
	}
	_, err := lab.Run(ctx, resumable(t), paper.Known, o)
	if err == nil || errors.Is(err, lab.ErrInterrupted) || !strings.Contains(err.Error(), "checkpoints") {
		t.Errorf("got error %v, want one about the checkpoints", err)
	}
}

// After an interruption, the existing rows arrive first. Every row arrives once.
func TestRowsOfAnEarlierAttemptArrive(t *testing.T) {
	s := resumable(t)
	o := lab.Options{Dir: t.TempDir(), Backend: backend.Go, BatchRuns: 2, Workers: 2, Chunk: 5, Every: time.Nanosecond}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(p lab.Progress) {
		if 2*p.Done > p.Total {
			cancel()
		}
	}
	if _, err := lab.Run(ctx, s, paper.Known, o); !errors.Is(err, lab.ErrInterrupted) {
		t.Fatalf("got %v, want an interruption", err)
	}
	_, before, err := lab.ReadResults(o.Dir, paper.Known)
	if err != nil || len(before) == 0 {
		t.Fatalf("%d rows before the interruption: %v", len(before), err)
	}
	o.Progress = nil
	all := arrived(t, s, o)
	if !slices.Equal(all[:len(before)], before) {
		t.Error("the existing rows did not arrive first")
	}
}
