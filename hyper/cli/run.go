package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// specFlags holds the flags that determine a Spec.
type specFlags struct {
	agents, sets  []string
	runs, periods int
	seed          uint64
	policy        string
	quick, full   bool
}

func (f *specFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.agents, "agent", nil, "agents to run, separated by commas: agents of the experiment, "+
		"other learners, or FILE.json (default: all agents of the experiment); see hyper list")
	flags.StringArrayVar(&f.sets, "set", nil,
		"KEY=V[,V...]: a value of a setting, or several values for a sweep; repeatable, see hyper list")
	flags.StringVar(&f.policy, "policy", "", strings.Join(catalog.Names(catalog.Policies()), ", ")+
		": the same as --set policy=...")
	flags.IntVar(&f.runs, "runs", 0, "number of independent runs of each agent and setting (default: depends on the size)")
	flags.IntVar(&f.periods, "periods", 0, "number of periods of each run (default: depends on the size)")
	flags.Uint64Var(&f.seed, "seed", 0, "run i has seed SEED+i, for every agent and setting")
	flags.BoolVar(&f.quick, "quick", false, "use the experiment's quick size (the default)")
	flags.BoolVar(&f.full, "full", false, "use the experiment's full size: the paper's, for experiments of the paper")
}

// spec returns the Spec of an experiment.
func (f *specFlags) spec(c *cobra.Command, name string) (lab.Spec, error) {
	name, own := table(name)
	x, err := experiment(name)
	if err != nil {
		return lab.Spec{}, err
	}
	size, err := f.size(c, x)
	if err != nil {
		return lab.Spec{}, err
	}
	x, agents, err := withFiles(x, f.agents)
	if err != nil {
		return lab.Spec{}, err
	}
	spec, err := x.Spec(agents, append(own, f.allSets()...), size, f.seed)
	if sets := f.unasked(size); err == nil && len(sets) > 0 {
		fmt.Fprintf(os.Stderr, "hyper: the quick size has %s; --full is the full size\n", strings.Join(sets, " "))
	}
	return spec, err
}

// unasked returns the settings of a quick size that the user neither chose by --quick nor replaced by --set.
func (f *specFlags) unasked(size lab.Size) (sets []string) {
	if f.quick || f.full {
		return nil
	}
	for _, set := range size.Sets {
		key, _, _ := strings.Cut(set, "=")
		if !slices.ContainsFunc(f.allSets(), func(given string) bool { return strings.HasPrefix(given, key+"=") }) {
			sets = append(sets, set)
		}
	}
	return sets
}

// size returns the experiment's size, changed by the flags.
func (f *specFlags) size(c *cobra.Command, x lab.Experiment) (lab.Size, error) {
	if f.quick && f.full {
		return lab.Size{}, errors.New("--quick and --full cannot be combined")
	}
	size := x.Quick
	if f.full {
		size = x.Full
	}
	if c.Flags().Changed("runs") {
		size.Runs = f.runs
	}
	if c.Flags().Changed("periods") {
		size.Periods = f.periods
	}
	return size, nil
}

// allSets returns the settings, including --policy.
func (f *specFlags) allSets() []string {
	if f.policy == "" {
		return f.sets
	}
	return append(slices.Clone(f.sets), "policy="+f.policy)
}

// experiment returns an experiment of hyper list.
func experiment(name string) (lab.Experiment, error) {
	if err := unknown("experiment", experiments(), name); err != nil {
		return lab.Experiment{}, err
	}
	return lab.Find(known, name)
}

// experiments returns the names of all experiments: those of the paper, of later work, and the worlds of the catalogue.
func experiments() []string {
	return slices.Concat(paper.Order, beyond.Order, catalog.Names(catalog.Worlds()))
}

// engineFlags holds the flags that determine how a Spec is run.
type engineFlags struct {
	backend            string
	workers, batchRuns int
	every              time.Duration
	json               bool
	mix                mixFlag
}

func (f *engineFlags) add(c *cobra.Command, resumed bool) {
	flags := c.Flags()
	if !resumed {
		flags.StringVar(&f.backend, "backend", "",
			"go, xla:cpu or xla:cuda (default: xla:cpu if its plugin is found, else go)")
		flags.IntVar(&f.batchRuns, "batch-runs", 0,
			"number of runs that one call advances together (default: depends on the backend)")
	}
	flags.IntVar(&f.workers, "workers", 0, "number of batches that run concurrently (default: one for each core; one on a GPU)")
	flags.DurationVar(&f.every, "checkpoint-every", 0, "time between checkpoints of a batch (default 20s)")
	f.mix.add(flags)
	flags.BoolVar(&f.json, "json", false,
		"print one JSON object per agent and setting as the last lines of standard output")
}

