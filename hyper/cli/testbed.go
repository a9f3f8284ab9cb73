package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// testbedFlags holds the flags of hyper testbed.
type testbedFlags struct {
	agents, show        []string
	regret              []string
	seeds, steps        int
	options             testbed.Options
	out, baseline, draw string
	json                bool
}

func (f *testbedFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.agents, "agent", nil,
		"agents, separated by commas: agents of the testbed, or FILE.json with a learner and its settings (default: mlp,epinet)")
	flags.IntVar(&f.seeds, "seeds", 1, "number of seeds of each setting of D, T and rho or sigma: the first ones of the sweep")
	flags.IntVar(&f.steps, "steps", 1000, "number of SGD steps of agents from FILE.json")
	flags.IntVar(&f.options.Batches, "batches", 1000, "number of batches of test inputs; the testbed has 1000")
	flags.IntSliceVar(&f.options.Taus, "tau", nil,
		"numbers of classes that are predicted together; more than 10, for example 100, are estimated by random projection "+
			"(default 1,10; regression only has 1)")
	flags.IntVar(&f.options.Side, "side", 10, "maximum number of problems of one shape that are learned side by side")
	flags.IntVar(&f.options.Workers, "workers", 0, "number of concurrent processes on xla:cpu (default: one for each core)")
	flags.StringVar(&f.options.Backend, "backend", "", "as for hyper run")
	flags.StringVar(&f.out, "out", "",
		"FILE: the results; after an interruption the same call continues them (default hyper-out/testbed/SWEEP.jsonl)")
	flags.StringSliceVar(&f.show, "show", nil, "FILE,...: show the leaderboard of these results, without trying agents")
	flags.StringSliceVar(&f.regret, "regret", nil,
		"FILE,...: study files of the same agents in a bandit; print the correlation of regret and divergence")
	flags.StringVar(&f.baseline, "baseline", "mlp", "the agent to which the others are compared")
	flags.StringVar(&f.draw, "figure", "", "path of a figure of the leaderboard, without extension")
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each agent and tau")
}

func testbedCommand() *cobra.Command {
	var f testbedFlags
	names := slices.Sorted(maps.Keys(testbed.Known))
	c := &cobra.Command{
		Use:   "testbed SWEEP",
		Short: "Score agents by their joint predictions on the Neural Testbed",
		Long: `testbed trains agents on the problems of a sweep of the Neural Testbed (Osband et al. 2022), and estimates the
distance between their joint predictions of tau = 1 and tau = 10 classes (--tau) and the truth's, in nats. It prints the
means over problems, and their ratios to the means of a baseline on the same problems. With --regret it also prints the
regrets in a bandit, and their correlation with the distances.

In the sweeps regression and enn_paper agents predict a response, whose truth is drawn from a Gaussian process.
regression compares predictions to the truth, and enn_paper compares functions to the exact posterior, which scores 0. A
problem with inputs of 100 numbers and 10,000 data takes minutes and 2 GB to draw, in each of the concurrent processes.

Sweeps: ` + strings.Join(names, ", ") + `. Agents: ` + strings.Join(testbedAgents(testbed.Classification2D()), ", ") + `.`,
		Example: `  hyper testbed classification_2d --agent mlp,epinet --seeds 1
  hyper testbed classification --agent mlp,mine.json --steps 2000
  hyper testbed enn_paper --agent ensemble,ensemble+,hypermodel --seeds 1 --baseline ensemble`,
		Args: argument("SWEEP"),
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := unknown("sweep", names, args[0]); err != nil {
			return err
		}
		s := testbed.Known[args[0]]()
		results, err := f.results(c, s)
		if err != nil {
			return err
		}
		if len(f.regret) > 0 {
			return f.relate(s, results)
		}
		return f.print(s, testbed.Leaderboard(s, results, f.baseline))
	}
	return c
}

// testbedAgents returns the names of the testbed's agents.
func testbedAgents(s testbed.Sweep) (names []string) {
	for _, a := range testbed.Agents(s) {
		names = append(names, a.Name)
	}
	return names
}

