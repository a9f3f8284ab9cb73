package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

const sweepLong = `sweep runs many settings in shards. A shard is a part of the settings and seeds,
with a folder for the shard's results. A shard whose process has ended can be
continued, and gives the same bytes. The settings are

  a grid   EXPERIMENT --set KEY=V,V ...: every combination, as in hyper run
  random   EXPERIMENT --space KEY=LOW:HIGH ... --random N: N settings of one
           --agent, drawn as in hyper tune
  halving  EXPERIMENT --space KEY=LOW:HIGH ... --halving N: a search for one
           --agent, as in hyper tune
  a file   SPEC.json, which has {"experiment", "entries":
           [{"agent", "settings": {...}}], "periods", "runs", "seed"}

OUT/plan.json lists the shards, and never changes. If sweep is called again with
the same arguments, or as hyper sweep OUT, it continues; other arguments are an
error. hyper status OUT shows the progress, and hyper merge OUT FILE joins the
results. The bytes of the results do not depend on the engine, the number of
workers or interruptions. Settings that only differ in numbers that need no new
program (* in hyper list) are compiled once.

Engines:

  local        --workers processes on this machine. A process that is killed is
               replaced.
  slurm        a job array with a task for each shard, submitted by sbatch.
               Tasks that are killed or fail are requeued (--retries times).
               Tasks that are preempted, or near their --time, save their state
               on SIGTERM and are requeued. OUT must be on a file system that
               all nodes share.
  kubernetes   writes OUT/kubernetes.yaml, an Indexed Job, for kubectl apply -f.
               The volume of --claim, mounted at --mount, must contain OUT as
               --pod-dir. The volume must support appends, renames and locks, as
               NFS and CephFS do; S3 does through a file system with these
               operations.

With slurm and kubernetes each call runs one round of --halving: call hyper
sweep again when the round is done. --dry-run prints the shards, or the script
or manifest, and writes nothing.`

// settingFlags lists the flags that determine the settings of a sweep.
var settingFlags = []string{"agent", "set", "policy", "runs", "periods", "seed", "quick", "full", "space", "random"}

// settings returns the Spec of a grid, a random search or a file.
func (f *sweepFlags) settings(c *cobra.Command, what string) (lab.Spec, error) {
	if strings.HasSuffix(what, ".json") {
		why := "cannot be combined with " + what + ", which has the settings"
		if err := refuseFlags(c, why, settingFlags...); err != nil {
			return lab.Spec{}, err
		}
		text, err := os.ReadFile(what)
		if err != nil {
			return lab.Spec{}, err
		}
		spec, err := lab.ParseSpec(text, knownExperiments)
		if err == nil {
			err = sayTables(c.ErrOrStderr(), spec)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return spec, err
	}
	if f.random > 0 {
		t, err := f.tuning(c, what, f.random)
		if err != nil {
			return lab.Spec{}, err
		}
		return t.Spec(knownExperiments)
	}
	if len(f.space) > 0 {
		return lab.Spec{}, errors.New("--space needs --random N or --halving N, the number of settings to draw from it")
	}
	return f.spec.spec(c, what)
}

// search returns a search by halving.
func (f *sweepFlags) search(c *cobra.Command, name string, o sweep.Options) (sweep.Search, error) {
	if f.random > 0 {
		return sweep.Search{}, errors.New("--random and --halving cannot be combined")
	}
	t, err := f.tuning(c, name, f.halving)
	if err != nil {
		return sweep.Search{}, err
	}
	return sweep.NewSearch(t, knownExperiments, o)
}

// tuning returns the search that the flags describe.
func (f *sweepFlags) tuning(c *cobra.Command, name string, candidates int) (tune.Search, error) {
	if len(f.spec.agents) != 1 || len(f.space) == 0 {
		return tune.Search{}, errors.New("--random and --halving need one --agent and at least one --space")
	}
	t := tune.Search{Sets: f.spec.allSets(), Candidates: candidates, Seed: f.spec.seed, Least: f.least}
	x, err := searched(&t, name, f.spec.agents[0])
	if err != nil {
		return t, err
	}
	if t.Size, err = f.spec.size(c, x); err != nil {
		return t, err
	}
	if err := sayTable(c.ErrOrStderr(), x, t); err != nil {
		return t, err
	}
	if t.Space, err = dimensions(f.space); err != nil {
		return t, err
	}
	for _, set := range t.Size.Sets { // the file of the search has the Sets of a Search, and not those of a Size
		key, _, _ := strings.Cut(set, "=")
		given := slices.ContainsFunc(t.Sets, func(other string) bool { return strings.HasPrefix(other, key+"=") })
		if !given && !slices.ContainsFunc(t.Space, func(d tune.Dimension) bool { return d.Key == key }) {
			t.Sets = append(t.Sets, set)
		}
	}
	t.Size.Sets = nil
	return t, nil
}
