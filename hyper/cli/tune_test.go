package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// hyper tune writes OUT/tune.json and prints the best settings, and a second call finds the same settings. --json
// prints the record.
func TestTuneCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"tune", "neural", "--agent", "egreedy", "--set", "actions=4", "--set", "features=2",
		"--set", "hidden=3", "--set", "batch=4", "--space", "step-size=0.01:0.1",
		"--space", "anneal=1,5", "--candidates", "4", "--periods", "6", "--runs", "2", "--backend", backend.Go,
		"--out", dir}
	stdout := must0(t, args...)
	var tuned tune.Search
	must.M(json.Unmarshal(must.M1(os.ReadFile(filepath.Join(dir, "tune.json"))), &tuned))
	if len(tuned.Rungs) != 2 || len(tuned.Rungs[0].Results) != 4 || len(tuned.Rungs[1].Results) != 2 ||
		tuned.Seed != tuningSeeds {
		t.Errorf("tune.json has %+v, want rungs of 4 and 2 candidates from seed 2000000", tuned)
	}
	best := strings.Join(tuned.Best(), " ")
	if !strings.Contains(stdout, "\non other seeds: hyper run neural --agent egreedy --periods 6 --runs 2 --set "+
		tuned.Best()[0]+" --set ") {
		t.Errorf("got %q, want the command that runs the winner", stdout)
	}
	if !strings.HasPrefix(best, "anneal=") || !strings.Contains(stdout, "best: "+best+"\n") ||
		!strings.Contains(stdout, "4 periods, 1 runs") {
		t.Errorf("got the best settings %q in %q", best, stdout)
	}
	if strings.Contains(stdout, "NaN") || strings.Contains(stdout, "Inf") { // the first round has one run
		t.Errorf("got %s, want dashes for standard errors that are not known", stdout)
	}
	if again := must0(t, args...); again != stdout {
		t.Errorf("called again: output %q, want %q", again, stdout)
	}
	var printed tune.Search
	must.M(json.Unmarshal([]byte(must0(t, append(args, "--json")...)), &printed))
	if fmt.Sprint(printed) != fmt.Sprint(tuned) { // as text, because some standard errors are NaN
		t.Errorf("--json prints %+v, want %+v", printed, tuned)
	}
	record := filepath.Join(dir, "tune.json")
	second := append(args[:len(args)-1:len(args)-1], t.TempDir(), "--seed", "7", "--champion", record)
	if stdout = must0(t, second...); strings.Count(stdout, "(champion)") != 1 {
		t.Errorf("with a champion: %q, want one champion", stdout)
	}
	// A champion keeps the agent's values of its search, fixed or not, and takes the new world.
	dir = t.TempDir()
	must0(t, "tune", "neural", "--agent", "egreedy", "--set", "actions=5", "--set", "hidden=2", "--set", "clip=2", "--space",
		"step-size=1:2",
		"--candidates", "4", "--periods", "6", "--runs", "2", "--backend", backend.Go, "--out", dir, "--champion", record)
	third := must.M1(tune.ReadSearch(filepath.Join(dir, "tune.json")))
	if want := append(tuned.Best(), "hidden=3", "batch=4", "clip=0"); !slices.Equal(third.Champion, want) {
		t.Errorf("a search with other fixed values: champion %v, want %v", third.Champion, want)
	}
	other := []string{"tune", "neural", "--agent", "linear", "--out", t.TempDir(), "--champion", record}
	refused(t, other, `has no winner for agent linear: it is a search of "egreedy"`)
	must.M(os.WriteFile(record, []byte("{"), 0o644))
	refused(t, other, "is not a record of")
}

