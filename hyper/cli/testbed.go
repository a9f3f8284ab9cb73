package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

type testbedFlags struct {
	agents, show, regret  []string
	seeds, steps          int
	options               testbed.Options
	out, baseline, figure string
	json                  bool
}

func (f *testbedFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.agents, "agent", nil,
		"agents, separated by commas: agents of the testbed, or FILE.json with a learner and its settings "+
			"(default: mlp,epinet)")
	flags.IntVar(&f.seeds, "seeds", 1,
		"number of seeds of each setting of D, T and rho or sigma: the first seeds of the sweep")
	flags.IntVar(&f.steps, "steps", 1000, "number of SGD steps of agents from FILE.json; multiples of 50 are fastest")
	flags.IntVar(&f.options.Batches, "batches", 1000, "number of batches of test inputs; the testbed has 1000")
	flags.IntSliceVar(&f.options.Taus, "tau", nil,
		"numbers of labels that are predicted together; more than 10, for example 100, are estimated by random "+
			"projection (default 1,10; regression only has 1)")
	flags.IntVar(&f.options.Side, "side", 10, "maximum number of problems of one shape that are learned side by side")
	flags.IntVar(&f.options.Workers, "workers", 0,
		"number of concurrent processes on xla:cpu (default: one for each core)")
	flags.StringVar(&f.options.Backend, "backend", "", backendUsage)
	flags.StringVar(&f.out, "out", "",
		"FILE: the results; after an interruption the same call continues them (default hyper-out/testbed/SWEEP.jsonl)")
	flags.StringSliceVar(&f.show, "show", nil,
		"FILE,...: show the leaderboard of these results, and evaluate no agents")
	flags.StringSliceVar(&f.regret, "regret", nil,
		"FILE,...: study files of the same agents in a bandit; print the correlation of regret and divergence")
	flags.StringVar(&f.baseline, "baseline", "mlp", "the agent to which the others are compared")
	flags.StringVar(&f.figure, "figure", "", "path of figures of the leaderboard, .png and .svg")
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each agent and tau")
}

func testbedCommand() *cobra.Command {
	var f testbedFlags
	names := slices.Sorted(maps.Keys(testbed.Known))
	c := &cobra.Command{
		Use:   "testbed SWEEP",
		Short: "Score agents by their joint predictions on the Neural Testbed",
		Long: `testbed trains agents on the problems of a sweep of the Neural Testbed (Osband
et al. 2022). For each agent it estimates the KL divergence of the agent's joint
predictions of tau = 1 and tau = 10 labels (--tau) from the truth, in nats.
testbed prints the means over problems, and each mean divided by the mean of a
baseline on the same problems. With --regret it also prints the regrets in a
bandit, and the correlation of the regrets with the divergences.

In an agent's FILE.json these settings have no effect, because testbed sets
them: sgd-steps (see --steps), loss, perturbation for classes, and noise-variance
and standardize-rewards for responses.

In the sweeps regression and enn_paper agents predict a response, whose truth is
drawn from a Gaussian process. regression compares predictions to the truth, and
enn_paper compares functions to the exact posterior, which scores 0. Each
process needs minutes and 2 GB to draw a problem with inputs of 100 numbers and
10,000 data.

Sweeps: ` + strings.Join(names, ", ") + `.
Agents: ` + strings.Join(testbedAgents(testbed.Classification2D()), ", ") + `.`,
		Example: `  hyper testbed classification_2d --agent mlp,epinet --seeds 1
  hyper testbed classification --agent mlp,mine.json --steps 2000
  hyper testbed enn_paper --agent ensemble,ensemble+,hypermodel --seeds 1 --baseline ensemble`,
		Args: argument("SWEEP"),
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkKnown("sweep", names, args[0]); err != nil {
			return err
		}
		s := testbed.Known[args[0]]()
		if len(f.show) > 0 {
			err := refuseFlags(c, "cannot be combined with --show, which evaluates no agents",
				"agent", "seeds", "steps", "batches", "tau", "side", "workers", "backend", "out")
			if err != nil {
				return err
			}
		}
		var h lab.Header
		var rows []lab.Row
		if len(f.regret) > 0 { // before the agents are trained, which may take hours
			var err error
			if h, rows, err = analysis.Read(knownExperiments, f.regret...); err != nil {
				return err
			}
		}
		results, err := f.results(c.Context(), notes(c), s)
		if err != nil {
			return err
		}
		if len(f.regret) > 0 {
			return f.relate(c.OutOrStdout(), s, results, h, rows)
		}
		return f.print(c.OutOrStdout(), s, testbed.Leaderboard(s, results, f.baseline))
	}
	return c
}

