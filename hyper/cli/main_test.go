package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

func init() { testbackend.CompileQuickly() }

// TestMain runs this binary as the command if the environment asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("HYPER_TEST_COMMAND") != "" {
		os.Exit(Run(os.Args[1:]))
	}
	status := m.Run()
	if kept.dir != "" {
		_ = os.RemoveAll(kept.dir)
	}
	os.Exit(status)
}

// kept has the folders that calls of the command made, by their arguments.
var kept struct {
	dir   string
	calls []string
}

// made returns a copy of the folder that the command makes with these arguments and --out. Tests that give the same
// arguments share one call.
func made(t *testing.T, args ...string) string {
	t.Helper()
	if kept.dir == "" {
		kept.dir = must.M1(os.MkdirTemp("", "hyper-cli-test-"))
	}
	key := strings.Join(args, " ")
	at := slices.Index(kept.calls, key)
	if at < 0 {
		at = len(kept.calls)
		must0(t, append(args, "--out", filepath.Join(kept.dir, strconv.Itoa(at)))...)
		kept.calls = append(kept.calls, key)
	}
	out := filepath.Join(t.TempDir(), "out")
	must.M(os.CopyFS(out, os.DirFS(filepath.Join(kept.dir, strconv.Itoa(at)))))
	return out
}

// command returns a process of the command in an empty folder, on the backend go.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(must.M1(os.Executable()), args...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "HYPER_TEST_COMMAND=1", "HYPER_BACKEND="+backend.Go)
	return c
}

// call runs the command in this process, in an empty folder, on the backend go. Its workers are processes.
func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HYPER_TEST_COMMAND", "1")
	t.Setenv("HYPER_BACKEND", backend.Go)
	outputs := t.TempDir()
	out, err := must.M1(os.Create(filepath.Join(outputs, "out"))), must.M1(os.Create(filepath.Join(outputs, "err")))
	defer func(dir string, stdout, stderr *os.File) {
		os.Stdout, os.Stderr = stdout, stderr
		must.M(errors.Join(os.Chdir(dir), out.Close(), err.Close()))
	}(must.M1(os.Getwd()), os.Stdout, os.Stderr)
	must.M(os.Chdir(t.TempDir()))
	os.Stdout, os.Stderr = out, err
	status = Run(args)
	return status, string(must.M1(os.ReadFile(out.Name()))), string(must.M1(os.ReadFile(err.Name())))
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

// Output that cannot be written is an error.
func TestFullDiskIsExitStatus2(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	c := command(t, "version")
	c.Stdout = full
	if _ = c.Run(); c.ProcessState.ExitCode() != exitBadInput {
		t.Errorf("exit status %d, want 2", c.ProcessState.ExitCode())
	}
}

// In a worker process what a belief, a world or a policy prints goes to standard error, and not between the messages to
// the parent. Other commands print to standard output.
func TestWorkersPrintToStderr(t *testing.T) {
	for line, redirected := range map[string]bool{
		"worker": true, "testbed-worker": true, "shard --serve nowhere 0/1": true, "shard nowhere 0": false, "version": false,
	} {
		func() {
			defer func(stdout *os.File) { os.Stdout = stdout }(os.Stdout)
			var out bytes.Buffer
			root := newCommand()
			root.SetOut(&out)
			root.SetArgs(strings.Fields(line))
			_ = root.Execute() // most arguments are wrong
			if got := os.Stdout == os.Stderr; got != redirected {
				t.Errorf("hyper %s: standard output is standard error: got %t, want %t", line, got, redirected)
			}
			if said := out.Len() > 0; said != (line == "worker" || line == "version") {
				t.Errorf("hyper %s: got the output %q", line, out.String())
			}
		}()
	}
}

