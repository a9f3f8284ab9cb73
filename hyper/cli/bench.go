package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// workload is a task to time: an agent of an experiment.
type workload struct {
	name, agent string
	experiment  lab.Experiment
	sets        []string
	periods     int
	runs        []int
	batchRuns   []int // values to compare; nil means the flag's value only
}

// figure2 returns the settings of the paper's figure 2 at K = 100 arms with a training method: index dimension 30,
// batch 1024, 16 indices, one step.
func figure2(integrate string) []string {
	return []string{"arms=100", "index-dim=30", "batch=1024", "index-samples=16", "sgd-steps=1", "step-size=0.3",
		"integrate=" + integrate}
}

// figure3 has the settings of the paper's figure 3 in the speed tests: 200 actions, and index dimension 10 for each of
// the three layers.
var figure3 = []string{"actions=200", "index-dim=10", "batch=64", "sgd-steps=8", "index-samples=16", "index-set=iid",
	"optimizer=sgd", "step-size=0.003", "clip=0", "perturbation=0"}

// figure4 has the settings of the paper's figure 4: 398 actions, 500 functions for each decision.
var figure4 = []string{"size=200", "policy-samples=500"}

var workloads = []workload{
	{name: "gaussian-sampled", agent: "linear", experiment: paper.Gaussian, sets: figure2("sampled"), periods: 500,
		runs: []int{10, 100}},
	{name: "gaussian-analytic", agent: "linear", experiment: paper.Gaussian, sets: figure2("analytic"), periods: 2000,
		runs: []int{10, 100}},
	{name: "gaussian-full-data", agent: "linear", experiment: paper.Gaussian, sets: figure2("full-data"),
		periods: 10_000, runs: []int{10, 100}},
	{name: "neural", agent: "linear", experiment: paper.Neural, sets: figure3, periods: 500, runs: []int{8, 64}},
	{name: "ids", agent: "ids", experiment: paper.IDS, sets: figure4, periods: 150, runs: []int{20}},
	{name: "ids-thompson", agent: "thompson", experiment: paper.IDS, sets: figure4, periods: 150, runs: []int{20}},
	{name: "batches", agent: "linear", experiment: paper.Gaussian, sets: figure2("analytic"), periods: 1000,
		runs: []int{32}, batchRuns: []int{1, 2, 4, 8, 16, 32}},
}

// measurement is a line of hyper bench.
type measurement struct {
	Workload   string  `json:"workload"`
	Backend    string  `json:"backend"`
	Runs       int     `json:"runs"`
	Periods    int     `json:"periods"`
	BatchRuns  int     `json:"batch_runs"`
	Workers    int     `json:"workers"`
	Compile    float64 `json:"compile_seconds"`
	Rate       float64 `json:"run_periods_per_second"`
	FormulaOps float64 `json:"formula_gflops"` // 2 x the paper's computation per period x rate
	Peak       float64 `json:"matmul_peak_gflops"`
	Share      float64 `json:"share_of_peak"`
}

func benchCommand() *cobra.Command {
	var engine engineFlags
	c := &cobra.Command{
		Use:   "bench [WORKLOAD...]",
		Short: "Measure run-periods per second, and the machine's peak speed of matrix products",
		Long: `bench measures the run-periods per second of some workloads, and in the same
call the machine's peak speed of float32 matrix products. A run-period is one
period of one run. Operations are counted by the paper's formula (section 4.1),
multiplications and additions separately. Grouping a minibatch by arms, closed
forms and sufficient statistics do the same work with fewer operations, so that
a workload's share of the peak may exceed 1.

Workloads (default: the three gaussian ones):
  ` + strings.Join(workloadNames(), "\n  ") + `

Each call also measures the speed of random numbers and of matrix products. With
normals or matmul alone, bench prints only these speeds.`,
	}
	flags := c.Flags()
	engine.addBatches(flags)
	engine.addWorkers(flags, workersUsage)
	engine.addJSON(flags, "print one JSON object per line")
	c.RunE = func(c *cobra.Command, names []string) error {
		return bench(c.Context(), c.OutOrStdout(), names, engine)
	}
	c.AddCommand(benchStudyCommand())
	return c
}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// bench measures the named workloads, and prints a line for each number of runs and batch size.
func bench(ctx context.Context, w io.Writer, names []string, engine engineFlags) error {
	if len(names) == 0 {
		names = []string{"gaussian-sampled", "gaussian-analytic", "gaussian-full-data"}
	}
	if err := checkKnown("workload", append(workloadNames(), "normals", "matmul"), names...); err != nil {
		return err
	}
	engine.backend = cmp.Or(engine.backend, backend.Default())
	p, err := measurePrimitives(engine.backend)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(workloads, func(load workload) bool { return slices.Contains(names, load.name) }) {
		return printAll(w, []primitives{p}, engine.json, tabwriter.AlignRight,
			"backend\tmatmul GFLOP/s\tns per normal\t",
			func(_ int, p primitives) string { return fmt.Sprintf("%s\t%.1f\t%.1f\t", p.Backend, p.Peak, p.Normal) })
	}
	fmt.Fprintf(os.Stderr, "%s: matrix products %.1f GFLOP/s, normals %.1f ns each\n", p.Backend, p.Peak, p.Normal)
	var all []measurement
	for _, load := range workloads {
		if !slices.Contains(names, load.name) {
			continue
		}
		batches := load.batchRuns
		if batches == nil {
			batches = []int{engine.batchRuns}
		}
		for _, runs := range load.runs {
			for _, batch := range batches {
				own := engine
				own.batchRuns = batch
				m, err := measure(ctx, load, runs, own)
				if err != nil {
					return err
				}
				m.Peak, m.Share = p.Peak, m.FormulaOps/p.Peak
				all = append(all, m)
			}
		}
	}
	return printAll(w, all, engine.json, tabwriter.AlignRight,
		"workload\truns\tbatch\tworkers\tcompile s\trun-periods/s\tformula GFLOP/s\tshare of matmul peak\t",
		func(_ int, m measurement) string {
			return fmt.Sprintf("%s\t%d\t%d\t%d\t%.2f\t%.0f\t%.1f\t%.2f\t", m.Workload, m.Runs, m.BatchRuns,
				m.Workers, m.Compile, m.Rate, m.FormulaOps, m.Share)
		})
}

