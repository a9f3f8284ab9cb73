package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// resume continues a sweep or a search.
func (f *sweepFlags) resume(c *cobra.Command, dir string) error {
	begun := slices.Concat(settingFlags, []string{"halving", "least", "out", "shards", "backend", "batch-runs"})
	if err := refuseFlags(c, "cannot change the sweep "+dir+", which has begun", begun...); err != nil {
		return err
	}
	s, err := sweep.OpenSearch(dir)
	if err == nil {
		s.Mix = f.engine.mix.reporter()
		return f.runSearch(c.Context(), c.OutOrStdout(), s, dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p, err := sweep.Open(dir, knownExperiments)
	if err != nil {
		return err
	}
	p.Mix = f.engine.mix.reporter()
	return f.runPlan(c.Context(), c.OutOrStdout(), p, dir, "")
}

// runSearch runs the rungs of a search. With a scheduler it only starts the next rung.
func (f *sweepFlags) runSearch(ctx context.Context, w io.Writer, s sweep.Search, dir string) error {
	if f.dryRun {
		spec, err := s.Tuning.Spec(knownExperiments)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "hyper: a search has several rounds; these are all settings, at the size of the last "+
			"round")
		p, err := sweep.New(spec, s.Options)
		if err != nil {
			return err
		}
		return f.runPlan(ctx, w, p, dir, "")
	}
	t, err := s.Run(dir, knownExperiments, func(rung string, p sweep.Plan) error {
		if _, _, err := p.Rows(rung, knownExperiments); err == nil {
			return nil
		}
		if err := f.runPlan(ctx, w, p, dir, filepath.Base(rung)); err != nil || f.engineName == "local" {
			return err
		}
		return errLater
	})
	if errors.Is(err, errLater) {
		fmt.Fprintf(os.Stderr, "when this round is done, `hyper sweep %s --engine %s` starts the next round\n",
			shell.Word(dir), f.engineName)
		return nil
	}
	if err != nil {
		return err
	}
	return printTuning(w, t, "")
}

// errLater means that a scheduler runs the shards after hyper has ended.
var errLater = errors.New("later")

// runPlan runs the shards of a plan, or submits them. The plan is of a sweep in a folder, or of a round of the search
// there: round is then the name of the round's folder.
func (f *sweepFlags) runPlan(ctx context.Context, w io.Writer, p sweep.Plan, dir, round string) error {
	switch {
	case f.engineName == "slurm":
		return f.cluster.slurm(ctx, w, p, filepath.Join(dir, round), f.engine, f.dryRun)
	case f.engineName == "kubernetes":
		return f.cluster.kubernetes(w, p, dir, round, f.engine, f.dryRun)
	case f.dryRun:
		return printPlan(w, p)
	}
	return f.runLocal(ctx, p, filepath.Join(dir, round))
}

// runLocal runs the shards of a plan in processes on this machine.
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
	bar := newProgressBar()
	l := sweep.Local{Command: f.engine.shardArgs(self, "--serve"), Workers: workers, Retries: f.cluster.retries,
		Progress: bar.update}
	err = l.Run(ctx, p, dir)
	bar.finish()
	if err != nil {
		return failed(err)
	}
	fmt.Fprintf(os.Stderr, "%d shards done: `hyper merge %s FILE.jsonl.gz` joins them\n", len(p.Shards),
		shell.Word(dir))
	return nil
}

// shardArgs returns the command line that runs shards.
func (f engineFlags) shardArgs(self string, more ...string) []string {
	args := append([]string{self, "shard"}, more...)
	if f.every > 0 {
		args = append(args, "--checkpoint-every", f.every.String())
	}
	if f.mix {
		args = append(args, "--mix")
	}
	return args
}

func printPlan(w io.Writer, p sweep.Plan) error {
	for n, s := range p.Shards {
		spec := p.ShardSpec(n)
		fmt.Fprintf(w, "shard %d: %d settings of %s, %d runs from seed %d, %d periods\n", n, len(s.Entries),
			spec.Entries[0].Agent, s.Runs, spec.Seed, spec.Periods)
	}
	_, err := fmt.Fprintf(w, "%d shards, %d settings, %d runs each, on %s\n", len(p.Shards), len(p.Spec.Entries),
		p.Spec.Runs, p.Backend)
	return err
}
