package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func init() { testbackend.CompileQuickly() }

// TestMain lets this binary act as its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		err := sweep.Serve(context.Background(), os.Stdin, os.Stdout, paper.Known, os.Args[2], os.Args[3],
			20*time.Millisecond, nil)
		if err != nil && !errors.Is(err, lab.ErrInterrupted) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func local(workers int) sweep.Local {
	return sweep.Local{Command: []string{must.M1(os.Executable()), "serve"}, Workers: workers, Retries: 100}
}

// grid has two shapes of three settings each, with five runs.
func grid(t *testing.T, periods int) lab.Spec {
	t.Helper()
	s := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"index-samples=4", "batch=16", "index-dim=3", "arms=5,6",
		"step-size=0.1,0.2,0.4"}, lab.Size{Periods: periods, Runs: 5}, 7))
	return s
}

func created(t *testing.T, s lab.Spec, o sweep.Options) (sweep.Plan, string) {
	t.Helper()
	o.Backend = backend.Go
	if o.BatchRuns == 0 {
		o.BatchRuns = 5 // the Go backend takes as long for a batch of five as for one run
	}
	p := must.M1(sweep.New(s, o))
	dir := t.TempDir()
	must.M(p.Create(dir, paper.Known))
	return p, dir
}

// merged returns the merged results, with every row and as a piece of a study.
func merged(t *testing.T, p sweep.Plan, dir string) string {
	t.Helper()
	var out string
	for _, name := range []string{"all.jsonl", "piece.jsonl.gz"} {
		file := filepath.Join(dir, name)
		h, rows := must.M2(p.Rows(dir, paper.Known))
		must.M(analysis.Write(file, h, rows, false))
		out += string(must.M1(os.ReadFile(file)))
	}
	return out
}

func runAll(t *testing.T, p sweep.Plan, dir string, order []int) {
	t.Helper()
	programs := &lab.Programs{}
	for _, n := range order {
		must.M(p.RunShard(t.Context(), dir, n, paper.Known,
			lab.Options{Workers: 1, Programs: programs}))
	}
}

// Merged results do not depend on the shards, their order, the batches, or the number of workers. They equal the
// results of one lab.Run.
func TestMergeDoesNotDependOnHowItWasRun(t *testing.T) {
	s := grid(t, 10)
	var want string
	cuts, most := []sweep.Options{{Shards: 1}, {Shards: 100}, {Shards: 7, BatchRuns: 3}}, 3
	if testing.Short() {
		cuts, most = cuts[:2], 1
	}
	for i, o := range cuts {
		p, dir := created(t, s, o)
		runAll(t, p, dir, rand.New(rand.NewPCG(1, uint64(i))).Perm(len(p.Shards)))
		if got := merged(t, p, dir); i == 0 {
			want = got
		} else if got != want {
			t.Errorf("%d shards in batches of %d runs give other merged results", len(p.Shards), p.BatchRuns)
		}
	}
	for workers := 1; workers <= most; workers += 2 {
		p, dir := created(t, s, sweep.Options{Shards: 6})
		must.M(local(workers).Run(t.Context(), p, dir))
		if merged(t, p, dir) != want {
			t.Errorf("%d workers give other merged results", workers)
		}
	}
	p, dir := created(t, s, sweep.Options{})
	runAll(t, p, dir, rand.Perm(len(p.Shards)))
	_, rows, err := p.Rows(dir, paper.Known)
	must.M(err)
	_, plain, err := lab.Simulate(t.Context(), s, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 10})
	must.M(err)
	byPlace := map[[3]int]lab.Row{}
	for _, r := range plain {
		byPlace[[3]int{r.Entry, r.Run, r.Period}] = r
	}
	for _, r := range rows {
		if byPlace[[3]int{r.Entry, r.Run, r.Period}] != r {
			t.Fatalf("row %+v; lab.Run has %+v", r, byPlace[[3]int{r.Entry, r.Run, r.Period}])
		}
	}
	if len(rows) != len(plain) {
		t.Errorf("%d rows, lab.Run has %d", len(rows), len(plain))
	}
}

// Shards of one shape that a process runs one after the other compile once.
func TestShardsOfAShapeShareACompilation(t *testing.T) {
	p, dir := created(t, grid(t, 5), sweep.Options{Shards: 30, BatchRuns: 1})
	before := lab.Compilations()
	programs := &lab.Programs{}
	for n := range p.Shards {
		must.M(p.RunShard(t.Context(), dir, n, paper.Known, lab.Options{Workers: 1, Programs: programs}))
	}
	if n := lab.Compilations() - before; n != 2 || len(p.Shards) < 20 {
		t.Errorf("%d shards compiled %d programs, want 2: one for each number of arms", len(p.Shards), n)
	}
}

// A search by sweeps has the same result as tune.Run, and continues where it stopped.
func TestSearchIsTune(t *testing.T) {
	if testing.Short() {
		t.Skip("runs two searches")
	}
	tuning := tune.Search{
		Experiment: "gaussian", Agent: "linear", Sets: []string{"arms=3", "index-dim=2", "batch=8", "index-samples=2"},
		Space: []tune.Dimension{{Key: "step-size", Low: 0.01, High: 1},
			{Key: "sgd-steps", Values: []string{"1", "2"}}},
		Candidates: 10, Size: lab.Size{Periods: 18, Runs: 8}, Seed: 5,
	}
	want, err := tune.Run(t.Context(), tuning, paper.Known, lab.Options{Backend: backend.Go, Dir: t.TempDir()})
	must.M(err)
	s, err := sweep.NewSearch(tuning, paper.Known, sweep.Options{Backend: backend.Go, Shards: 3})
	must.M(err)
	dir := t.TempDir()
	must.M(s.Create(dir))
	must.M(s.Create(dir))
	there, err := sweep.OpenSearch(dir)
	must.M(err)
	calls, later := 0, errors.New("later")
	for range 10 {
		var got tune.Search
		got, err = there.Run(dir, paper.Known, func(rung string, p sweep.Plan) error {
			if _, _, err := p.Rows(rung, paper.Known); err == nil {
				return nil
			}
			calls++
			runAll(t, p, rung, rand.Perm(len(p.Shards)))
			return later
		})
		if err == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("found %v, tune.Run %v", got.Best(), want.Best())
			}
			break
		}
	}
	if err != nil || calls != 3 {
		t.Errorf("%d calls for three rungs, error %v", calls, err)
	}
	s.Tuning.Seed++
	if err := s.Create(dir); err == nil || !strings.Contains(err.Error(), "another search") {
		t.Errorf("another seed: %v", err)
	}
}
