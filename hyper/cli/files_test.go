package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// rows is a CSV file of two kinds that one column distinguishes.
const rows = "size,color,kind\n1,red,ant\n2,red,bee\n1.1,black,ant\n2.1,black,bee\n0.9,red,ant\n1.9,red,bee\n"

// An agent that a table lacks is the only fault: the key file, which the command itself sets, is not another one.
func TestTableLacksAgent(t *testing.T) {
	status, _, stderr := call(t, "run", written(t, "a.csv", rows), "--agent", "exact")
	if status != exitBadInput || !strings.HasPrefix(stderr, `hyper: experiment table has no agent "exact"`) ||
		strings.Contains(stderr, "key") {
		t.Errorf("exit status %d, standard error %q; want 2 and only the missing agent", status, stderr)
	}
}

// written writes a file with a text in a new folder, and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.M(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A Parquet file is a world like a CSV file, and so is an included data set, in any order and scale.
func TestTables(t *testing.T) {
	for _, args := range [][]string{
		{must.M1(filepath.Abs("../bandit/sheet/parquet/testdata/pyarrow.parquet")), "--periods", "10", "--set",
			"order=shuffled"},
		{"table", "--set", "data=phishing", "--set", "order=shuffled", "--set", "standardize=online", "--periods", "10"},
	} {
		status, stdout, stderr := call(t, append([]string{"run", "--agent", "egreedy", "--runs", "1", "--json",
			"--backend", "go", "--out", filepath.Join(t.TempDir(), "out")}, args...)...)
		if status != 0 || strings.Contains(stdout, "Inf") || !strings.Contains(stdout, `"order":"shuffled"`) {
			t.Errorf("hyper %v: exit status %d, want 0 and the order: %s%s", args, status, stdout, stderr)
		}
	}
}

// A CSV file is a world, and a learner's settings may come from a file. Any learner runs in any world, even if rewards
// are late. Results can be continued and read without the file of settings.
func TestFilesOfOnesOwn(t *testing.T) {
	table := written(t, "rows.csv", rows)
	mine := written(t, "mine.json",
		`{"learner": "ensemble", "settings": {"hidden": "none", "particles": 7, "step-size": 0.05}}`)
	out := filepath.Join(t.TempDir(), "out")
	stdout := must0(t, "run", table, "--agent", "linear,"+mine, "--set", "delay=2", "--set", "batch=8",
		"--set", "index-samples=2", "--periods", "20", "--runs", "2", "--json", "--out", out)
	if !strings.Contains(stdout, `"agent":"mine"`) || !strings.Contains(stdout, `"particles":7`) ||
		strings.Contains(stdout, "Inf") {
		t.Error(stdout)
	}
	must.M(os.Remove(mine))
	for _, verb := range []string{"resume", "compare"} {
		must0(t, verb, out)
	}
	must0(t, "run", "neural", "--agent", "diagonal,epinet", "--set", "belief-hidden=4", "--set",
		"hidden=4",
		"--set", "actions=5", "--set", "batch=8", "--set", "index-samples=2", "--periods", "5", "--runs", "1")
}

// An edit of a file may change the learner. Results of both versions have the learner in their labels.
func TestTwoVersionsOfAFile(t *testing.T) {
	args := []string{"compare"}
	for _, learner := range []string{"bbb", "linear"} {
		mine, out := written(t, "mine.json", `{"learner": "`+learner+`"}`), filepath.Join(t.TempDir(), "out")
		must0(t, "run", "gaussian", "--agent", mine, "--set", "arms=3", "--set", "batch=8", "--periods", "5", "--runs",
			"2", "--out", out)
		args = append(args, out)
	}
	prints(t, args, "\nmine, learner=bbb ", "\nmine, learner=linear ")
}

// A file has one name, so that its results are the results of one agent.
func TestExperimentOf(t *testing.T) {
	for _, name := range []string{"a/rows.csv", "./a/rows.csv", "a//b/../rows.csv"} {
		if x, sets := experimentOf(name); x != "table" || strings.Join(sets, " ") != "file=a/rows.csv" {
			t.Errorf("%s: got %s with %v", name, x, sets)
		}
	}
}

