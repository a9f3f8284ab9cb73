package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// Regression sweeps accept agents from files, and predict one response at a time.
func TestTestbedRegression(t *testing.T) {
	mine := written(t, "mine.json", `{"learner":"bayesian-linear","settings":{"waves":10}}`)
	for name, sees := range map[string]string{"regression": "best possible agent", "enn_paper": "exact posterior scores 0"} {
		s := testbed.Known[name]()
		out := filepath.Join(t.TempDir(), "r.jsonl")
		// A record of mlp, and of mine without the first problem.
		r := must.M1(testbed.OpenRecord(out, testbed.Header{Sweep: name, Batches: 3, Backend: "go",
			Provenance: lab.ThisProvenance("go"), Machine: process.ThisMachine()}))
		own := must.M1(testbed.FromCatalog(s, "mine", "bayesian-linear", []byte(`{"waves":10}`), 1000))
		for i, p := range s.Few(1).Problems {
			must.M(r.Add([]testbed.Result{{Agent: "mlp", Problem: p, Tau: 1, KL: 2}}))
			if i > 0 {
				must.M(r.Add([]testbed.Result{{Agent: own.Name, Made: own.Made, Problem: p, Tau: 1, KL: 2}}))
			}
		}
		_ = r.Close()
		status, table, errors := call(t, "testbed", name, "--agent", "mlp,"+mine, "--backend", "go", "--batches", "3",
			"--out", out)
		if status != 0 || strings.Count(table, " 1    27 ") != 2 || !strings.Contains(table, sees) {
			t.Errorf("exit status %d, want 0 and two agents: %s\n%s", status, errors, table)
		}
		refused(t, []string{"testbed", name, "--agent", "mlp," + mine, "--backend", "go", "--batches", "3", "--steps", "7",
			"--out", out}, "its results of mine are from other settings or another number of steps")
		refuses(t, map[string]string{
			"testbed " + name + " --tau 1,10":                "scores one response at a time: tau must be 1, got 10",
			"testbed " + name + " --seeds 11":                "from 1 to 10",
			"testbed classification --show " + out:           "has results of the sweep " + name,
			"testbed " + name + " --backend go --out " + out: "with 3 test batches on go",
		})
	}
}

// A leaderboard with a learner from a file. Its file of results can be continued, its figure exists, and the results
// alone give the same table.
func TestTestbed(t *testing.T) {
	if testing.Short() {
		t.Skip("TestTestbedRegression is quicker")
	}
	mine := written(t, "mine.json", `{"learner":"ensemble","settings":{"particles":2,"hidden":"4"}}`)
	out, figure := filepath.Join(t.TempDir(), "r.jsonl"), filepath.Join(t.TempDir(), "board")
	leaderboard := func(more ...string) string {
		t.Helper()
		table := must0(t, append([]string{"testbed", "classification_2d", "--baseline", "mine"}, more...)...)
		return table
	}
	try := []string{"--agent", mine, "--backend", "go", "--batches", "2", "--steps", "1", "--out", out}
	first := leaderboard(try...)
	if strings.Count(first, "\nmine ") != 2 || !strings.Contains(first, "1 [1, 1]") {
		t.Errorf("got leaderboard\n%s, want the agent mine twice", first)
	}
	before := must.M1(os.ReadFile(out))
	lines, marked := strings.Count(string(before), "\n")-1, strings.Count(string(before), `"accuracy":`)
	if marked != lines/2 || strings.Count(string(before), `"ece":`) != marked {
		t.Errorf("%d results, %d with an accuracy; want half, the results of single classes", lines, marked)
	}
	again := leaderboard(append(try, "--figure", figure)...)
	if after, _ := os.ReadFile(out); again != first || string(after) != string(before) {
		t.Errorf("the second call does not give the same results:\n%s", again)
	}
	if _, err := os.Stat(figure + ".png"); err != nil {
		t.Error(err)
	}
	if shown := leaderboard("--show", out); shown != first {
		t.Errorf("--show: got\n%s, want the first leaderboard", shown)
	}
	hundred := leaderboard(append(try, "--tau", "1,100")...) // the same file, with one more kind of test
	if after, _ := os.ReadFile(out); !strings.HasPrefix(string(after), string(before)) ||
		strings.Count(string(after), "\n") != strings.Count(string(before), "\n")*3/2 ||
		strings.Count(hundred, "\nmine ") != 3 || !strings.Contains(hundred, " 100 ") {
		t.Errorf("with a hundred classes: got\n%s", hundred)
	}
	refuses(t, map[string]string{
		"testbed":                               "SWEEP",
		"testbed clasification":                 `did you mean "classification"?`,
		"testbed classification_2d --agent mpl": `did you mean "mlp"?`,
		"testbed classification_2d --seeds 11":  "from 1 to 10",
		"testbed classification --show " +
			out: "has results of the sweep classification_2d, not of classification",
		"testbed classification_2d --show " + mine:                      "no header of format",
		"testbed classification_2d --agent none.json":                   "none.json",
		"testbed classification_2d --show " + out + " --regret none.gz": "none.gz",
		"testbed classification_2d --tau 0":                             "--tau must be at least 1, got 0",
		"testbed classification_2d --tau a":                             "--tau=a: want whole numbers, separated by commas",
		"testbed classification_2d --regret none.gz":                    "none.gz",
		"testbed classification_2d --agent mlp --show " + out:           "--agent cannot be combined with --show",
		"testbed classification_2d --batches 0":                         "--batches must be from 1 to 10000, got 0",
		"testbed classification_2d --tau 1,1":                           "tau: 1 is given twice",
		"testbed classification_2d --baseline mlp --show " + out:        "no problem on which both the baseline mlp",
	})
	refused(t, []string{"testbed", "classification_2d", "--agent", "epinet", "--backend", "go", "--batches", "2", "--out", out},
		"the baseline mlp is not one of the agents, and "+out+" has no results of it")
}