// measure runs a workload, and measures the time after compilation.
func measure(ctx context.Context, w workload, runs int, engine engineFlags) (measurement, error) {
	spec, err := w.experiment.Spec([]string{w.agent}, w.sets, lab.Size{Periods: w.periods, Runs: runs}, 0)
	if err != nil {
		return measurement{}, err
	}
	dir, err := os.MkdirTemp("", "hyper-bench-")
	if err != nil {
		return measurement{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := work(engine, dir, func(o lab.Options) (lab.Progress, error) {
		return lab.Run(ctx, spec, knownExperiments, o)
	})
	if err != nil {
		return measurement{}, err
	}
	h, rows, err := lab.ReadResults(dir, knownExperiments)
	if err != nil {
		return measurement{}, err
	}
	s, err := analysis.Summarize(h, rows)
	if err != nil {
		return measurement{}, err
	}
	if s[0].Diverged > 0 {
		return measurement{}, failure{errors.New("runs diverged, so their speed has no meaning")}
	}
	return measurement{
		Workload: w.name, Backend: h.Backend, Runs: runs, Periods: w.periods, BatchRuns: h.BatchRuns,
		Workers: p.Workers, Compile: p.Entries[0].Compile.Seconds(), Rate: p.Rate(),
		FormulaOps: 2 * s[0].Computation * p.Rate() / 1e9,
	}, nil
}

// primitives has the speeds of a backend.
type primitives struct {
	Backend string  `json:"backend"`
	Peak    float64 `json:"matmul_peak_gflops"` // of float32 matrix products
	Normal  float64 `json:"normal_ns"`          // time of a normal random number
}

func measurePrimitives(name string) (primitives, error) {
	b, err := backend.Open(name)
	if err != nil {
		return primitives{}, err
	}
	const n, products = 1024, 8
	product := MustNewExec(b, func(seed *Node) *Node {
		x := rng.New(seed).Uniform(n, n)
		y := x
		for range products {
			y = MulScalar(Einsum("rij,rjk->rik", y, x), 1.0/n)
		}
		return ReduceAllSum(y)
	})
	const draws = 1 << 20
	drawn := MustNewExec(b, func(seed *Node) *Node {
		return ReduceAllSum(ConvertDType(rng.New(seed).Normal(draws), dtypes.Float32))
	})
	multiplying, err := fastest(product)
	if err != nil {
		return primitives{}, err
	}
	drawing, err := fastest(drawn)
	if err != nil {
		return primitives{}, err
	}
	return primitives{Backend: name, Peak: 2 * n * n * n * products / multiplying.Seconds() / 1e9,
		Normal: float64(drawing.Nanoseconds()) / draws}, nil
}

// fastest returns the shortest time of several calls.
func fastest(e *Exec) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for i := range 6 {
		begin := time.Now()
		out, err := e.Call1([]uint64{uint64(i)})
		if err != nil {
			return 0, err
		}
		_ = out.Value()
		best = min(best, time.Since(begin))
	}
	return best, nil
}
