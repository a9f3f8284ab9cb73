package cli

import (
	"cmp"
	"errors"
	"fmt"
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
	{"gaussian-sampled", "linear", paper.Gaussian, figure2("sampled"), 500, []int{10, 100}, nil},
	{"gaussian-analytic", "linear", paper.Gaussian, figure2("analytic"), 2000, []int{10, 100}, nil},
	{"gaussian-full-data", "linear", paper.Gaussian, figure2("full-data"), 10_000, []int{10, 100}, nil},
	{"neural", "linear", paper.Neural, figure3, 500, []int{8, 64}, nil},
	{"ids", "ids", paper.IDS, figure4, 150, []int{20}, nil},
	{"ids-thompson", "thompson", paper.IDS, figure4, 150, []int{20}, nil},
	{"batches", "linear", paper.Gaussian, figure2("analytic"), 1000, []int{32}, []int{1, 2, 4, 8, 16, 32}},
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
		Long: `bench measures the run-periods per second of some workloads, and in the same call the machine's peak speed of
float32 matrix products. Operations are counted by the paper's formula (section 4.1), multiplications and additions
separately. Grouping a minibatch by arms, closed forms and sufficient statistics do the same work with fewer
operations, so that a workload's share of the peak may exceed 1.

Workloads: ` + strings.Join(workloadNames(), ", ") + ` (default: the three
gaussian ones). normals and matmul print only the speed of random numbers and of products, which each call measures.`,
	}
	flags := c.Flags()
	flags.StringVar(&engine.backend, "backend", "", "as for hyper run")
	flags.IntVar(&engine.workers, "workers", 0, "as for hyper run")
	flags.IntVar(&engine.batchRuns, "batch-runs", 0, "as for hyper run")
	flags.BoolVar(&engine.json, "json", false, "print one JSON object per line")
	c.RunE = func(c *cobra.Command, names []string) error { return bench(c, names, engine) }
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

func bench(c *cobra.Command, names []string, engine engineFlags) error {
	if len(names) == 0 {
		names = []string{"gaussian-sampled", "gaussian-analytic", "gaussian-full-data"}
	}
	if err := unknown("workload", append(workloadNames(), "normals", "matmul"), names...); err != nil {
		return err
	}
	engine.backend = cmp.Or(engine.backend, backend.Default())
	peak, normals, err := primitives(engine.backend)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: matrix products %.1f GFLOP/s, normals %.1f ns each\n", engine.backend, peak, normals)
	var all []measurement
	for _, w := range workloads {
		if !slices.Contains(names, w.name) {
			continue
		}
		batches := w.batchRuns
		if batches == nil {
			batches = []int{engine.batchRuns}
		}
		for _, runs := range w.runs {
			for _, engine.batchRuns = range batches {
				m, err := measure(c, w, runs, engine)
				if err != nil {
					return err
				}
				m.Peak, m.Share = peak, m.FormulaOps/peak
				all = append(all, m)
			}
		}
	}
	return printAll(all, engine.json, tabwriter.AlignRight,
		"workload\truns\tbatch\tworkers\tcompile s\trun-periods/s\tformula GFLOP/s\tshare of matmul peak\t",
		func(_ int, m measurement) string {
			return fmt.Sprintf("%s\t%d\t%d\t%d\t%.2f\t%.0f\t%.1f\t%.2f\t", m.Workload, m.Runs, m.BatchRuns,
				m.Workers, m.Compile, m.Rate, m.FormulaOps, m.Share)
		})
}

// measure runs a workload, and measures the time after compilation.
func measure(c *cobra.Command, w workload, runs int, engine engineFlags) (measurement, error) {
	spec, err := w.experiment.Spec([]string{w.agent}, w.sets, lab.Size{Periods: w.periods, Runs: runs}, 0)
	if err != nil {
		return measurement{}, err
	}
	dir, err := os.MkdirTemp("", "hyper-bench-")
	if err != nil {
		return measurement{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var p lab.Progress
	err = engine.work(dir, func(o lab.Options) (err error) {
		p, err = lab.Run(c.Context(), spec, known, o)
		return err
	})
	if err != nil {
		return measurement{}, err
	}
	h, rows, err := lab.ReadResults(dir, known)
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
		Workers: p.Workers,
		Compile: p.Entries[0].Compile.Seconds(), Rate: p.Rate(), FormulaOps: 2 * s[0].Computation * p.Rate() / 1e9,
	}, nil
}

// primitives measures the peak speed of float32 matrix products, in GFLOP/s, and the time of a normal random number, in
// ns.
func primitives(name string) (peak, normals float64, err error) {
	b, err := backend.Open(name)
	if err != nil {
		return 0, 0, err
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
	t1, err := fastest(product)
	if err != nil {
		return 0, 0, err
	}
	t2, err := fastest(drawn)
	return 2 * n * n * n * products / t1.Seconds() / 1e9, float64(t2.Nanoseconds()) / draws, err
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
