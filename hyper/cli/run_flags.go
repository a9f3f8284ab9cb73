package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
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
	flags.IntVar(&f.runs, "runs", 0,
		"number of independent runs of each agent and setting (default: depends on the size)")
	flags.IntVar(&f.periods, "periods", 0, "number of periods of each run (default: depends on the size)")
	flags.Uint64Var(&f.seed, "seed", 0, "run i has seed SEED+i, for every agent and setting")
	flags.BoolVar(&f.quick, "quick", false, "use the experiment's quick size (the default)")
	flags.BoolVar(&f.full, "full", false, "use the experiment's full size: the paper's, for experiments of the paper")
}

func (f *specFlags) spec(c *cobra.Command, name string) (lab.Spec, error) {
	name, own := experimentOf(name)
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
	if err == nil {
		err = sayTables(c.ErrOrStderr(), spec)
	}
	if sets := f.unasked(size); err == nil && len(sets) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "hyper: the quick size has %s; --full is the full size\n", strings.Join(sets, " "))
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

// engineFlags holds the flags that determine how a Spec is run.
type engineFlags struct {
	backend            string
	workers, batchRuns int
	every              time.Duration
	json               bool
	mix                mixFlag
}

// Usages of flags of several commands.
const (
	backendUsage = "go, xla:cpu or xla:cuda (default: xla:cpu if its plugin is found, else go)"
	workersUsage = "number of batches that run concurrently (default: one for each core; one on a GPU)"
	jsonUsage    = "print one JSON object per agent and setting as the last lines of standard output"
)

// addBatches adds the flags that determine the batches of new results.
func (f *engineFlags) addBatches(flags *pflag.FlagSet) {
	flags.StringVar(&f.backend, "backend", "", backendUsage)
	flags.IntVar(&f.batchRuns, "batch-runs", 0,
		"number of runs that one call advances together (default: depends on the backend)")
}

func (f *engineFlags) addWorkers(flags *pflag.FlagSet, usage string) {
	flags.IntVar(&f.workers, "workers", 0, usage)
}

// addContinuing adds the flags of a command that saves checkpoints, and continues results. usage is about --workers.
func (f *engineFlags) addContinuing(flags *pflag.FlagSet, usage string) {
	f.addWorkers(flags, usage)
	flags.DurationVar(&f.every, "checkpoint-every", 0, "time between checkpoints of a batch (default 20s)")
	f.mix.add(flags)
}

func (f *engineFlags) addJSON(flags *pflag.FlagSet, usage string) {
	flags.BoolVar(&f.json, "json", false, usage)
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

// work calls do with the options of the flags, and shows a progress bar.
func work[T any](f engineFlags, dir string, do func(lab.Options) (T, error)) (result T, err error) {
	bar := newProgressBar()
	defer bar.finish()
	o, err := f.options(dir, bar)
	if err != nil {
		return result, err
	}
	return do(o)
}