// results reads the results of --show, or tries the agents.
func (f *testbedFlags) results(c *cobra.Command, s testbed.Sweep) (all []testbed.Result, err error) {
	if len(f.show) == 0 {
		return f.try(c.Context(), s)
	}
	for _, path := range f.show {
		r, err := testbed.ReadRecord(path)
		if err != nil {
			return nil, err
		}
		if r.Sweep != s.Name {
			return nil, fmt.Errorf("%s has results of the sweep %s, not of %s", path, r.Sweep, s.Name)
		}
		all = append(all, r.Results...)
	}
	return all, nil
}

// try tries the agents on the problems on which they have not been tried yet.
func (f *testbedFlags) try(ctx context.Context, s testbed.Sweep) ([]testbed.Result, error) {
	agents, err := f.chosen(s)
	if f.options.Taus == nil {
		f.options.Taus = s.Taus()
	}
	switch {
	case err != nil:
		return nil, err
	case f.seeds < 1 || f.seeds > s.Seeds:
		return nil, fmt.Errorf("--seeds must be from 1 to %d, the number in the sweep, got %d", s.Seeds, f.seeds)
	case f.options.Batches < 1 || f.options.Side < 1 || f.steps < 1 || f.options.Workers < 0:
		return nil, errors.New("--batches, --side and --steps must be at least 1, and --workers at least 0")
	}
	if err := s.CheckTaus(f.options.Taus); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	if f.options.Backend == "" {
		f.options.Backend = backend.Default()
	}
	if f.out == "" {
		f.out = filepath.Join("hyper-out", "testbed", s.Name+".jsonl")
	}
	record, err := testbed.OpenRecord(f.out, testbed.Header{Sweep: s.Name, Batches: f.options.Batches,
		Backend: f.options.Backend, Provenance: lab.ThisProvenance(f.options.Backend), Machine: lab.ThisMachine()})
	if err != nil {
		return nil, err
	}
	defer func() { _ = record.Close() }()
	for _, a := range agents {
		left := record.Left(a.Name, s.Few(f.seeds), f.options.Taus)
		if len(left.Problems) == 0 {
			continue
		}
		done := 0
		o := f.options
		if o.Process, err = f.worker(a, left); err != nil {
			return nil, err
		}
		err := testbed.Try(ctx, a, left, o, func(r []testbed.Result) error {
			done += len(r) / len(f.options.Taus)
			fmt.Fprintf(os.Stderr, "%s: %d of %d problems\n", a.Name, done, len(left.Problems))
			return record.Add(slices.DeleteFunc(r, record.Has))
		})
		if errors.Is(err, context.Canceled) {
			fmt.Fprintf(os.Stderr, "hyper: interrupted; all results are in %s, and the same command continues\n", f.out)
			return nil, lab.ErrInterrupted
		}
		if err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(notes(), "results in %s\n", f.out)
	return record.Results, nil
}

// worker returns the command line of a process that helps to try an agent: see [testbedWorkerCommand].
func (f *testbedFlags) worker(a testbed.Agent, left testbed.Sweep) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := a.Name
	for _, file := range f.agents {
		if filepath.Ext(file) == ".json" && ownName(file) == name {
			name = file
		}
	}
	job := workerJob{Agent: name, Sweep: left, Steps: f.steps, Batches: f.options.Batches, Side: f.options.Side,
		Taus: f.options.Taus}
	text, err := json.Marshal(job)
	return []string{self, "testbed-worker", string(text)}, err
}

// workerJob is a task. Each worker process does a part of it.
type workerJob struct {
	Agent                string // name or FILE.json
	Sweep                testbed.Sweep
	Steps, Batches, Side int
	Taus                 []int
}

// testbedWorkerCommand returns the command of a process that tries an agent on problems for `hyper testbed`.
func testbedWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "testbed-worker JOB SHARE",
		Short:  "Try an agent on problems for a `hyper testbed` that started this process",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("testbed-worker takes a job and a share of the cores")
			}
			var job workerJob
			if err := json.Unmarshal([]byte(args[0]), &job); err != nil {
				return err
			}
			f := testbedFlags{steps: job.Steps}
			a, err := f.agent(job.Sweep, job.Agent)
			if err != nil {
				return err
			}
			o := testbed.Options{Backend: backend.XLACPU, Batches: job.Batches, Side: job.Side, Taus: job.Taus}
			_ = testbed.Worker(c.Context(), os.Stdin, os.Stdout, a, job.Sweep, o, args[1]) // the parent prints the error
			return nil
		},
	}
}

