package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// slurmCluster starts Slurm on this machine until the test ends.
func slurmCluster(t *testing.T) {
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
	t.Setenv("SLURM_CONF", strings.TrimSpace(string(conf)))
	t.Setenv("HYPER_TEST_COMMAND", "1") // sbatch passes the environment on: tasks run this binary as the command
	t.Setenv("HYPER_BACKEND", backend.Go)
}

// slurmSweep is a sweep of four shards that take a second each.
var slurmSweep = []string{"gaussian", "--agent", "linear", "--set", "arms=5", "--set", "index-samples=4",
	"--set", "batch=32", "--set", "step-size=0.1,0.2",
	"--periods", "1000", "--runs", "4", "--shards", "4", "--batch-runs", "2", "--checkpoint-every", "100ms"}

// A job array runs every shard although two tasks are killed and all running tasks are preempted. Each of them
// is requeued and continues. No row is lost or duplicated. The merged results equal, byte for byte, the results of two
// workers without Slurm.
func TestSlurmArrayWithKilledAndPreemptedTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	slurmCluster(t)
	dir := filepath.Join(t.TempDir(), "swept")
	args := append([]string{"sweep", "--out", dir, "--engine", "slurm"}, slurmSweep...)
	prints(t, args, "shards 0-3;")
	if status, _, stderr := call(t, args...); status != 0 || !strings.Contains(stderr, "in the queue") {
		t.Errorf("second submission: exit status %d, want 0 and a note about the queue: %s", status, stderr)
	}
	const killings = 2
	killed := map[int]bool{}
	interrupted := func() bool {
		events := must.M1(filepath.Glob(filepath.Join(dir, "*", "*", "events.jsonl")))
		return slices.ContainsFunc(events, func(path string) bool {
			return bytes.Contains(must.M1(os.ReadFile(path)), []byte(`"interrupted"`))
		})
	}
	plan := must.M1(sweep.Open(dir, known))
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
			preempt(t)
			preempted = interrupted() // or again, if all tasks had ended
		}
		return count(states, sweep.Done) == len(states)
	})
	states := statesOf(t, dir)
	for _, s := range states {
		if killed[s.Shard] && s.Starts < 2 {
			t.Errorf("shard %d was killed, but has %d starts", s.Shard, s.Starts)
		}
	}
	if len(killed) != killings || !preempted {
		t.Errorf("killed %v, want %d; running tasks were preempted: %v, want true", killed, killings, preempted)
	}
	want := filepath.Join(t.TempDir(), "local")
	must0(t, append([]string{"sweep", "--out", want, "--workers", "2"}, slurmSweep...)...)
	for _, file := range []string{"all.jsonl", "piece.jsonl.gz"} {
		must0(t, "merge", dir, filepath.Join(dir, file))
		must0(t, "merge", want, filepath.Join(want, file))
		if !bytes.Equal(must.M1(os.ReadFile(filepath.Join(dir, file))),
			must.M1(os.ReadFile(filepath.Join(want, file)))) {
			t.Errorf("%s from Slurm differs from the file from two workers", file)
		}
	}
}

// preempt runs a job of a higher partition on the whole node.
func preempt(t *testing.T) {
	t.Helper()
	out, err := exec.Command("srun", "--partition=high", "--exclusive", "--nodes=1", "--ntasks=1",
		"true").CombinedOutput()
	if err != nil {
		t.Errorf("the preempting job failed: %v\n%s", err, out)
	}
}

// must0 calls the command, which must succeed, and returns its output.
func must0(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	status, stdout, stderr := call(t, args...)
	if status != 0 {
		t.Fatalf("hyper %s: exit status %d, want 0: %s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// statesOf returns the output of hyper status --json.
func statesOf(t *testing.T, dir string) []sweep.Status {
	t.Helper()
	stdout := must0(t, "status", dir, "--json")
	var out []sweep.Status
	for lines := bufio.NewScanner(strings.NewReader(stdout)); lines.Scan(); {
		var s sweep.Status
		must.M(json.Unmarshal(lines.Bytes(), &s))
		out = append(out, s)
	}
	return out
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
