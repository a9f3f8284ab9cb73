package lab_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// known has the experiments of the paper, and one of later work.
var known = map[string]lab.Experiment{beyond.LinearBandit.Name: beyond.LinearBandit}

func init() { maps.Copy(known, paper.Known) }

// TestMain lets this binary act as its own worker process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := lab.Worker(context.Background(), os.Stdin, os.Stdout, known, os.Args[2:]); err != nil &&
			!errors.Is(err, lab.ErrInterrupted) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "blocks" {
		inBlocks()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func workerProcess() []string { return []string{must.M1(os.Executable()), "worker"} }

// spec returns a Spec for an agent of the Gaussian bandit, or for experiment/agent.
func spec(t *testing.T, agent string, size lab.Size, sets ...string) lab.Spec {
	t.Helper()
	e := paper.Gaussian
	if name, own, other := strings.Cut(agent, "/"); other {
		e, agent = must.M1(lab.Find(known, name)), own
	}
	s := must.M1(e.Spec([]string{agent}, sets, size, 11))
	return s
}

// run returns the rows of a Spec and the text of its result file.
func run(t *testing.T, s lab.Spec, o lab.Options) ([]lab.Row, string) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	must.M1(lab.Run(t.Context(), s, known, o))
	_, rows := must.M2(lab.ReadResults(o.Dir, known))
	return rows, string(must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile))))
}

// byRun maps (entry, run, period) to the row, so that results can be compared in any order.
func byRun(rows []lab.Row) map[string]lab.Row {
	out := map[string]lab.Row{}
	for _, r := range rows {
		out[fmt.Sprintf("%d/%d/%d", r.Entry, r.Run, r.Period)] = r
	}
	return out
}

// small lists settings that take a fraction of a second, one for each way of training.
var small = map[string][]string{
	"linear sampled":    {"linear", "arms=5", "index-dim=4", "batch=32", "index-samples=8", "step-size=0.3"},
	"linear analytic":   {"linear", "arms=5", "index-dim=4", "batch=32", "integrate=analytic"},
	"linear full-data":  {"linear", "arms=5", "index-dim=4", "integrate=full-data"},
	"linear exact":      {"linear", "arms=5", "index-dim=4", "integrate=exact"},
	"ensemble exact":    {"ensemble", "arms=5", "particles=6", "integrate=exact"},
	"ensemble sampled":  {"ensemble", "arms=5", "particles=6", "batch=32", "index-samples=3", "integrate=sampled"},
	"ensemble analytic": {"ensemble", "arms=5", "particles=6", "batch=32"},
	"linear adam": {"linear", "arms=5", "index-dim=4", "batch=32", "index-samples=8", "optimizer=adam",
		"sgd-steps=2"},
	"exact":      {"exact", "arms=5"},
	"ensemble++": {"linear-bandit/ensemble-plus-plus", "actions=20", "features=4", "size=3", "reference=sphere"},
	"plain":      {"linear-bandit/exact", "actions=20", "features=4"},
	"shuffled table": {"table/linear", "file=../catalog/learners/testdata/rows.csv", "order=shuffled", "standardize=online",
		"hidden=none", "integrate=exact", "index-dim=4"},
}

// exploring lists settings of the policies that use many functions. With 148 actions XLA computed the sums of exact IDS
// in another order in a batch of 8 than for a single run. (Package explore tests the sums of sampled IDS to the bit.)
var exploring = map[string][]string{
	"ids":       {"linear", "arms=12", "integrate=exact", "policy=ids", "policy-samples=40"},
	"ucb":       {"linear", "arms=12", "integrate=exact", "policy=ucb"},
	"top-two":   {"linear", "arms=12", "integrate=exact", "policy=top-two"},
	"exact ids": {"ids/exact-ids", "size=75"},
}

