package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"sigs.k8s.io/yaml"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// tinySweep is a sweep that takes a moment.
var tinySweep = []string{"gaussian", "--agent", "linear", "--set", "arms=3", "--set", "index-samples=2",
	"--set", "batch=8", "--periods", "10", "--runs", "3"}

// A sweep runs, and status, merge and compare read it. A second call does nothing, and other arguments are refused.
func TestSweepStatusMergeCompare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "swept")
	args := append([]string{"sweep", "--set", "step-size=0.1,0.2", "--out", dir}, tinySweep...)
	must0(t, append(args, "--workers", "2")...)
	piece := filepath.Join(dir, "piece.jsonl.gz")
	must0(t, "merge", dir, piece)
	if status, stdout, stderr := call(t, "compare", piece, "--json"); status != 0 || strings.Count(stdout, "\n") != 2 {
		t.Errorf("compare: exit status %d, want 0 and 2 lines: %s%s", status, stdout, stderr)
	}
	prints(t, []string{"status", dir}, "6 done; 100% of 60 run-periods")
	events := string(must.M1(os.ReadFile(filepath.Join(sweep.ShardDir(dir, 0), "events.jsonl"))))
	must0(t, args...)
	must0(t, "sweep", dir)
	if again := string(must.M1(os.ReadFile(filepath.Join(sweep.ShardDir(dir, 0), "events.jsonl")))); again != events {
		t.Errorf("second call: a finished shard was run again: %s", again)
	}
	for _, change := range [][]string{{"--seed", "1"}, {"--shards", "2"}, {"--batch-runs", "2"},
		{"--set", "sgd-steps=2"}} {
		refused(t, append(args, change...), "choose another folder")
	}
	refused(t, []string{"sweep", dir, "--seed", "1"}, "--seed cannot change the sweep")
}

// A sweep of a Spec's file, in the form of a result's header, equals the sweep of the same flags.
func TestSweepOfAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("package sweep has quicker tests")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "spec.json")
	must.M(os.WriteFile(file, []byte(`{"experiment": "gaussian", "entries": [{"agent": "linear", "settings": {"arms": 3, "index-samples": 2, "batch": 8, "step-size": 0.1}},
		{"agent": "linear", "settings": {"arms": 3, "index-samples": 2, "batch": 8, "step-size": 0.2}}], "periods": 10, "runs": 3, "seed": 0}`), 0o644))
	must0(t, append([]string{"sweep", "--set", "step-size=0.1,0.2", "--out", filepath.Join(dir, "a")}, tinySweep...)...)
	must0(t, "sweep", file, "--out", filepath.Join(dir, "b"))
	must0(t, "merge", filepath.Join(dir, "a"), filepath.Join(dir, "a.jsonl"))
	must0(t, "merge", filepath.Join(dir, "b"), filepath.Join(dir, "b.jsonl"))
	if a, b := must.M1(os.ReadFile(filepath.Join(dir, "a.jsonl"))),
		must.M1(os.ReadFile(filepath.Join(dir, "b.jsonl"))); string(a) != string(b) {
		t.Error("the results of the settings file differ from the results of the flags")
	}
}

// A random search has the settings that hyper tune would draw. A search by halving prints the table of hyper tune.
func TestSweepSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("package sweep has a quicker test")
	}
	dir := t.TempDir()
	random := filepath.Join(dir, "random")
	must0(t, append([]string{"sweep", "--space", "step-size=0.01:1", "--random", "3", "--out", random},
		tinySweep...)...)
	p, err := sweep.Open(random, knownExperiments)
	must.M(err)
	seen := map[any]bool{}
	for _, e := range p.Spec.Entries {
		seen[catalog.Values(e.Setting)["step-size"]] = true
	}
	if len(seen) != 3 || p.Spec.Runs != 3 {
		t.Errorf("got %d step sizes and %d runs, want 3 and 3", len(seen), p.Spec.Runs)
	}
	halving := append([]string{"sweep", "--space", "step-size=0.01:1", "--halving", "5",
		"--out", filepath.Join(dir, "halving")}, tinySweep...)
	prints(t, halving, "best: step-size=")
	if status, stdout, _ := call(t, "status", filepath.Join(dir, "halving")); status != 0 ||
		strings.Count(stdout, "all done") != 2 {
		t.Errorf("status: exit status %d, %s; want two rounds", status, stdout)
	}
}