func testbedAgents(s testbed.Sweep) (names []string) {
	for _, a := range testbed.Agents(s) {
		names = append(names, a.Name)
	}
	return names
}

// results reads the results of --show, or evaluates the agents.
func (f *testbedFlags) results(ctx context.Context, w io.Writer, s testbed.Sweep) (all []testbed.Result, err error) {
	if len(f.show) == 0 {
		return f.evaluate(ctx, w, s)
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

// evaluate trains and scores the agents on the problems that have no results yet, and prints the name of the file of
// results to w.
func (f *testbedFlags) evaluate(ctx context.Context, w io.Writer, s testbed.Sweep) ([]testbed.Result, error) {
	agents, err := f.chosen(s)
	if err != nil {
		return nil, err
	}
	if err := f.setDefaults(s); err != nil {
		return nil, err
	}
	record, err := testbed.OpenRecord(f.out, testbed.Header{Sweep: s.Name, Batches: f.options.Batches,
		Backend: f.options.Backend, Provenance: lab.ThisProvenance(f.options.Backend), Machine: process.ThisMachine()})
	if err != nil {
		return nil, err
	}
	defer func() { _ = record.Close() }()
	if err := f.checkBaseline(agents, record.Results); err != nil {
		return nil, err
	}
	options := func(a testbed.Agent, remaining testbed.Sweep) (o testbed.Options, err error) {
		o = f.options
		o.Process, err = f.worker(a, remaining)
		return o, err
	}
	err = record.Try(ctx, agents, s.Few(f.seeds), f.options.Taus, options, func(a testbed.Agent, done, of int) {
		fmt.Fprintf(os.Stderr, "%s: %d of %d problems\n", a.Name, done, of)
	})
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "hyper: interrupted; all results are in %s, and the same command continues\n", f.out)
		return nil, lab.ErrInterrupted
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "results in %s\n", f.out)
	return record.Results, nil
}

// mostBatches bounds the memory: regression has a matrix of batches x batches numbers.
const mostBatches = 10_000

// setDefaults sets the flags that are not given, and returns an error if a value is out of range.
func (f *testbedFlags) setDefaults(s testbed.Sweep) error {
	switch {
	case f.seeds < 1 || f.seeds > s.Seeds:
		return fmt.Errorf("--seeds must be from 1 to %d, the number in the sweep, got %d", s.Seeds, f.seeds)
	case f.options.Batches < 1 || f.options.Batches > mostBatches:
		return fmt.Errorf("--batches must be from 1 to %d, got %d", mostBatches, f.options.Batches)
	case f.options.Side < 1 || f.steps < 1 || f.options.Workers < 0:
		return errors.New("--side and --steps must be at least 1, and --workers at least 0")
	}
	if f.options.Taus == nil {
		f.options.Taus = s.Taus()
	}
	if err := s.CheckTaus(f.options.Taus); err != nil {
		return fmt.Errorf("--%w", err)
	}
	f.options.Backend = cmp.Or(f.options.Backend, backend.Default())
	f.out = cmp.Or(f.out, filepath.Join("hyper-out", "testbed", s.Name+".jsonl"))
	return nil
}

// checkBaseline returns an error if the leaderboard would have no baseline.
func (f *testbedFlags) checkBaseline(agents []testbed.Agent, results []testbed.Result) error {
	if len(f.regret) > 0 || slices.ContainsFunc(agents, func(a testbed.Agent) bool { return a.Name == f.baseline }) ||
		slices.ContainsFunc(results, func(r testbed.Result) bool { return r.Agent == f.baseline }) {
		return nil
	}
	return fmt.Errorf("the baseline %s is not one of the agents, and %s has no results of it: add it to --agent, or "+
		"choose another --baseline", f.baseline, f.out)
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
		same := func(b testbed.Agent) bool { return a.Name == b.Name }
		if slices.ContainsFunc(agents, same) || a.Made != "" && slices.ContainsFunc(testbed.Agents(s), same) {
			return nil, fmt.Errorf("--agent: there are two agents with the name %s; rename the file of one", a.Name)
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
		return testbed.Agent{}, checkKnown("agent", testbedAgents(s), name)
	}
	return all[at], nil
}

// own returns the agent of a learner's file.
func (f *testbedFlags) own(s testbed.Sweep, path string) (a testbed.Agent, err error) {
	kind, settings, err := readLearner(path)
	if err == nil {
		a, err = testbed.FromCatalog(s, ownName(path), kind, settings, f.steps)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}