// tune and sweep take a table's file and the file of a learner, as run does. A search keeps the learner, and goes on
// without its file.
func TestSearchesTakeFiles(t *testing.T) {
	table, dir := written(t, "rows.csv", rows), t.TempDir()
	mine := written(t, "mine.json", `{"learner": "egreedy", "settings": {"hidden": "none", "batch": 4}}`)
	common := []string{table, "--agent", mine, "--space", "step-size=0.01:0.1", "--periods", "3", "--runs", "1",
		"--backend", backend.Go}
	must0(t, slices.Concat([]string{"tune"}, common, []string{"--candidates", "2", "--out", filepath.Join(dir, "a")})...)
	tuned := must.M1(tune.ReadSearch(filepath.Join(dir, "a", "tune.json")))
	if tuned.Agent != "mine" || tuned.Own.Learner != "egreedy" || string(tuned.Own.Settings["batch"]) != "4" ||
		tuned.Experiment != "table" || tuned.Sets[0] != "file="+table {
		t.Errorf("tune.json has %+v", tuned)
	}
	for _, how := range []string{"--random", "--halving"} {
		args := slices.Concat([]string{"sweep"}, common, []string{how, "2", "--out", filepath.Join(dir, how)})
		status, _, stderr := call(t, args...)
		if status != 0 || !strings.Contains(stderr, table+": 6 rows, 2 actions") {
			t.Errorf("%s: exit status %d, %s", how, status, stderr)
		}
		must0(t, args...) // continues the same search
	}
	must.M(os.Remove(mine))
	must0(t, "sweep", filepath.Join(dir, "--halving"))
	bad := filepath.Join(dir, "bad")
	refused(t, []string{"tune", "gaussian", "--agent", "linear", "--space", "index-dim=1:3", "--out", bad}, "give a list")
	if _, err := os.Stat(bad); err == nil {
		t.Error("a search with a wrong range has left a folder")
	}
}

// A winner at the edge of a range comes with flags that search further.
func TestTuneSaysHowToSearchFurther(t *testing.T) {
	s := tune.Search{Space: []tune.Dimension{{Key: "step-size", Low: 0.1, High: 1}}, Rungs: []tune.Rung{
		{Results: []tune.Outcome{{Settings: map[string]string{"step-size": "0.99"}}}}}}
	var out strings.Builder
	must.M(printTuning(&out, s, "my search/tune.json"))
	if want := "again with --space 'step-size=0.3162:3.162' and --champion 'my search/tune.json'\n"; !strings.HasSuffix(
		out.String(), want) {
		t.Errorf("got %q, want %q at the end", out.String(), want)
	}
}

func TestTuneBadInputIsExitStatus2(t *testing.T) {
	refuses(t, map[string]string{
		"tune":                            "EXPERIMENT",
		"tune foo":                        "the experiments are gaussian",
		"tune neural":                     "--agent and --out must be given",
		"tune neural --agent linear":      "hyper: --out must be given",
		"tune neural --out x":             "hyper: --agent must be given",
		"tune neural --agent foo --out x": "has no agent",
		"tune neural --agent linear --out x --space a":                             "KEY=LOW:HIGH",
		"tune neural --agent linear --out x --space clip=1:2 --space clip=2:3":     `key "clip" is searched over twice`,
		"tune neural --agent linear --out x --space a=2:1":                         "0 < LOW < HIGH",
		"tune neural --agent linear --out x --space a=1:2":                         `key "a"`,
		"tune neural --agent linear --out x --candidates 0":                        "at least one candidate",
		"tune neural --agent linear --out x --champion nowhere":                    "nowhere: no such file",
		"tune neural --agent linear --out x --set hidden=10,20":                    "describe 2 agents",
		"tune neural --agent linear,ensemble --out x":                              "settings of one agent: call it once",
		"tune neural --agent ensemble --out x":                                     "values of particles describe 4 agents",
		"tune neural --agent linear --out x --space clip=1":                        "has one setting: give a range",
		"tune neural --agent linear --out x --set hidden=0x10":                     "hidden=0x10: want widths",
		"tune neural --agent linear --out x --runs 0":                              "runs must be at least 1",
		"tune neural --agent linear --out x --backend tpu":                         "choose one of go, xla:cpu, xla:cuda",
		"tune neural --agent linear --out x --space keep=0.1:0.5":                  `key "keep"`,
		"tune gaussian --agent linear --out x --space index-dim=1:3":               "give a list, index-dim=1,2,3\n",
		"sweep gaussian --agent linear --out x --random 5 --space index-dim=2:200": "give a list, index-dim=2,6,20,63,200\n",
		"tune gaussian --agent exact --out x":                                      "give --space; the keys of exact are arms, d",
		"tune neural --agent none.json --out x":                                    "none.json: no such file",
		"tune none.csv --agent linear --out x":                                     "none.csv: no such file",
		"sweep none.csv --agent linear --out x --random 2 --space clip=1:2":        "none.csv: no such file",
	})
}