// check reports negative numbers.
func (f *engineFlags) check() error {
	if f.workers < 0 || f.batchRuns < 0 || f.every < 0 {
		return errors.New("--workers, --batch-runs and --checkpoint-every must not be negative")
	}
	return nil
}

func (f *engineFlags) options(dir string, p *progressBar) (lab.Options, error) {
	if err := f.check(); err != nil {
		return lab.Options{}, err
	}
	o := lab.Options{Dir: dir, Backend: f.backend, Workers: f.workers, BatchRuns: f.batchRuns, Every: f.every,
		Progress: p.update, Mix: f.mix.reporter()}
	if self, err := os.Executable(); err == nil {
		o.Process = []string{self, "worker"}
	}
	return o, nil
}

const runHelp = `run simulates agents in a world, and writes the results.

EXPERIMENT is an experiment of hyper list, or a CSV file with a header, or a Parquet file. In each period one row of the
file is the context. The actions are the values of the last column, or of --set target=COLUMN, and the row's own value
has reward 1. Four data sets are included: table --set data=digits, phishing, segment, shuttle. With --set
order=shuffled each row occurs once. With --set standardize=online numbers are scaled by the numbers that a run has seen.

An agent is one of the experiment's, another learner of hyper list parts, or FILE.json, which has a learner and its settings:
{"learner": "ensemble", "settings": {"particles": 30, "step-size": 0.02}}.`

func runCommand() *cobra.Command {
	var spec specFlags
	var engine engineFlags
	var out string
	c := &cobra.Command{
		Use:   "run EXPERIMENT|FILE.csv|FILE.parquet",
		Short: "Run agents on an experiment and write results",
		Long:  runHelp,
		Example: `  hyper run gaussian --quick
  hyper run gaussian --agent linear,ensemble --set arms=20 --set particles=10,100 --periods 2000 --runs 30
  hyper run neural --agent hypernetwork,mine.json
  hyper run rows.csv --agent linear
  hyper run table --set data=digits --set order=shuffled --periods 1797`,
		Args: argument("EXPERIMENT"),
	}
	c.Flags().StringVar(&out, "out", "", "folder for the results (default: a new one in hyper-out)")
	spec.add(c)
	spec.completes(c)
	c.ValidArgsFunction = completeFirst
	engine.add(c, false)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := spec.spec(c, args[0])
		if err != nil {
			return err
		}
		if out == "" {
			out = filepath.Join("hyper-out", s.Experiment+"-"+time.Now().Format("20060102-150405.000"))
		}
		if err := newFolder(out, lab.ResultsFile); err != nil {
			return err
		}
		return simulate(out, s, engine, func(o lab.Options) (lab.Progress, error) {
			return lab.Run(c.Context(), s, known, o)
		})
	}
	return c
}

func resumeCommand() *cobra.Command {
	var engine engineFlags
	c := &cobra.Command{
		Use:   "resume DIR",
		Short: "Continue unfinished results of a run",
		Args:  argument("DIR"),
	}
	engine.add(c, true)
	c.RunE = func(c *cobra.Command, args []string) error {
		h, _, err := lab.ReadResults(args[0], known)
		if err != nil {
			return err
		}
		return simulate(args[0], h.Spec, engine, func(o lab.Options) (lab.Progress, error) {
			return lab.Resume(c.Context(), known, o)
		})
	}
	return c
}

// work calls do with the options of the flags, and shows a progress bar.
func (f *engineFlags) work(dir string, do func(lab.Options) error) error {
	bar := newProgressBar(os.Stderr)
	defer bar.finish()
	o, err := f.options(dir, bar)
	if err != nil {
		return err
	}
	return do(o)
}

// simulate runs or resumes a Spec, and prints the outcome.
func simulate(dir string, spec lab.Spec, engine engineFlags, run func(lab.Options) (lab.Progress, error)) error {
	if inCell() {
		return simulateInCell(dir, spec, engine, run)
	}
	var p lab.Progress
	err := engine.work(dir, func(o lab.Options) (err error) {
		p, err = run(o)
		return err
	})
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintf(os.Stderr, "hyper: interrupted; all results are saved: `hyper resume %s` continues\n", dir)
	}
	if err != nil {
		return err
	}
	return printOutcome(dir, p, engine.json)
}

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker DIR SHARE CHUNK EVERY",
		Short:  "Advance batches of runs for a `hyper run` that started this process",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			_ = lab.Worker(c.Context(), os.Stdin, os.Stdout, known, args) // the parent prints the error
			return nil
		},
	}
}
