package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// slurmCluster starts Slurm on this machine until the test ends, and returns the variable that its commands need.
func slurmCluster(t *testing.T) (env string) {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s; on Debian `apt-get install slurm-wlm munge` installs it", name)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("Slurm's daemons are started as root, which this is not")
	}
	dir := must.M1(os.MkdirTemp("", "slurm")) // the path must be short: the name of a socket has at most 107 bytes
	script := must.M1(filepath.Abs("../lab/sweep/testdata/slurm-node.sh"))
	c := exec.Command(script, dir)
	var failed bytes.Buffer
	c.Stderr = &failed
	conf, err := c.Output()
	t.Cleanup(func() {
		_ = exec.Command(script, dir, "stop").Run()
		_ = os.RemoveAll(dir)
	})
	if err != nil {
		t.Fatalf("%s failed: %v\n%s", script, err, failed.String())
	}
	return "SLURM_CONF=" + strings.TrimSpace(string(conf))
}

// slurmSweep is a sweep of four shards that take a second each, or several on a slow machine.
var slurmSweep = []string{"gaussian", "--agent", "linear", "--set", "arms=5", "--set", "index-samples=4",
	"--set", "batch=32", "--set", "step-size=0.1,0.2",
	"--periods", "5000", "--runs", "4", "--shards", "4", "--batch-runs", "2", "--checkpoint-every", "100ms"}

// A job array runs every shard although two tasks are killed and all running tasks are preempted. Each of them
// is requeued and continues. No row is lost or duplicated. The merged results equal, byte for byte, the results of two
// workers without Slurm.
func TestSlurmArrayWithKilledAndPreemptedTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("waits 20 s for Slurm")
	}
	t.Parallel() // it waits for Slurm most of the time
	env := slurmCluster(t)
	hyper := func(args ...string) (stdout, stderr string) {
		t.Helper()
		c := command(t, args...) // sbatch passes the environment on: tasks run this binary as the command
		c.Env = append(c.Env, env)
		var out, errors bytes.Buffer
		c.Stdout, c.Stderr = &out, &errors
		if err := c.Run(); err != nil {
			t.Fatalf("hyper %s: %v: %s", strings.Join(args, " "), err, errors.String())
		}
		return out.String(), errors.String()
	}
	dir := filepath.Join(t.TempDir(), "swept")
	args := append([]string{"sweep", "--out", dir, "--engine", "slurm"}, slurmSweep...)
	if stdout, _ := hyper(args...); !strings.Contains(stdout, "shards 0-3;") {
		t.Errorf("submission: got %s, want a job of the shards 0-3", stdout)
	}
	if _, stderr := hyper(args...); !strings.Contains(stderr, "in the queue") {
		t.Errorf("second submission: got %s, want a note about the queue", stderr)
	}
	const killings = 2
	killed := map[int]bool{}
	interrupted := func() bool {
		events := must.M1(filepath.Glob(filepath.Join(dir, "*", "*", "events.jsonl")))
		return slices.ContainsFunc(events, func(path string) bool {
			return bytes.Contains(must.M1(os.ReadFile(path)), []byte(`"interrupted"`))
		})
	}
	plan := must.M1(sweep.Open(dir, knownExperiments))
	preempted := false
	waitFor(t, 6*time.Minute, func() bool {
		states := must.M1(plan.States(dir))
		for _, s := range states {
			// Kills a shard that has saved some results, and a second one after the preemption.
			if s.State == sweep.Running && s.Done > 0 && !killed[s.Shard] &&
				(len(killed) == 0 || preempted && len(killed) < killings) {
				killed[s.Shard] = true
				must.M(syscall.Kill(s.PID, syscall.SIGKILL))
			}
		}
		if len(killed) > 0 && !preempted && count(states, sweep.Running) > 0 {
			preempt(t, env)
			preempted = interrupted() // or again, if all tasks had ended
		}
		return count(states, sweep.Done) == len(states)
	})
	for _, s := range must.M1(plan.States(dir)) {
		if killed[s.Shard] && s.Starts < 2 {
			t.Errorf("shard %d was killed, but has %d starts", s.Shard, s.Starts)
		}
	}
	if len(killed) != killings || !preempted {
		t.Errorf("killed %v, want %d; running tasks were preempted: %v, want true", killed, killings, preempted)
	}
	want := filepath.Join(t.TempDir(), "local")
	hyper(append([]string{"sweep", "--out", want, "--workers", "2"}, slurmSweep...)...)
	for _, file := range []string{"all.jsonl", "piece.jsonl.gz"} {
		hyper("merge", dir, filepath.Join(dir, file))
		hyper("merge", want, filepath.Join(want, file))
		if !bytes.Equal(must.M1(os.ReadFile(filepath.Join(dir, file))),
			must.M1(os.ReadFile(filepath.Join(want, file)))) {
			t.Errorf("%s from Slurm differs from the file from two workers", file)
		}
	}
}

// preempt runs a job of a higher partition on the whole node.
func preempt(t *testing.T, env string) {
	t.Helper()
	c := exec.Command("srun", "--partition=high", "--exclusive", "--nodes=1", "--ntasks=1", "true")
	c.Env = append(os.Environ(), env)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("the preempting job failed: %v\n%s", err, out)
	}
}

func count(states []sweep.Status, what sweep.State) (n int) {
	for _, s := range states {
		if s.State == what {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, limit time.Duration, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(30 * time.Millisecond) {
		if time.Since(begin) > limit {
			t.Fatalf("the sweep did not end within %v", limit)
		}
	}
}
