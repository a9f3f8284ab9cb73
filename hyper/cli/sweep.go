package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// sweepFlags holds the flags of hyper sweep.
type sweepFlags struct {
	spec            specFlags
	engine          engineFlags
	space           []string
	random, halving int
	least           bool
	out, name       string // name is the engine's name
	shards          int
	dryRun          bool
	cluster         clusterFlags
}

func sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep EXPERIMENT|SPEC.json|OUT",
		Short: "Run many settings in shards, on one machine or a cluster; hyper merge joins the results",
		Long:  sweepLong,
		Example: `  hyper sweep gaussian --agent linear --set arms=20 --set step-size=0.1,0.3,1 --runs 50 --out steps
  hyper sweep neural --agent linear --space step-size=0.001:1 --random 100 --out random --engine slurm
  hyper status steps && hyper merge steps steps.jsonl.gz && hyper compare steps.jsonl.gz`,
		Args: argument("EXPERIMENT, SPEC.json or the folder of a sweep"),
	}
	f.spec.add(c)
	f.engine.add(c, false)
	flags := c.Flags()
	flags.Lookup("workers").Usage = "number of worker processes of the local engine (default: one for each core; one on a GPU)"
	flags.StringArrayVar(&f.space, "space", nil,
		"KEY=LOW:HIGH (logarithmic) or KEY=V,V,...: the values of a key to search; repeatable")
	flags.IntVar(&f.random, "random", 0, "draw N settings from --space")
	flags.IntVar(&f.halving, "halving", 0,
		"search among N settings from --space by successive halving; --runs and --periods are for the last round")
	flags.BoolVar(&f.least, "least", false,
		"with --halving: search for the least computation that performs well, like hyper tune --least")
	flags.StringVar(&f.out, "out", "", "folder of the sweep (required for a new one)")
	flags.StringVar(&f.name, "engine", "local", "local, slurm or kubernetes")
	flags.IntVar(&f.shards, "shards", 0, "approximate number of shards (default: 32, or fewer with one batch each)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the shards, the script or the manifest, and run nothing")
	f.cluster.add(flags)
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args[0]) }
	return c
}

func (f *sweepFlags) run(c *cobra.Command, what string) error {
	if err := errors.Join(f.engine.check(), f.cluster.check(f.name, cmp.Or(f.out, what))); err != nil {
		return err
	}
	if isSweep(what) {
		return f.goOn(c, what)
	}
	if err := sweepable(what); err != nil {
		return err
	}
	if f.out == "" && (!f.dryRun || f.name != "local") {
		return errors.New("--out must be given: the folder of the sweep")
	}
	if f.least && f.halving == 0 {
		return errors.New("--least needs --halving N, the number of settings to search")
	}
	o := sweep.Options{Backend: f.engine.backend, BatchRuns: f.engine.batchRuns, Shards: f.shards}
	if f.halving > 0 {
		return f.newSearch(c, what, o)
	}
	return f.newPlan(c, what, o)
}

// newSearch begins a search.
func (f *sweepFlags) newSearch(c *cobra.Command, name string, o sweep.Options) error {
	s, err := f.search(c, name, o)
	if err != nil {
		return err
	}
	s.Mix = f.engine.mix.reporter()
	if !f.dryRun {
		if err := newFolder(f.out, sweep.SearchFile); err != nil {
			return err
		}
		if err := s.Create(f.out); err != nil {
			return err
		}
	}
	return f.runSearch(c.Context(), s, f.out)
}

// newPlan begins a grid, a random search or the settings of a file.
func (f *sweepFlags) newPlan(c *cobra.Command, what string, o sweep.Options) error {
	spec, err := f.settings(c, what)
	if err != nil {
		return err
	}
	p, err := sweep.New(spec, o)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := newFolder(f.out, sweep.PlanFile); err != nil {
			return err
		}
		if err := p.Create(f.out, known); err != nil {
			return err
		}
		if p, err = sweep.Open(f.out, known); err != nil { // other code may have begun it
			return err
		}
	}
	p.Mix = f.engine.mix.reporter()
	return f.runPlan(c.Context(), p, f.out)
}

// sweepable returns an error unless a new sweep can have this argument.
func sweepable(what string) error {
	name, _ := table(what)
	if strings.HasSuffix(what, ".json") || slices.Contains(experiments(), name) {
		return nil
	}
	return fmt.Errorf("%s is not an experiment%s, not a file of a Spec and not a folder of a sweep; the experiments are %s", what,
		nearest.Hint(what, experiments()), strings.Join(experiments(), ", "))
}