func TestBadInputIsExitStatus2(t *testing.T) {
	refuses(t, map[string]string{
		"frobnicate":                               "unknown command",
		"run":                                      "EXPERIMENT",
		"run gaussain":                             "the experiments are gaussian",
		"run gaussian --agent foo":                 "its agents are exact, linear, ensemble",
		"run gaussian --agent exact,exact":         "named twice",
		"run gaussian --set foo=1":                 `no agent here has a key "foo"; the keys are additive-prior, arms`,
		"run gaussian --set arms=0":                "hyper: arms must be at least 1, got 0",
		"run gaussian --set batch=0":               "hyper: agent linear, ensemble, hypernetwork: batch must be at least 1",
		"run gaussian --set arms=2.5":              "want a whole number",
		"run gaussian --set arms 5":                "EXPERIMENT, and got 2: gaussian, 5; see hyper run --help",
		"run gaussian a b c":                       "and got 4: gaussian, a, b ...; see hyper run --help",
		"check ids --study a b":                    "and got 2: ids, b; see hyper check --help; write a pattern in quotes",
		"check --paper --study nowhere":            "hyper: --study nowhere: there is no such folder",
		"run gaussian --set arms=100000000000":     "would be [100000000000 1] numbers; at most 2147483647 are possible",
		"run ids --set size=100000000000":          "at most 2147483647 are possible",
		"run gaussian --set delay=100000000000":    "at most 2147483647 are possible",
		"run gaussian --set arms":                  "key=value",
		"run gaussian --set arms=3 --set arms=4":   "set twice",
		"run gaussian --set noise-variance=-1":     "noise-variance must be positive and finite, got -1",
		"run gaussian --set noise-variance=NaN":    "want a finite number",
		"run gaussian --set noise-variance=1e40":   "noise-variance=1e40: want a number from -3.403e+38 to 3.403e+38",
		"run gaussian --set arms=5,5":              "arms=5,5: 5 and 5 are the same value; give it once",
		"run gaussian --set step-size=0.1,0.10":    "0.1 and 0.10 are the same value",
		"run gaussian --set integrate=magic":       "choose one of sampled, analytic, full-data, exact",
		"run gaussian --set optimizer=magic":       "one of sgd, adam, adamax, rmsprop, momentum, sgld",
		"run gaussian --runs 0":                    "runs must be at least 1",
		"run gaussian --periods -5":                "periods must be at least 1",
		"run gaussian --workers -1":                "must not be negative",
		"run gaussian --quick --full":              "cannot be combined",
		"run gaussian --backend tpu":               "choose one of go, xla:cpu, xla:cuda",
		"run gaussian --flag":                      "unknown flag",
		"resume nowhere":                           "there is no folder nowhere",
		"plot nowhere":                             "there is no folder or file nowhere",
		"plot":                                     "hyper plot takes one argument or more, DIR or FILE, and got none",
		"compare":                                  "hyper compare takes one argument or more, DIR or FILE",
		"bench study":                              "hyper bench study takes one argument or more, EXPERIMENT",
		"check gaussian --claim foo":               "the claims are linear-near-exact",
		"doctor foo":                               "hyper doctor takes no argument, and got 1: foo; see hyper doctor --help",
		"version foo":                              "hyper version takes no argument, and got 1",
		"help plto":                                `unknown command "plto" (did you mean "plot"?)`,
		"help nothing":                             `unknown command "nothing"; the commands are`,
		"list foo":                                 "the experiments are gaussian",
		"list gaussian idz":                        `did you mean "ids"?`,
		"chekc gaussian":                           `unknown command "chekc" (did you mean "check"?)`,
		"run gausian":                              `did you mean "gaussian"?`,
		"run gaussian --agnet linear":              `unknown flag: --agnet (did you mean "--agent"?); see hyper run --help`,
		"run gaussian --bogus":                     "unknown flag: --bogus; see",
		"serve --addr x":                           "unknown flag: --addr; see",
		"run gaussian --agent liner":               `did you mean "linear"?`,
		"run gaussian --set arm=1":                 `no agent here has a key "arm" (did you mean "arms"?); the keys are`,
		"run gaussian --policy thomson":            `squarecb (did you mean "thompson"?)`,
		"run gaussian --backend xla:cup":           `did you mean "xla:cpu"?`,
		"run gaussian --runs ten":                  "--runs=ten: want a whole number; see hyper run --help",
		"run gaussian --seed -1":                   "--seed=-1: want a whole number of at least 0",
		"run gaussian --seed 99999999999999999999": "want a smaller number",
		"check gaussian --claim linear-near":       "the claims are linear-near-exact",
		"check gaussian --claim linear-near-exac":  `did you mean "linear-near-exact"?`,
		"check gaussian --runs 0":                  "--runs must be at least 1, got 0",
		"check gaussian --study x --seed 3":        "--seed cannot be combined with --study, which runs nothing",
		"tune gaussain --agent a --out b":          `did you mean "gaussian"?`,
		"tune gaussian --agent linear --out b --space step-sise=1:2": `did you mean "step-size"?`,
		"run gaussian --set arms=99999999999999999999":               "arms=99999999999999999999: want a number nearer to 0",
		"bench neurl": `did you mean "neural"?`,
		"bench foo":   "the workloads are",
	})
}

