package lab_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// A run of exact Thompson sampling carries, for each arm, the truth (4 bytes), a count and a sum.
func TestStateBytes(t *testing.T) {
	size := func(arms string, agent string) int64 {
		return must.M1(lab.StateBytes(spec(t, agent, lab.Size{Periods: 10, Runs: 3}, "arms="+arms).Entries[0], 10))
	}
	if a, b := size("1000", "exact"), size("2000", "exact"); b-a != 12*1000 {
		t.Errorf("a thousand more arms are %d bytes, want 12000", b-a)
	}
	if a := size("1000", "linear"); a < 4*1000*10 { // C alone has arms x index-dim numbers
		t.Errorf("the linear agent carries %d bytes", a)
	}
}

// A Spec that does not fit into memory is refused before anything is compiled. So is a Spec whose requested batches are
// too large.
func TestSpecsThatDoNotFitMemory(t *testing.T) {
	if process.FreeMemory() == 0 {
		t.Skip("this system does not tell its free memory")
	}
	before := lab.Compilations()
	o := lab.Options{Backend: backend.Go, Workers: 1, Dir: t.TempDir()}
	huge := spec(t, "exact", lab.Size{Periods: 10, Runs: 1}, "arms=1000000000000")
	if _, err := lab.Run(t.Context(), huge, paper.Known, o); !errors.Is(err, lab.ErrMemory) {
		t.Errorf("a run of 12 TB: %v", err)
	}
	// A run does not carry a batch, or the values of functions, from period to period.
	for _, sets := range [][]string{{"hidden=1000", "batch=1000000000"},
		{"policy=ids", "policy-samples=1000000000", "arms=10000", "index-dim=3"}} {
		large := spec(t, "linear", lab.Size{Periods: 10, Runs: 1}, sets...)
		if _, err := lab.Run(t.Context(), large, paper.Known, o); !errors.Is(err, lab.ErrMemory) {
			t.Errorf("%v: %v", sets, err)
		}
	}
	arms := strconv.FormatInt(process.FreeMemory()/12/100, 10) // a hundredth of the free memory
	large := spec(t, "exact", lab.Size{Periods: 10, Runs: 1000}, "arms="+arms)
	o.BatchRuns = 1000
	if _, err := lab.Run(t.Context(), large, paper.Known, o); !errors.Is(err, lab.ErrMemory) ||
		!strings.Contains(err.Error(), "--batch-runs") {
		t.Errorf("a thousand runs at once, each of a hundredth of the memory: %v", err)
	}
	large.Runs = 2000
	header := lab.Header{Format: lab.Format, Spec: large, Backend: backend.Go, BatchRuns: o.BatchRuns}
	must.M(os.WriteFile(filepath.Join(o.Dir, lab.ResultsFile), append(must.M1(json.Marshal(header)), '\n'), 0o644))
	o.Workers = 2
	if _, err := lab.Resume(t.Context(), paper.Known, o); !errors.Is(err, lab.ErrMemory) ||
		strings.Contains(err.Error(), "--batch-runs") || !strings.Contains(err.Error(), "use fewer --workers") {
		t.Errorf("a continued run: error %v, want one that advises fewer workers", err)
	}
	if lab.Compilations() != before {
		t.Error("something was compiled")
	}
}