// The actions and the regret of a run depend only on its Spec and seed: not on its batch, the length of a call, or the
// workers. The Go backend and XLA draw the same integers. They therefore take the same actions until rounding makes
// them differ, which does not happen within these few periods.
func TestRunsDoNotDependOnHowTheyAreRun(t *testing.T) {
	all := maps.Clone(small)
	maps.Copy(all, exploring)
	onGo := map[string]map[string]lab.Row{}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for label, c := range all {
			if testing.Short() && !slices.Contains([]string{"linear analytic", "shuffled table", "ucb"}, label) ||
				name != backend.Go && exploring[label] != nil && (label != "exact ids" || name == backend.XLACUDA) {
				continue // XLA takes seconds to compile each, and see testbackend.NotOnGPU
			}
			t.Run(label, func(t *testing.T) {
				s := spec(t, c[0], lab.Size{Periods: 20, Runs: 8}, c[1:]...)
				rows, _ := run(t, s, lab.Options{Backend: name, BatchRuns: 8, Workers: 1})
				want := byRun(rows)
				if name == backend.Go {
					onGo[label] = want
					got, _ := run(t, s, lab.Options{Backend: name, BatchRuns: 3, Workers: 3, Chunk: 3})
					compare(t, "batches of 3, 3, 2 by 3 workers in calls of 3 periods", want, byRun(got))
				} else if name == backend.XLACPU && small[label] != nil {
					for key, w := range onGo[label] {
						if g := want[key]; g.Digest != w.Digest {
							t.Errorf("entry/run/period %s took other actions on xla:cpu than on go", key)
							break
						}
					}
				}
				if name == backend.Go || slices.Contains([]string{"linear sampled", "linear full-data", "linear exact",
					"ensemble sampled", "ensemble++", "shuffled table", "exact ids"}, label) {
					got, _ := run(t, s, lab.Options{Backend: name, BatchRuns: 1, Workers: 1})
					compare(t, "single runs", want, byRun(got))
				}
			})
		}
	})
}

// The same for a single run of a network whose indices come in frames: in a batch of one, XLA adds its products in
// another order than in larger batches.
func TestARunAloneEqualsTheRunInABatch(t *testing.T) {
	if !backend.HasXLA || backend.PluginPath("cpu") == "" {
		t.Skip("this is about xla:cpu, which is not here; `go run ./kernels setup` installs it")
	}
	if testing.Short() {
		t.Skip("needs some 80 periods of a network")
	}
	s := spec(t, "neural/linear", lab.Size{Periods: 80, Runs: 4}, "actions=20", "optimizer=adam", "index-set=frame",
		"index-samples=60", "sgd-steps=8", "step-size=0.00555", "initial-map=0.1", "prior-factor=2.84", "perturbation=0")
	alone, _ := run(t, s, lab.Options{Backend: backend.XLACPU, BatchRuns: 1, Workers: 2})
	batch, _ := run(t, s, lab.Options{Backend: backend.XLACPU, BatchRuns: 4, Workers: 1})
	compare(t, "a batch of 4", byRun(alone), byRun(batch))
}

func compare(t *testing.T, how string, want, got map[string]lab.Row) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, want %d", how, len(got), len(want))
	}
	for key, w := range want {
		if g := got[key]; g != w {
			t.Errorf("%s: entry/run/period %s is %+v, want %+v", how, key, g, w)
			return
		}
	}
}

// Two worker processes write the bytes of one worker, and their rows arrive once.
func TestWorkerProcessesGiveTheSameBytes(t *testing.T) {
	if !backend.HasXLA || backend.PluginPath("cpu") == "" {
		t.Skip("worker processes are for xla:cpu, which is not here; `go run ./kernels setup` installs it")
	}
	if testing.Short() {
		t.Skip("compiles three programs")
	}
	s := spec(t, "linear", lab.Size{Periods: 200, Runs: 6}, small["linear sampled"][1:]...)
	o := lab.Options{Backend: backend.XLACPU, BatchRuns: 2, Workers: 1}
	_, want := run(t, s, o)
	o.Workers, o.Process, o.Dir = 2, workerProcess(), t.TempDir()
	arrived(t, s, o)
	if got := string(must.M1(os.ReadFile(filepath.Join(o.Dir, lab.ResultsFile)))); got != want {
		t.Error("two worker processes wrote other bytes than one worker")
	}
}