// A flag with an empty value does not mean its default.
func TestEmptyFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"run", "gaussian", "--agent", ""}, {"run", "gaussian", "--out", ""},
		{"sweep", "gaussian", "--out", "x", "--agent="}, {"tune", "neural", "--agent", "linear", "--out", ""},
		{"plot", "x", "--out", ""}, {"check", "gaussian", "--claim", ""}, {"run", "gaussian", "--policy", ""}} {
		refused(t, args, " is empty: give it a value, or leave the flag out")
	}
}

// refuses checks that command lines end with status 2, an error that contains the given text, and no output.
func refuses(t *testing.T, lines map[string]string) {
	t.Helper()
	for args, want := range lines {
		status, stdout, stderr := call(t, strings.Fields(args)...)
		if status != exitBadInput || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("hyper %s: exit status %d, output %q, error %q; want status 2 and %q", args, status, stdout,
				stderr, want)
		}
	}
}

// A quick size may have a smaller world than the paper. A user who did not ask for it is told, and only then.
func TestQuickWorldIsSaid(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                  "hyper: the quick size has actions=100 features=10; --full is the full size\n",
		"--set actions=10":                  "hyper: the quick size has features=10; --full is the full size\n",
		"--set actions=10 --set features=2": "",
		"--quick":                           "",
	} {
		args := strings.Fields("run testbed-bandit --agent mlp --backend go --periods 2 --runs 1 " + flags)
		status, _, stderr := call(t, append(args, "--out", filepath.Join(t.TempDir(), "out"))...)
		if status != 0 || !strings.HasPrefix(stderr, want) || strings.Contains(stderr, "quick size") != (want != "") {
			t.Errorf("%q: exit status %d, standard error %q, want %q", flags, status, stderr, want)
		}
	}
}

// The keys are those that scripts read; see the README.
func TestRunPrintsJSONAndPlotDraws(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	stdout := must0(t, "run", "gaussian", "--agent", "linear,exact", "--set", "arms=3",
		"--set", "index-samples=2", "--set", "step-size=0.1,0.2",
		"--set", "batch=8", "--periods", "20", "--runs", "3", "--seed", "7", "--json", "--out", dir)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want one for each of two step sizes of linear and one of exact:\n%s", len(lines), stdout)
	}
	for i, line := range lines {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("line %d is not JSON: %v", i, err)
		}
		for _, key := range []string{"experiment", "agent", "settings", "runs", "periods", "seed", "backend",
			"average_regret", "average_regret_se", "cumulative_regret",
			"cumulative_regret_se", "cumulative_regret_median", "diverged", "computation", "compile_seconds",
			"run_seconds", "run_periods_per_second"} {
			if o[key] == nil {
				t.Errorf("line %d has no key %q", i, key)
			}
		}
		if o["runs"] != 3.0 || o["periods"] != 20.0 || o["seed"] != 7.0 || o["backend"] != backend.Go {
			t.Errorf("line %d has wrong runs, periods, seed or backend: %s", i, line)
		}
	}
	must0(t, "plot", dir)
	if _, err := png.Decode(bytes.NewReader(must.M1(os.ReadFile(filepath.Join(dir, "regret.png"))))); err != nil {
		t.Error(err)
	}
	if status, again, stderr := call(t, "resume", dir, "--json"); status != 0 ||
		!strings.Contains(again, `"run_periods_per_second":null`) {
		t.Errorf("resume of finished results: exit status %d, want 0 and no speed: %s%s", status, again, stderr)
	}
}

