package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

type sweepFlags struct {
	spec            specFlags
	engine          engineFlags
	space           []string
	random, halving int
	least           bool
	out, engineName string
	shards          int
	dryRun          bool
	cluster         clusterFlags
}

func sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep EXPERIMENT|FILE.csv|FILE.parquet|SPEC.json|OUT",
		Short: "Run many settings in shards, on one machine or a cluster; hyper merge joins the results",
		Long:  sweepLong,
		Example: `  hyper sweep gaussian --agent linear --set arms=20 --set step-size=0.1,0.3,1 --runs 50 --out steps
  hyper sweep neural --agent linear --space step-size=0.001:1 --random 100 --out random --engine slurm
  hyper status steps && hyper merge steps steps.jsonl.gz && hyper compare steps.jsonl.gz`,
		Args: argument("EXPERIMENT, SPEC.json or the folder of a sweep"),
	}
	f.spec.add(c)
	flags := c.Flags()
	f.engine.addBatches(flags)
	f.engine.addContinuing(flags,
		"number of worker processes of the local engine (default: one for each core; one on a GPU)")
	flags.StringArrayVar(&f.space, "space", nil,
		"KEY=LOW:HIGH (logarithmic) or KEY=V,V,...: the values of a key to search; repeatable")
	flags.IntVar(&f.random, "random", 0, "draw N settings from --space")
	flags.IntVar(&f.halving, "halving", 0,
		"search among N settings from --space by successive halving; --runs and --periods are for the last round")
	flags.BoolVar(&f.least, "least", false,
		"with --halving: search for the least computation that performs well, like hyper tune --least")
	flags.StringVar(&f.out, "out", "", "folder of the sweep (required for a new one)")
	flags.StringVar(&f.engineName, "engine", "local", "local, slurm or kubernetes")
	flags.IntVar(&f.shards, "shards", 0, "approximate number of shards (default: 32, or fewer with one batch each)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the shards, the script or the manifest, and run nothing")
	f.cluster.add(flags)
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args[0]) }
	return c
}

func (f *sweepFlags) run(c *cobra.Command, what string) error {
	err := f.start(c, what)
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintf(c.ErrOrStderr(), "hyper: interrupted; all results are saved: `hyper sweep %s` continues\n",
			shell.Word(cmp.Or(f.out, what)))
	}
	return err
}

// start begins a sweep or a search, or continues a folder.
func (f *sweepFlags) start(c *cobra.Command, what string) error {
	if err := errors.Join(f.engine.check(), f.cluster.check(f.engineName, cmp.Or(f.out, what))); err != nil {
		return err
	}
	if f.engineName == "local" && !f.dryRun { // perhaps --engine is forgotten
		err := refuseFlags(c, "has no effect with --engine local", "cpus", "memory", "parallel", "time", "sbatch", "image",
			"claim", "mount", "pod-dir", "namespace")
		if err != nil {
			return err
		}
	}
	if isSweep(what) {
		return f.resume(c, what)
	}
	if err := sweepable(what); err != nil {
		return err
	}
	if f.out == "" && (!f.dryRun || f.engineName != "local") {
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
	return f.runSearch(c.Context(), c.OutOrStdout(), s, f.out)
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
		if err := p.Create(f.out, knownExperiments); err != nil {
			return err
		}
		if p, err = sweep.Open(f.out, knownExperiments); err != nil { // other code may have begun it
			return err
		}
	}
	p.Mix = f.engine.mix.reporter()
	return f.runPlan(c.Context(), c.OutOrStdout(), p, f.out, "")
}

// sweepable returns an error unless a new sweep can have this argument.
func sweepable(what string) error {
	name, _ := experimentOf(what)
	if strings.HasSuffix(what, ".json") || slices.Contains(experiments(), name) {
		return nil
	}
	if err := otherFile(what); err != nil {
		return err
	}
	return fmt.Errorf("%s is not an experiment%s, not a file of a Spec and not a folder of a sweep; the experiments "+
		"are %s", what, nearest.Hint(what, experiments()), strings.Join(experiments(), ", "))
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