// One line on standard error says how a table was read, also for a sweep of a file with settings.
func TestRunSaysHowATableWasRead(t *testing.T) {
	table := written(t, "rows.csv", rows)
	want := table + ": 6 rows, 2 actions (kind: ant, bee); size: number; color: 2 categories\n"
	for _, args := range [][]string{
		{"run", table, "--agent", "egreedy,linear", "--periods", "2", "--runs", "1", "--json"},
		{"sweep", tableSpec(t, table), "--dry-run"},
	} {
		status, stdout, stderr := call(t, args...)
		if status != 0 || strings.Count(stderr, want) != 1 || strings.Contains(stdout, want) {
			t.Errorf("hyper %v: exit status %d, standard error %q, want %q once", args, status, stderr, want)
		}
	}
}

// tableSpec writes the file of a Spec with a table, and returns its path.
func tableSpec(t *testing.T, table string) string {
	t.Helper()
	return written(t, "spec.json", fmt.Sprintf(`{"experiment": "table", "entries": [{"agent": "linear",
		"settings": {"file": %q}}], "periods": 2, "runs": 1, "seed": 0}`, table))
}

func TestBadFilesOfOnesOwn(t *testing.T) {
	for want, args := range map[string][]string{
		"seems to be a row": {"run", written(t, "row.csv", "5.1,3,a\n4.9,2,a\n4.5,1,b\n")},
		"the first line (5.1, 3, a)": {"sweep", tableSpec(t, written(t, "row.csv", "5.1,3,a\n4.9,2,a\n4.5,1,b\n")),
			"--out", "nowhere"},
		"in most rows, but \"oops\"": {"tune", written(t, "oops.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n5,x\noops,y\n"), "--agent", "linear",
			"--out", "nowhere"},
		"hyper: none.json: no such": {"run", "gaussian", "--agent", "none.json"},
		`want {"learner": KIND`:     {"run", "gaussian", "--agent", written(t, "a.json", `{"kind": "linear"}`)},
		`unknown learner "linaer"`:  {"run", "gaussian", "--agent", written(t, "a.json", `{"learner": "linaer"}`)},
		`unknown key "step"`: {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "linear", "settings": {"step": 1}}`)},
		`key "settings.particles" is there twice`: {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "ensemble", "settings": {"particles": 3, "particles": 5}}`)},
		"the text is empty":                           {"run", "gaussian", "--agent", written(t, "a.json", "")},
		"learner is missing; the learners are linear": {"run", "gaussian", "--agent", written(t, "a.json", "{}")},
		`settings must be a JSON object`: {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "linear", "settings": [1]}`)},
		`key "hidden": hidden=[3]: want widths of hidden layers`: {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "linear", "settings": {"hidden": [3]}}`)},
		`key "additive-prior": additive-prior=1: want yes or no`: {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "ensemble", "settings": {"additive-prior": 1}}`)},
		"something after the JSON value": {"run", "gaussian", "--agent",
			written(t, "a.json", `{"learner": "ensemble", "settings": {"particles": 3}} {"particles": 5}`)},
		"already has an agent linear":   {"run", "gaussian", "--agent", written(t, "linear.json", `{"learner": "linear"}`)},
		"missing":                       {"run", written(t, "a.csv", "x,kind\n1,a\n,b\n")},
		"none.csv":                      {"run", "none.csv"},
		"NONE.CSV: no such file":        {"run", "NONE.CSV"},
		"names end in .csv or .parquet": {"run", written(t, "a.txt", rows)},
		"cannot be read as Parquet":     {"run", written(t, "a.parquet", rows)},
		`unknown "shufled" (did you me`: {"run", "table", "--set", "data=digits", "--set", "order=shufled"},
		`has no column "knd"`:           {"run", written(t, "a.csv", rows), "--set", "target=knd"},
		"header by --set file=FILE":     {"run", "table"},
	} {
		refused(t, args, want)
	}
}