// isSweep reports whether a path is the folder of a sweep or a search.
func isSweep(path string) bool {
	for _, name := range []string{sweep.PlanFile, sweep.SearchFile} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return true
		}
	}
	return false
}

// goOn continues a sweep or a search.
func (f *sweepFlags) goOn(c *cobra.Command, dir string) error {
	begun := append(settingFlags, "halving", "least", "out", "shards", "backend", "batch-runs")
	if err := fixed(c, dir+" is a sweep that has begun: %s cannot change it", begun...); err != nil {
		return err
	}
	s, err := sweep.OpenSearch(dir)
	if err == nil {
		s.Mix = f.engine.mix.reporter()
		return f.runSearch(c.Context(), s, dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p, err := sweep.Open(dir, known)
	if err != nil {
		return err
	}
	p.Mix = f.engine.mix.reporter()
	return f.runPlan(c.Context(), p, dir)
}

// runSearch runs the rungs of a search. With a scheduler it only starts the next rung.
func (f *sweepFlags) runSearch(ctx context.Context, s sweep.Search, dir string) error {
	if f.dryRun {
		spec, err := s.Tuning.Spec(known)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "hyper: a search has several rounds; this shows all its settings at the size of the last round")
		p, err := sweep.New(spec, s.Options)
		if err != nil {
			return err
		}
		return f.runPlan(ctx, p, dir)
	}
	t, err := s.Run(dir, known, func(rung string, p sweep.Plan) error {
		if _, _, err := p.Rows(rung, known); err == nil {
			return nil
		}
		if err := f.runPlan(ctx, p, rung); err != nil || f.name == "local" {
			return err
		}
		return errLater
	})
	if errors.Is(err, errLater) {
		fmt.Fprintf(os.Stderr, "when this round is done, `hyper sweep %s --engine %s` starts the next\n", dir, f.name)
		return nil
	} else if err != nil {
		return err
	}
	return printTuning(t)
}

// errLater means that a scheduler runs the shards after hyper has ended.
var errLater = errors.New("later")

// runPlan runs the shards of a plan, or submits them.
func (f *sweepFlags) runPlan(ctx context.Context, p sweep.Plan, dir string) error {
	switch {
	case f.name == "slurm":
		return f.cluster.slurm(ctx, p, dir, f.engine, f.dryRun)
	case f.name == "kubernetes":
		return f.cluster.kubernetes(p, dir, f.engine, f.dryRun)
	case f.dryRun:
		return printPlan(p)
	}
	return f.runLocal(ctx, p, dir)
}

func (f *sweepFlags) runLocal(ctx context.Context, p sweep.Plan, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	workers := f.engine.workers
	if workers == 0 {
		workers = runtime.NumCPU()
		if p.Backend == backend.XLACUDA {
			workers = 1
		}
	}
	bar := newProgressBar(os.Stderr)
	l := sweep.Local{Command: f.engine.shardCommand(self, "--serve"), Workers: workers, Retries: f.cluster.retries,
		Progress: bar.update}
	err = l.Run(ctx, p, dir)
	bar.finish()
	switch {
	case errors.Is(err, lab.ErrInterrupted):
		fmt.Fprintf(os.Stderr, "hyper: interrupted; all results are saved: `hyper sweep %s` continues\n", dir)
		return err
	case errors.Is(err, lab.ErrMixed):
		return err
	case err != nil:
		return failure{err}
	}
	fmt.Fprintf(os.Stderr, "%d shards done: `hyper merge %s FILE.jsonl.gz` joins them\n", len(p.Shards), dir)
	return nil
}

// shardCommand returns the command line that runs shards.
func (f engineFlags) shardCommand(self string, more ...string) []string {
	args := append([]string{self, "shard"}, more...)
	if f.every > 0 {
		args = append(args, "--checkpoint-every", f.every.String())
	}
	if f.mix {
		args = append(args, "--mix")
	}
	return args
}

// printPlan prints the shards of a sweep.
func printPlan(p sweep.Plan) error {
	for n, s := range p.Shards {
		spec := p.ShardSpec(n)
		fmt.Printf("shard %d: %d settings of %s, %d runs from seed %d, %d periods\n", n, len(s.Entries),
			spec.Entries[0].Agent, s.Runs, spec.Seed, spec.Periods)
	}
	_, err := fmt.Printf("%d shards, %d settings, %d runs each, on %s\n", len(p.Shards),
		len(p.Spec.Entries), p.Spec.Runs, p.Backend)
	return err
}