func TestSweepBadInputIsExitStatus2(t *testing.T) {
	refuses(t, map[string]string{
		"sweep":                  "EXPERIMENT",
		"sweep gaussain --out x": "the experiments are gaussian",
		"sweep gaussian":         "--out must be given",
		"sweep gaussian --dry-run --engine slurm":              "--out must be given",
		"sweep gaussian --out x --set foo=1":                   `no agent here has a key "foo"`,
		"sweep gaussian --out x --engine pbs":                  "the engines are local, slurm, kubernetes",
		"sweep gaussian --out x --shards -1":                   "must not be negative",
		"sweep gaussian --out x --space a=1:2":                 "needs --random N or --halving N",
		"sweep gaussian --out x --random 3":                    "need one --agent and at least one --space",
		"sweep gaussian --out x --halving 3":                   "need one --agent and at least one --space",
		"sweep gaussian --out x --runs 0":                      "runs must be at least 1",
		"sweep gaussian --out x --cpus 0":                      "--cpus must be at least 1",
		"sweep gaussian --out x --time 1:00:00":                "--time has no effect with --engine local",
		"sweep gaussian --out x --backend tpu":                 "choose one of go",
		"sweep nowhere.json --out x":                           "no such file",
		"sweep nowhere.json --out x --seed 1":                  "--seed cannot be combined",
		"sweep gaussian --engine kubernetes --out x --dry-run": "kubernetes needs --claim",
		"sweep nope":                            "nope is not an experiment, not a file of a Spec and not a folder of a sweep",
		"sweep gaussian --out x --set arms=5,5": "give it once",
		"sweep neural --agent linear --space a=1:2 --space a=2:3 --random 2 --out x": "searched over twice",
		"shard":                    "hyper shard takes one argument, DIR, and got 0",
		"shard a 1 2":              "two arguments, DIR and NUMBER, and got 3",
		"status nowhere":           "there is no folder nowhere",
		"merge nowhere x.jsonl.gz": "there is no folder nowhere",
		"merge nowhere":            "two arguments",
		"shard nowhere 0":          "there is no folder nowhere",
		"shard nowhere":            "no shard is given",
		"shard nowhere a":          "not the number of a shard",
	})
}

// Faults of flags are reported before anything is written.
func TestSweepWritesNothingOnBadInput(t *testing.T) {
	for want, more := range map[string][]string{
		"--workers, --batch-runs and --checkpoint-every must not be negative": {"--workers", "-2"},
		"--checkpoint-every must not be negative":                             {"--checkpoint-every", "-1s"},
		"kubernetes needs --claim":                                            {"--engine", "kubernetes"},
		"kubernetes needs --image":                                            {"--engine", "kubernetes", "--claim", "c", "--image", ""},
		"must be below the mount":                                             {"--engine", "kubernetes", "--claim", "c", "--mount", "results"},
	} {
		dir := filepath.Join(t.TempDir(), "swept")
		status, _, stderr := call(t, slices.Concat([]string{"sweep", "--out", dir}, tinySweep, more)...)
		if _, err := os.Stat(dir); status != exitBadInput || !strings.Contains(stderr, want) || err == nil {
			t.Errorf("with %v: exit status %d, want 2 and advice: %s; the folder: %v", more, status, stderr, err)
		}
	}
}

// The error about a file without a readable Spec names the file.
func TestSweepOfABadFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"experiment": "gaussian", "entr`:      "spec: the text is empty or cut off",
		"":                                      "spec: the text is empty or cut off",
		`{"experiment": "gaussian", "arms": 3}`: `unknown field "arms"; the keys there are experiment, entries, periods, runs`,
		tinySpec + " {}":                        "something after the JSON value",
		strings.Replace(tinySpec, "{", `{"seed": 1,`, 1): `key "seed" is there twice`,
	} {
		file := written(t, "spec.json", text)
		if status, _, stderr := call(t, "sweep", file, "--out", "x"); status != exitBadInput ||
			!strings.Contains(stderr, file+": ") || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit status %d, %s, want %q", text, status, stderr, want)
		}
	}
}

// tinySpec is the content of a Spec's file.
const tinySpec = `{"experiment": "gaussian", "entries": [{"agent": "exact", "settings": {"arms": 3}}],
	"periods": 10, "runs": 2, "seed": 0}`

