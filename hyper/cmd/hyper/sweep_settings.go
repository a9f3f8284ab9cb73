package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

const sweepLong = `sweep runs many settings in shards. A shard is some settings and seeds, with a folder of
its own results. Whatever ends its process, the shard is resumed to the same bytes. The settings are

  a grid     hyper sweep EXPERIMENT --set KEY=V,V ...    every combination, as hyper run takes them
  random     --space KEY=LOW:HIGH ... --random N         N settings of one --agent, as hyper tune draws them
  halving    --space KEY=LOW:HIGH ... --halving N        a search for one --agent, as hyper tune does
  a file     hyper sweep SPEC.json                       {"experiment", "entries": [{"agent", "settings": {...}}],
                                                         "periods", "runs", "seed"}

OUT/plan.json lists the shards, and never changes. Called again with the same arguments, or as hyper sweep OUT,
sweep does what is left; with other arguments it refuses. hyper status OUT tells how far it is, and hyper merge
OUT FILE joins the results: the same bytes whatever the engine, the number of workers and what interrupted them.
Settings that differ in numbers that shape nothing (* in hyper list) share a compilation.

Engines:

  local        --workers processes of this machine. One that is killed is replaced.
  slurm        a job array of one task a shard, submitted by sbatch. Tasks that are killed or fail are requeued
               (--retries times). Tasks that are preempted, or near their --time, save on SIGTERM and are
               requeued. OUT must be on a file system that all nodes share.
  kubernetes   writes OUT/kubernetes.yaml, an Indexed Job, for kubectl apply -f. The volume of --claim, mounted at
               --mount, must hold OUT as --pod-dir, and must take appends, renames and locks: NFS and CephFS do;
               S3 does through a file system that has them.

With slurm and kubernetes each call does one round of --halving: when it is done, call again. --dry-run writes
nothing: it prints what would be run, or the script or manifest.`

// settingFlags say what a sweep is to run.
var settingFlags = []string{"agent", "set", "policy", "runs", "periods", "seed", "quick", "full", "space", "random"}

// settings makes the Spec of a grid, a random search or a file.
func (f *sweepFlags) settings(c *cobra.Command, what string) (lab.Spec, error) {
	if strings.HasSuffix(what, ".json") {
		if err := fixed(c, what+" says what to run: %s cannot be given with it", settingFlags...); err != nil {
			return lab.Spec{}, err
		}
		text, err := os.ReadFile(what)
		if err != nil {
			return lab.Spec{}, err
		}
		spec, _, err := lab.ParseSpec(text, paper.Known)
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
		return t.Spec(paper.Known)
	}
	if len(f.space) > 0 {
		return lab.Spec{}, errors.New("--space needs --random N or --halving N: how many settings to draw from it")
	}
	return f.spec.spec(c, what)
}

// search makes a search by halving.
func (f *sweepFlags) search(c *cobra.Command, name string, o sweep.Options) (sweep.Search, error) {
	if f.random > 0 {
		return sweep.Search{}, errors.New("--random and --halving exclude each other")
	}
	t, err := f.tuning(c, name, f.halving)
	if err != nil {
		return sweep.Search{}, err
	}
	return sweep.NewSearch(t, paper.Known, o)
}

// tuning is the space to draw settings from.
func (f *sweepFlags) tuning(c *cobra.Command, name string, candidates int) (lab.Tuning, error) {
	x, err := experiment(name)
	if err != nil {
		return lab.Tuning{}, err
	}
	if len(f.spec.agents) != 1 || len(f.space) == 0 {
		return lab.Tuning{}, errors.New("--random and --halving need one --agent and at least one --space")
	}
	size, err := f.spec.size(c, x)
	if err != nil {
		return lab.Tuning{}, err
	}
	space, err := dimensions(f.space)
	return lab.Tuning{Experiment: name, Agent: f.spec.agents[0], Sets: f.spec.allSets(), Space: space,
		Candidates: candidates, Size: size, Seed: f.spec.seed, Least: f.least}, err
}
