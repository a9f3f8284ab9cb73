package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func resumable(t *testing.T) lab.Spec {
	return spec(t, "linear", lab.Size{Periods: 50, Runs: 4},
		append(small["linear sampled"][1:5:5], "step-size=0.1,0.3")...)
}

// A run that is interrupted after any number of calls resumes to the same bytes as an uninterrupted run, in a world
// that does not change and in one that changes, and with networks of each kind of agent.
func TestInterruptedRunsResumeToTheSameBytes(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if testing.Short() && name != backend.Go {
			t.Skip("compiles four programs")
		}
		table := small["shuffled table"]
		testResume(t, name, resumable(t))
		testResume(t, name, spec(t, table[0], lab.Size{Periods: 50, Runs: 3}, table[1:]...))
		if testing.Short() || name != backend.Go {
			return
		}
		for agent, set := range map[string]string{"neural/linear": "clip=1,0", "neural/egreedy": "anneal=3",
			"neural/independent": "noise=1", "posterior-approximations/bbb": "optimizer=adam",
			"posterior-approximations/dropout": "keep=0.5"} {
			sets := []string{"actions=6", "features=3", "generator=2", set}
			if agent != "neural/independent" {
				sets = append(sets, "hidden=4x3", "batch=8", "sgd-steps=2")
			}
			testResume(t, name, spec(t, agent, lab.Size{Periods: 20, Runs: 3}, sets...))
		}
	})
}

// testResume interrupts a Spec again and again.
func testResume(t *testing.T, name string, s lab.Spec) {
	t.Helper()
	o := lab.Options{Backend: name, BatchRuns: 2, Workers: 2, Chunk: 5, Every: time.Nanosecond,
		Programs: new(lab.Programs)} // each attempt compiled the same program
	_, want := run(t, s, o)
	o.Dir = t.TempDir()
	stops := 0
	for err := error(lab.ErrInterrupted); errors.Is(err, lab.ErrInterrupted); stops++ {
		if stops > 100 {
			t.Fatal("no end after 100 interruptions")
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := atomic.Int64{}
		o.Progress = func(lab.Progress) {
			if calls.Add(1) == int64(5+3*stops) {
				cancel()
			}
		}
		var p lab.Progress
		p, err = lab.Run(ctx, s, paper.Known, o)
		cancel()
		if err != nil && !errors.Is(err, lab.ErrInterrupted) {
			t.Fatal(err)
		}
		if err == nil && (p.Done != p.Total || p.Computed >= p.Total) {
			t.Errorf("at the end %d of %d run-periods are done; this attempt computed %d", p.Done, p.Total, p.Computed)
		}
		if got := string(must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile)))); !strings.HasPrefix(want, got) {
			t.Fatalf("after %d interruptions the file is no prefix of the uninterrupted one", stops+1)
		}
	}
	if got := string(must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile)))); got != want || stops < 3 {
		t.Errorf("after %d interruptions the results differ from uninterrupted ones, or there were too few", stops-1)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "checkpoints", "*")); len(left) > 0 {
		t.Errorf("checkpoints left behind: %v", left)
	}
}

func TestForeignAndDamagedFilesAreRefused(t *testing.T) {
	s, o := resumable(t), lab.Options{Backend: backend.Go, BatchRuns: 8}
	_, good := run(t, s, o)
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "header"},
		"no header":         {strings.Join(lines[1:], ""), "header"},
		"a picture":         {"\x89PNG\r\n\x1a\n....", "header"},
		"header cut off":    {lines[0][:50], "header"},
		"a line of rubbish": {lines[0] + "rubbish\n" + lines[1], "line 2"},
		"a lost line":       {strings.Join(append(lines[:3:3], lines[4:]...), ""), "a line is missing or out of place"},
		"a foreign row":     {lines[0] + `{"entry":99}` + "\n", "entry 99"},
		"unknown key":       {strings.Replace(good, `"step-size"`, `"stepsize"`, 1), "stepsize"},
		"another version":   {strings.Replace(good, `"version":"`, `"version":"9`, 1), "version"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, lab.ResultsFile)
		must.M(os.WriteFile(path, []byte(c.text), 0o644))
		o.Dir = dir
		_, err := lab.Run(t.Context(), s, paper.Known, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.want)
		}
		if after := string(must.M1(os.ReadFile(path))); after != c.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	dir := t.TempDir()
	must.M(os.WriteFile(filepath.Join(dir, lab.ResultsFile), []byte(good), 0o644))
	other := s
	other.Runs++
	o.Dir = dir
	steps := spec(t, "linear", lab.Size{Periods: 50, Runs: 4},
		append(small["linear sampled"][1:5:5], "step-size=0.1,0.5")...)
	for want, c := range map[string]struct {
		s     lab.Spec
		batch int
	}{"with runs 4 instead of 5;": {other, 8}, "with step-size 0.3 instead of 0.5;": {steps, 8},
		"with batch-runs 8 instead of 2;": {s, 2}} {
		o.BatchRuns = c.batch
		if _, err := lab.Run(t.Context(), c.s, paper.Known, o); !errors.Is(err, lab.ErrOtherResults) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("another Spec: error %v, want %s", err, want)
		}
	}
}

// Results continue with the batches that they have, also where the program would choose others.
func TestBatchesOfBegunResultsAreKept(t *testing.T) {
	s := resumable(t)
	o := lab.Options{Backend: backend.Go, BatchRuns: 3, Dir: t.TempDir()}
	if n := (lab.Options{Backend: backend.Go}).Defaults(s).BatchRuns; n == o.BatchRuns {
		t.Fatalf("the program chooses %d runs in a batch, want another number", n)
	}
	_, want := run(t, s, o)
	path := filepath.Join(o.Dir, lab.ResultsFile)
	must.M(os.WriteFile(path, []byte(want[:len(want)/2]), 0o644))
	o.BatchRuns = 0
	if _, got := run(t, s, o); got != want {
		t.Error("the continued results differ")
	}
	for _, header := range []string{"", "{}\n", "rubbish\n"} {
		must.M(os.WriteFile(path, []byte(header), 0o644))
		if _, err := lab.Run(t.Context(), s, paper.Known, o); !errors.Is(err, lab.ErrResults) {
			t.Errorf("header %q: error %v, want one about unusable results", header, err)
		}
	}
}

func TestHalfALineIsCutOff(t *testing.T) {
	s := resumable(t)
	o := lab.Options{Backend: backend.Go, BatchRuns: 4, Dir: t.TempDir()}
	_, want := run(t, s, o)
	path := filepath.Join(o.Dir, lab.ResultsFile)
	for _, keep := range []int{len(want) - 1, len(want) / 2, strings.Index(want, "\n") + 1} {
		must.M(os.WriteFile(path, []byte(want[:keep]), 0o644))
		if _, got := run(t, s, o); got != want {
			t.Errorf("resumed from the first %d of %d bytes, the results differ", keep, len(want))
		}
	}
}

func TestTwoProcessesDoNotShareAFolder(t *testing.T) {
	dir := t.TempDir()
	s := resumable(t)
	var second error
	o := lab.Options{Dir: dir, Backend: backend.Go, BatchRuns: 8}
	o.Progress = func(lab.Progress) {
		if second == nil {
			_, second = lab.Run(t.Context(), s, paper.Known, lab.Options{Dir: dir, Backend: backend.Go})
		}
	}
	o.Workers = 1
	must.M1(lab.Run(t.Context(), s, paper.Known, o))
	if second == nil || !strings.Contains(second.Error(), "another process") {
		t.Errorf("a second run in the folder: error %v", second)
	}
}
