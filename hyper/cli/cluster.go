package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// clusterFlags holds the resources that a scheduler gives to each shard.
type clusterFlags struct {
	cpus, parallel, retries             int
	memory, time                        string
	sbatch                              []string
	image, claim, mount, dir, namespace string
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.retries, "retries", 3,
		"number of times that a shard is tried again after its worker, task or pod has failed")
	flags.IntVar(&f.cpus, "cpus", 1, "slurm, kubernetes: number of cores for each shard")
	flags.StringVar(&f.memory, "memory", "",
		"slurm, kubernetes: memory for each shard, such as 2G (slurm) or 2Gi (kubernetes)")
	flags.IntVar(&f.parallel, "parallel", 0,
		"slurm, kubernetes: maximum number of shards at once (default: no maximum)")
	flags.StringVar(&f.time, "time", "",
		"slurm: time limit of a task; a shard that needs more time saves its state and is requeued")
	flags.StringArrayVar(&f.sbatch, "sbatch", nil, "slurm: an option for sbatch, such as --partition=night; repeatable")
	flags.StringVar(&f.image, "image", "hypermodels", "kubernetes: the image, see docker/")
	flags.StringVar(&f.claim, "claim", "", "kubernetes: the PersistentVolumeClaim with the sweep's folder (required)")
	flags.StringVar(&f.mount, "mount", "/results", "kubernetes: the folder in pods where the volume is mounted")
	flags.StringVar(&f.dir, "pod-dir", "",
		"kubernetes: the sweep's folder in the pods (default: its name below the mount)")
	flags.StringVar(&f.namespace, "namespace", "", "kubernetes: the Job's namespace (default: kubectl's)")
}

// check returns an error about the flags of an engine, for a sweep in a folder.
func (f *clusterFlags) check(engine, dir string) error {
	errs := []error{checkKnown("engine", []string{"local", "slurm", "kubernetes"}, engine)}
	if f.cpus < 1 || f.retries < 0 || f.parallel < 0 {
		errs = append(errs, errors.New("--cpus must be at least 1, --retries and --parallel not negative"))
	}
	if engine == "kubernetes" {
		k, err := f.job(dir, "")
		errs = append(errs, err, k.Validate())
	}
	for _, s := range append([]string{f.time, f.memory}, f.sbatch...) {
		if strings.ContainsAny(s, "\n\r") {
			errs = append(errs, fmt.Errorf("%q: an option must be one line", s))
		}
	}
	return errors.Join(errs...)
}

// task returns the resources of a shard that runs by a command.
func (f *clusterFlags) task(command []string) sweep.Task {
	command = append(command, "--workers", fmt.Sprint(f.cpus))
	return sweep.Task{Command: command, CPUs: f.cpus, Memory: f.memory, Parallel: f.parallel, Retries: f.retries}
}

// slurm submits the remaining shards of a sweep, or prints the script.
func (f *clusterFlags) slurm(ctx context.Context, w io.Writer, p sweep.Plan, dir string, engine engineFlags,
	dryRun bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s := sweep.Slurm{Task: f.task(engine.shardArgs(self)), Time: f.time, Options: f.sbatch}
	due, err := s.Due(p, dir)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		fmt.Fprintf(os.Stderr, "all shards of %s are done, running or in the queue; see `hyper status %s`\n", dir,
			shell.Word(dir))
		return nil
	}
	if dryRun {
		text, err := s.Script(dir, due)
		fmt.Fprint(w, text)
		return err
	}
	job, err := s.Submit(ctx, dir, due)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "job %s: shards %s; `hyper status %s` shows the progress\n", job, sweep.Ranges(due), shell.Word(dir))
	return nil
}

// job returns the Job of a sweep in a folder, or of a round of the search there, without its Task. round is the name of
// the round's folder, or "".
func (f *clusterFlags) job(dir, round string) (sweep.Kubernetes, error) {
	full, err := filepath.Abs(dir)
	inside := path.Join(cmp.Or(f.dir, path.Join(f.mount, filepath.Base(full))), round)
	return sweep.Kubernetes{Image: f.image, Claim: f.claim, Mount: f.mount, Dir: inside, Namespace: f.namespace}, err
}

// kubernetes writes the manifest of a sweep or a round, or prints it.
func (f *clusterFlags) kubernetes(w io.Writer, p sweep.Plan, dir, round string, engine engineFlags, dryRun bool) error {
	k, err := f.job(dir, round)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, round)
	k.Task = f.task(engine.shardArgs("hyper"))
	text, err := k.Manifest(p)
	if err != nil {
		return err
	}
	if dryRun {
		fmt.Fprint(w, string(text))
		return nil
	}
	file := filepath.Join(dir, "kubernetes.yaml")
	if err := saved.WriteFile(file, text); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s: put %s into the volume as %s, then start with `kubectl apply -f %s`\n", file, dir, k.Dir,
		file)
	return nil
}