// TestKilledRunsResumeToTheSameBytes compares the results to those of an uninterrupted run.
func TestCtrlCSavesAndResumeGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"run", "gaussian", "--agent", "linear", "--set", "arms=5", "--set", "batch=16",
		"--set", "index-samples=4", "--periods", "500", "--runs", "2", "--batch-runs", "2", "--out", dir}
	c := command(t, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	must.M(c.Start())
	for range 200 { // until the run has begun
		if _, err := os.Stat(filepath.Join(dir, lab.ResultsFile)); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	must.M(c.Process.Signal(os.Interrupt))
	_ = c.Wait()
	if s := c.ProcessState.ExitCode(); s != exitInterrupted || !strings.Contains(stderr.String(), "hyper resume "+dir) {
		t.Fatalf("exit status %d, error %q; want 130 and how to resume", s, stderr.String())
	}
	if status, lines, stderr := call(t, "resume", dir, "--json"); status != 0 || !strings.Contains(lines, `"runs":2,`) ||
		!strings.Contains(lines, `"periods":500,`) || strings.Contains(lines, `"run_periods_per_second":null`) {
		t.Errorf("resume: exit status %d, want 0 and 2 whole runs: %s%s", status, lines, stderr)
	}
}

// A run that is killed at 3 random moments, by a signal that it cannot catch, continues to the same bytes.
func TestKilledRunsResumeToTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a dozen processes")
	}
	t.Parallel()
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	start := func(dir string) *exec.Cmd {
		c := command(t, "run", "gaussian", "--agent", "linear", "--set", "arms=20", "--set", "step-size=0.2,0.4",
			"--set", "index-samples=16", "--set", "batch=64",
			"--periods", "500", "--runs", "6", "--backend", backend.Default(), "--checkpoint-every", "50ms",
			"--out", dir)
		must.M(c.Start())
		return c
	}
	begin := time.Now()
	must.M(start(whole).Wait())
	took := time.Since(begin)
	moments := rand.New(rand.NewPCG(1, uint64(begin.UnixNano())))
	kills := 0
	for range 3 {
		if time.Since(begin) > 2*time.Minute {
			break // on a busy machine fewer kills must suffice
		}
		c, started := start(dir), time.Now()
		time.Sleep(time.Duration(moments.Float64() * float64(took) * 0.6))
		must.M(c.Process.Kill())
		if c.Wait() != nil {
			kills++
			continue
		}
		// The run ended before the kill: the machine is faster now than before.
		took = min(took, time.Since(started))
		must.M(os.RemoveAll(dir))
	}
	must.M(start(dir).Wait())
	got, want := must.M1(os.ReadFile(filepath.Join(dir, lab.ResultsFile))),
		must.M1(os.ReadFile(filepath.Join(whole, lab.ResultsFile)))
	if !bytes.Equal(got, want) {
		t.Errorf("after %d kills the results differ from the uninterrupted ones", kills)
	}
	t.Logf("%d kills; the uninterrupted run took %v", kills, took)
	if kills == 0 {
		t.Error("no process was killed, so the test shows nothing")
	}
}

// Runs that diverge are reported on standard error, in the table, in JSON and by compare. Their regret counts.
func TestDivergedRunsAreShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"run", "gaussian", "--agent", "exact,linear", "--set", "arms=3", "--set", "step-size=1e30",
		"--periods", "30", "--runs", "3", "--out", dir}
	status, table, stderr := call(t, args...)
	if status != 0 || !strings.Contains(stderr, "linear (all 3 diverged): 3 of 3 runs diverged") ||
		!strings.Contains(stderr, "Lower step-size") || !strings.Contains(table, "linear (all 3 diverged)") ||
		strings.Contains(table, "Inf") {
		t.Errorf("run: exit status %d, want a report of 3 diverged runs\n%s%s", status, table, stderr)
	}
	if _, lines, _ := call(t, "resume", dir, "--json"); !strings.Contains(lines, `"diverged":3`) ||
		strings.Contains(lines, "Inf") {
		t.Errorf("resume --json: got %s, want 3 diverged runs and no Inf", lines)
	}
	if _, table, _ := call(t, "compare", dir); !strings.Contains(table, "linear (all 3 diverged)") ||
		strings.Contains(table, "Inf") {
		t.Errorf("compare: got %s, want 3 diverged runs and no Inf", table)
	}
}

// Without a home folder the compile cache is off. doctor then does not name a variable that is not set as the cause.
func TestCompileCacheWithoutHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "HYPERMODELS_HOME", "HYPER_COMPILE_CACHE"} {
		t.Setenv(name, "")
	}
	if got := compileCache(); !strings.Contains(got, "HOME is not set") {
		t.Errorf("no home folder: %s", got)
	}
	t.Setenv("HYPER_COMPILE_CACHE", "off")
	if got := compileCache(); got != "switched off by HYPER_COMPILE_CACHE" {
		t.Error(got)
	}
}

func TestListAndDoctor(t *testing.T) {
	for args, wants := range map[string][]string{
		"list": {"linear, ensemble, egreedy, 2 more", "Neural network bandit", "hyper list EXPERIMENT prints"},
		"list gaussian": {"\n    ensemble (gradient by closed form): step-size=0.5 integrate=analytic\n",
			"\n  linear, ensemble, hypernetwork ", "sigma_p^2"},
		"list neural": {"\n  this experiment's defaults, where these differ from the table's: particles=10,30,100,300\n\n"},
		"list parts":  {"a network from the index", "half the squared error", "automatic differentiation"},
		"doctor":      {"go        works", "xla:cuda"},
	} {
		prints(t, strings.Fields(args), wants...)
	}
}
