package learners_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Runs of every belief that settings can name, with and without weight decay, depend neither on the other runs in a
// batch nor on an interruption: the results have the same bytes.
func TestBeliefsConform(t *testing.T) {
	x := must.M1(lab.Find(paper.Known, "neural-logistic"))
	regularize := "regularize=anchor,decay"
	if testing.Short() {
		regularize = "regularize=decay"
	}
	for i, b := range catalog.Beliefs() {
		if testing.Short() && i > 0 {
			break
		}
		sets := []string{regularize, "actions=5", "features=3", "generator=4", "belief-hidden=4x3", "batch=8",
			"index-samples=4",
			"sgd-steps=2"}
		spec := must.M1(x.Spec([]string{b.Name}, sets, lab.Size{Periods: 20, Runs: 3}, 5))
		results := func(o lab.Options, stop int) []byte {
			o.Dir, o.Backend, o.Workers = t.TempDir(), backend.Go, 1
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := 0
			if stop > 0 {
				o.Progress = func(lab.Progress) {
					if calls++; calls == stop {
						cancel()
					}
				}
			}
			_, err := lab.Run(ctx, spec, paper.Known, o)
			if stop > 0 {
				if !errors.Is(err, lab.ErrInterrupted) {
					t.Fatalf("%s was not interrupted: %v", b.Name, err)
				}
				o.Progress = nil
				_, err = lab.Resume(t.Context(), paper.Known, o)
			}
			must.M(err)
			return must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile)))
		}
		whole := results(lab.Options{Chunk: 2, Every: time.Nanosecond}, 0)
		if got := results(lab.Options{Chunk: 2, Every: time.Nanosecond}, 2); !bytes.Equal(got, whole) {
			t.Errorf("%s: resumed results are others:\n%s\n%s", b.Name, got, whole)
		}
		rows := func(batch int) map[lab.Row]bool {
			_, all, err := lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: batch})
			must.M(err)
			out := map[lab.Row]bool{}
			for _, r := range all {
				out[r] = true
			}
			return out
		}
		alone := rows(1)
		for r := range rows(3) {
			if !alone[r] || r.Diverged != 0 {
				t.Errorf("%s: row %+v of a batch differs from the rows of single runs", b.Name, r)
			}
		}
	}
}