// The number of a shard comes from the scheduler's environment. A finished shard ends at once.
func TestShardByNumber(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "swept")
	args := append([]string{"sweep", "--out", dir}, tinySweep...)
	prints(t, append(args, "--engine", "kubernetes", "--claim", "results"), "kubectl apply")
	for i, variable := range shardVariables {
		c := command(t, "shard", dir)
		c.Env = append(c.Env, variable+"="+string(rune('0'+i)))
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("pod with %s failed: %v\n%s", variable, err, out)
		}
	}
	states := statesOf(t, dir)
	if states[0].State != sweep.Done || states[1].State != sweep.Done || count(states, sweep.Waiting) != len(states)-2 {
		t.Errorf("got states %+v, want two done and the others waiting", states)
	}
	must0(t, "shard", dir, "0")
	if again := statesOf(t, dir); again[0].Starts != 1 {
		t.Errorf("a finished shard was started again: %+v", again[0])
	}
	refused(t, []string{"merge", dir, filepath.Join(dir, "x.jsonl.gz")}, "shards 2 are not done")
	refused(t, []string{"shard", dir, "9"}, "has no shard 9")
}

// The Job of a round of a search has the round's folder in the pods, and a name of its own.
func TestKubernetesRounds(t *testing.T) {
	long := strings.Repeat("x", 60)
	for folder, more := range map[string][]string{
		"/results/swept/rung-1":        nil,
		"/results/team/mine/rung-1":    {"--pod-dir", "/results/team/mine/"},
		"/results/" + long + "/rung-1": {"--pod-dir", "/results/" + long},
	} {
		dir := filepath.Join(t.TempDir(), "swept")
		must0(t, slices.Concat([]string{"sweep", "--space", "step-size=0.01:1", "--halving", "5", "--engine", "kubernetes",
			"--claim", "c", "--out", dir}, tinySweep, more)...)
		var job struct {
			Metadata struct{ Name string }
			Spec     struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		must.M(yaml.Unmarshal(must.M1(os.ReadFile(filepath.Join(dir, "rung-1", "kubernetes.yaml"))), &job))
		name := strings.ReplaceAll(strings.TrimPrefix(folder, "/results/"), "/", "-")
		name = "hyper-" + name[max(0, len(name)-46):]
		args := job.Spec.Template.Spec.Containers[0].Args
		if got := args[len(args)-1]; got != folder || job.Metadata.Name != name {
			t.Errorf("with %v: got the folder %s and the name %s, want %s and %s", more, got, job.Metadata.Name, folder, name)
		}
	}
}

// A dry run prints the shards, the script or the manifest. It writes no files.
func TestDryRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "swept")
	for engine, want := range map[string]string{"local": "3 shards, 1 settings, 3 runs each, on go\n",
		"slurm": "#SBATCH --array=0-2\n", "kubernetes": "completions: 3\n"} {
		status, stdout, stderr := call(t,
			append([]string{"sweep", "--dry-run", "--engine", engine, "--claim", "results", "--out", dir},
				tinySweep...)...)
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit status %d, want 0 and %q: %s%s", engine, status, want, stdout, stderr)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the dry run has made a folder")
	}
	refused(t, []string{"run", "gaussian", "--agent", "exact", "--set", "arms=1000000000000",
		"--out", dir}, "not enough memory")
	if _, err := os.Stat(dir); err == nil {
		t.Error("the run that does not fit into memory has left a folder")
	}
}

// A sweep that is killed by a signal that it cannot catch continues to the same bytes, even while its workers still
// save.
func TestKilledSweepGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a sweep; takes a hundred periods")
	}
	args := []string{"gaussian", "--agent", "linear", "--set", "arms=5", "--set", "index-samples=4",
		"--set", "batch=32", "--periods", "150", "--runs", "4", "--shards", "2", "--batch-runs", "2"}
	dir, want := filepath.Join(t.TempDir(), "killed"), made(t, append([]string{"sweep"}, args...)...)
	c := command(t, append([]string{"sweep", "--out", dir}, args...)...)
	must.M(c.Start())
	waitFor(t, time.Minute, func() bool {
		_, err := os.Stat(filepath.Join(sweep.ShardDir(dir, 0), lab.ResultsFile))
		return err == nil
	})
	must.M(c.Process.Kill())
	_ = c.Wait()
	must0(t, "sweep", dir)
	must0(t, "merge", dir, dir+".jsonl")
	must0(t, "merge", want, want+".jsonl")
	if !bytes.Equal(must.M1(os.ReadFile(dir+".jsonl")), must.M1(os.ReadFile(want+".jsonl"))) {
		t.Error("the merged results differ from the results of a sweep without kills")
	}
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