// chosen returns the agents of the flag.
func (f *testbedFlags) chosen(s testbed.Sweep) (agents []testbed.Agent, err error) {
	if len(f.agents) == 0 {
		f.agents = []string{"mlp", "epinet"}
	}
	for _, name := range f.agents {
		a, err := f.agent(s, name)
		if err != nil {
			return nil, err
		}
		agents = append(agents, a)
	}
	return agents, nil
}

// agent returns the testbed's agent of a name, or the agent of a learner's file.
func (f *testbedFlags) agent(s testbed.Sweep, name string) (testbed.Agent, error) {
	if filepath.Ext(name) == ".json" {
		return f.own(s, name)
	}
	all := testbed.Agents(s)
	at := slices.IndexFunc(all, func(a testbed.Agent) bool { return a.Name == name })
	if at < 0 {
		return testbed.Agent{}, unknown("agent", testbedAgents(s), name)
	}
	return all[at], nil
}

// ownName returns the name of the agent of a learner's file.
func ownName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

// own returns the agent of a learner's file.
func (f *testbedFlags) own(s testbed.Sweep, path string) (testbed.Agent, error) {
	kind, settings, err := readLearner(path)
	if err != nil {
		return testbed.Agent{}, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := catalog.For(kind, bandit.Problem{Features: 2}, settings); err != nil {
		return testbed.Agent{}, fmt.Errorf("%s: %w", path, err)
	}
	of := func(p bandit.Problem, _ int) learner.Learner {
		l, _ := catalog.For(kind, p, settings) // the agent's Validate reports faults of a shape
		return l
	}
	return testbed.Entered(s, ownName(path), of, f.steps), nil
}

// relate prints regrets, divergences, and their correlation.
func (f *testbedFlags) relate(s testbed.Sweep, results []testbed.Result) error {
	h, rows, err := analysis.Read(known, f.regret...)
	if err != nil {
		return err
	}
	r, err := beyond.Relate(s, results, h, rows)
	if err != nil {
		return err
	}
	if f.json {
		return printLines(r)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "agent\tcomputation/period")
	for _, tau := range r.Taus {
		fmt.Fprintf(w, "\tKL, tau = %d", tau)
	}
	for _, period := range r.Periods {
		fmt.Fprintf(w, "\tregret at %d", period)
	}
	fmt.Fprintln(w)
	for _, a := range r.Agents {
		fmt.Fprintf(w, "%s\t%.3g", a.Name, a.Computation)
		for _, x := range slices.Concat(a.KL, a.Regret) {
			fmt.Fprintf(w, "\t%v", x)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nmeans over %d problems of %s, in nats, and over %d runs of %s, with 95%% intervals\n", r.Problems, s.Name,
		r.Runs, h.Spec.Experiment)
	for i, tau := range r.Taus {
		fmt.Printf("correlation of log regret with log KL at tau = %d: %v over %d agents\n", tau, r.Correlations[i],
			len(r.Agents))
	}
	return nil
}

// mark returns a number of a leaderboard as text, or a dash.
func mark(x *stats.Float) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", float64(*x))
}

// print prints the leaderboard, and draws it.
func (f *testbedFlags) print(s testbed.Sweep, lines []testbed.Line) error {
	if len(lines) == 0 {
		return fmt.Errorf("there is no problem on which both the baseline %s and another agent were tried", f.baseline)
	}
	if f.draw != "" {
		p, err := plot.Leaderboard("", f.baseline, lines)
		if err != nil {
			return err
		}
		if err := plot.Save(p, f.draw); err != nil {
			return err
		}
	}
	if f.json {
		return printLines(lines...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "agent\ttau\tproblems\tmean KL, nats\tover %s, 95%%\taccuracy\tcalibration error\n", f.baseline)
	for _, l := range lines {
		se := &l.SE
		if math.IsNaN(float64(l.SE)) { // NaN for a single seed
			se = nil
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%v\t%s\t%s\n", l.Agent, l.Tau, l.Problems, plusMinus(&l.Mean, se, "%.4f"), l.Ratio,
			mark(l.Accuracy), mark(l.ECE))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	best := "Even the best possible agent scores above 0."
	if s.Kind == testbed.Functions {
		best = "The exact posterior scores 0."
	}
	fmt.Println("\n± is one standard error, from the means of seed classes.", best)
	return nil
}