// Agents that are compared on one seed run in the same environment: the same truth, and so the same regret for the same
// actions.
func TestAgentsMeetTheSameEnvironment(t *testing.T) {
	o := lab.Options{Backend: backend.Go, BatchRuns: 40}
	a, _ := run(t, spec(t, "exact", lab.Size{Periods: 1, Runs: 40}, "arms=2"), o)
	b, _ := run(t, spec(t, "ensemble", lab.Size{Periods: 1, Runs: 40}, "arms=2", "particles=3", "batch=2"), o)
	same, regrets := 0, map[stats.Float]bool{}
	for i := range a {
		if a[i].Digest == b[i].Digest {
			same++
			if a[i].Regret != b[i].Regret {
				t.Errorf("seed %d: the same action has regret %v for one agent and %v for the other", a[i].Seed,
					a[i].Regret, b[i].Regret)
			}
		} else if a[i].Regret != 0 && b[i].Regret != 0 {
			t.Errorf("seed %d: two actions of two have regret", a[i].Seed)
		}
		regrets[a[i].Regret] = true
	}
	if same == 0 || same == len(a) || len(regrets) < 5 {
		t.Errorf("%d of %d first actions agree and there are %d regrets: the test says nothing", same, len(a),
			len(regrets))
	}
}

func TestSweepCompilesOnce(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		sets := append(small["linear sampled"][1:5:5], "step-size=0.05,0.1,0.2,0.4,0.8", "noise-variance=1,2")
		s := spec(t, "linear", lab.Size{Periods: 30, Runs: 2}, sets...)
		before := lab.Compilations()
		rows, _ := run(t, s, lab.Options{Backend: name, BatchRuns: 8})
		if n := lab.Compilations() - before; n != 1 {
			t.Errorf("the sweep compiled %d programs, want 1", n)
		}
		digests := map[uint32]bool{}
		for _, r := range rows {
			if r.Period == 30 && r.Run == 0 {
				digests[r.Digest] = true
			}
		}
		if len(digests) < 2 {
			t.Error("all step sizes acted alike: the sweep changed nothing")
		}
	})
}

// A number for which 0 means a computation without it has two programs, with and without it. They agree if the number
// has no effect.
func TestZeroTurnsComputationsOff(t *testing.T) {
	s := spec(t, "linear", lab.Size{Periods: 30, Runs: 2}, append(small["linear sampled"][1:5:5], "clip=0,0.01,1e9")...)
	before := lab.Compilations()
	rows, _ := run(t, s, lab.Options{Backend: backend.Go, BatchRuns: 8})
	if n := lab.Compilations() - before; n != 2 {
		t.Errorf("%d programs were compiled, want 2", n)
	}
	digests := map[[2]int]uint32{}
	for _, r := range rows {
		if r.Period == 30 {
			digests[[2]int{r.Entry, r.Run}] = r.Digest
		}
	}
	for i := range 2 {
		if digests[[2]int{0, i}] != digests[[2]int{2, i}] || digests[[2]int{0, i}] == digests[[2]int{1, i}] {
			t.Errorf("run %d acts as %x without a bound, %x with a large one and %x with a small one; want the first "+
				"two alike", i, digests[[2]int{0, i}], digests[[2]int{2, i}], digests[[2]int{1, i}])
		}
	}
}

// A step size far too large makes predictions infinite. The run is marked with the period in which this happened, and
// takes all actions in turn from then on: its regret in a round is the sum of all gaps.
func TestDivergenceIsMarked(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		s := spec(t, "linear", lab.Size{Periods: 115, Runs: 2},
			append(small["linear sampled"][1:5:5], "step-size=0.3,1000")...)
		rows, _ := run(t, s, lab.Options{Backend: name, BatchRuns: 4})
		regret := map[[3]int]float64{}
		for _, r := range rows {
			regret[[3]int{r.Entry, r.Run, r.Period}] = float64(r.Regret)
			if r.Period == 115 && (r.Diverged > 0) != (r.Entry == 1) {
				t.Errorf("entry %d, run %d: diverged at %d", r.Entry, r.Run, r.Diverged)
			}
		}
		for run := range 2 {
			at := func(period int) float64 { return regret[[3]int{1, run, period}] }
			before, after := (at(100)-at(20))/80, (at(115)-at(100))/15 // whole rounds of five arms
			if !(before > 0) || math.Abs(before-after) > 1e-5*before {
				t.Errorf("run %d loses %v a period until 100, and %v after it", run, before, after)
			}
		}
	})
}
