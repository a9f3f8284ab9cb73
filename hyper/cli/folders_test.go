package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// tinyRun returns the folder of results of two agents with some runs each.
func tinyRun(t *testing.T, runs string) string {
	t.Helper()
	return made(t, "run", "gaussian", "--agent", "exact,linear", "--set", "arms=3", "--set", "index-samples=2", "--set",
		"batch=8", "--periods", "20", "--runs", runs)
}

// refused checks that a command line ends with status 2, and that the error contains all of want.
func refused(t *testing.T, args []string, want ...string) {
	t.Helper()
	status, _, stderr := call(t, args...)
	for _, w := range want {
		if status != exitBadInput || !strings.Contains(stderr, w) {
			t.Errorf("hyper %s: exit status %d, error %q; want status 2 and %q",
				strings.Join(args, " "), status, stderr, w)
		}
	}
}

// prints checks that a command line succeeds, and that its output contains all of want.
func prints(t *testing.T, args []string, want ...string) {
	t.Helper()
	out := must0(t, args...)
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("hyper %s: got %s, want %q", strings.Join(args, " "), out, w)
		}
	}
}

// export and merge do not overwrite a different file, print the name of their file, and refuse unknown arguments.
func TestExportLosesNothing(t *testing.T) {
	one, two := tinyRun(t, "2"), tinyRun(t, "3")
	own := filepath.Join(two, lab.ResultsFile)
	before := must.M1(os.ReadFile(own))
	piece := filepath.Join(t.TempDir(), "piece.jsonl.gz")
	for range 2 { // the second time with the same bytes
		if status, _, stderr := call(t, "export", one, piece); status != 0 || stderr != "wrote "+piece+"\n" {
			t.Errorf("exit status %d, %s, want 0 and the name of the piece", status, stderr)
		}
	}
	swept := made(t, append([]string{"sweep"}, tinySweep...)...)
	for _, from := range [][]string{{"export", two}, {"merge", swept}} {
		refused(t, append(from, piece), piece+" exists: choose another name, or replace the file with --force")
		for _, force := range []string{"--force=false", "--force"} {
			refused(t, append(from, own, force), own+" exists: choose another name, because runs keep their")
		}
		refused(t, append(from, two), two+" is a folder")
		refused(t, append(from, "piece.gz"), "piece.gz: the name must be FILE.jsonl.gz")
	}
	if after := must.M1(os.ReadFile(own)); !bytes.Equal(before, after) {
		t.Error("the results of a run were replaced")
	}
	must0(t, "export", two, piece, "--force")
	if _, _, stderr := call(t, "merge", swept, piece, "--force"); stderr != "wrote "+piece+"\n" {
		t.Error(stderr)
	}
	refused(t, []string{"export", piece, "again.jsonl.gz"},
		piece+" is a file, perhaps a piece of a study; give the folder")
	for set, want := range map[string]string{
		"arms": `"arms" is not of the form key=value`, "": `"" is not of the form key=value`,
		"=3": `"=3" is not of the form`, "arms=": `"arms=" is not of the form`,
		"foo=1":  `no agent has a key "foo"; the keys are agent, arms, batch, clip`,
		"arm=3":  `did you mean "arms"?`,
		"arms=4": "no agent has arms=4; the values are 3",
	} {
		refused(t, []string{"export", one, "x.jsonl.gz", set}, want)
	}
	must0(t, "export", one, "x.jsonl.gz", "arms=3")
}

// Another command does not write to a folder that a command has filled.
func TestFoldersAreOfOneCommand(t *testing.T) {
	sweep := append([]string{"sweep"}, tinySweep...)
	run, swept, tuned := tinyRun(t, "2"), made(t, sweep...), filepath.Join(t.TempDir(), "tuned")
	search := append([]string{"--space", "step-size=0.1:1", "--halving", "2", "--out"}, swept)
	tune := []string{"tune", "gaussian", "--agent", "linear", "--set", "arms=3", "--set", "batch=8", "--candidates", "2",
		"--periods", "5", "--runs", "2", "--out"}
	must0(t, append(tune, tuned)...)
	must0(t, append(tune, tuned)...)
	goOn := "has the results of a run: choose another --out; `hyper resume " + run + "` continues"
	refused(t, append(sweep, "--out", run), goOn)
	refused(t, append(tune, run), goOn)
	again := []string{"run", "gaussian", "--agent", "linear", "--runs", "3", "--periods", "20", "--out", run}
	refused(t, again, run+" holds other results, with agent exact,linear instead of linear, runs 2 instead of 3; choose")
	for _, verb := range []string{"compare", "plot"} {
		refused(t, []string{verb, swept}, "has a sweep; `hyper merge "+swept+" FILE.jsonl.gz` makes a file of its results")
		refused(t, []string{verb, run, tuned}, "has a search by hyper tune; "+tuned+"/rung-1 has the results of its first")
	}
	for _, args := range [][]string{{"export", swept, "x.jsonl.gz"}, {"check", "gaussian", "--study", swept}} {
		refused(t, args, "has a sweep; `hyper merge "+swept+" FILE.jsonl.gz` makes a file of its results")
	}
	refused(t, []string{"resume", swept}, "has a sweep; `hyper sweep "+swept+"` continues it")
	for _, args := range [][]string{{"status", run}, {"merge", run, "x.jsonl.gz"}} {
		refused(t, args, "has the results of a run; `hyper export "+run+" FILE.jsonl.gz` makes a file of them")
	}
	refused(t, []string{"status", filepath.Join(run, lab.ResultsFile)}, "is a file: give the folder of a sweep")
	refused(t, append(sweep, search...), "has a sweep: choose another --out; `hyper sweep "+swept+"` continues")
	refused(t, append(sweep, "--out", tuned), "has a search")
	refused(t, []string{"run", "gaussian", "--out", swept}, "has a sweep")
	refused(t, append(tune, tuned, "--seed", "3"), tuned+" holds another search", "the arguments that began it")
	refused(t, []string{"sweep", run}, run+" is not an experiment, not a file of a Spec and not a folder of a sweep")
	for dir, made := range map[string][]string{run: {"plan.json", "search.json", "tune.json", "rung-1"},
		swept: {"search.json", lab.ResultsFile}, tuned: {"plan.json"}} {
		for _, name := range made {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s was written into %s, want no file", name, dir)
			}
		}
	}
}

// The error about a folder without results names results in it.
func TestFoldersOfResults(t *testing.T) {
	outer := t.TempDir()
	refused(t, []string{"compare", outer}, outer+" has no results.jsonl\n")
	must0(t, "export", tinyRun(t, "2"), filepath.Join(outer, "a.jsonl.gz"))
	refused(t, []string{"compare", outer}, "has no results.jsonl; it has pieces of a study: name these files, such as "+
		filepath.Join(outer, "a.jsonl.gz"))
	must.M(os.Rename(tinyRun(t, "2"), filepath.Join(outer, "x")))
	refused(t, []string{"plot", outer}, "has no results.jsonl; the latest results in it are in "+filepath.Join(outer, "x"))
}

// If a folder cannot be made, as in a container with a read-only disk, the error names the flag for another folder.
func TestFolderCannotBeMade(t *testing.T) {
	out := filepath.Join(written(t, "file", ""), "out")
	refused(t, []string{"run", "gaussian", "--periods", "2", "--runs", "1", "--out", out},
		"results cannot be written here", "by --out DIR")
}

// If an agent has no rows in results yet, compare and plot name the agent, and say how to continue.
func TestUnfinishedResults(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many results")
	}
	dir, other := tinyRun(t, "2"), tinyRun(t, "3")
	file := filepath.Join(dir, lab.ResultsFile)
	var kept []byte
	for line := range bytes.Lines(must.M1(os.ReadFile(file))) {
		if !bytes.HasPrefix(line, []byte(`{"entry":1`)) {
			kept = append(kept, line...)
		}
	}
	must.M(os.WriteFile(file, kept, 0o644))
	want := dir + " is unfinished: it has no rows of linear; `hyper resume " + dir + "` continues the run"
	refused(t, []string{"compare", dir}, want)
	figure := filepath.Join(t.TempDir(), "x")
	if status, _, stderr := call(t, "plot", dir, "--out", figure); status != 0 || !strings.Contains(stderr, want) {
		t.Errorf("plot: exit status %d, want 0 and the names of the files: %s", status, stderr)
	}
	must0(t, "compare", dir, other) // other has rows of linear
	if _, _, stderr := call(t, "plot", dir, other, "--out", figure); strings.Contains(stderr, "unfinished") {
		t.Error(stderr)
	}
	must.M(os.WriteFile(file, nil, 0o644))
	for _, args := range [][]string{{"plot", dir}, {"resume", dir}, {"run", "gaussian", "--out", dir}} {
		refused(t, args, "the header line is missing or cut off: remove the file, or choose another --out")
	}
}

// compare and plot say that runs are not complete, unless other results have the missing rows.
func TestIncompleteRunsAreSaid(t *testing.T) {
	dir, whole := tinyRun(t, "2"), tinyRun(t, "2")
	file := filepath.Join(dir, lab.ResultsFile)
	lines := bytes.SplitAfter(bytes.TrimSpace(must.M1(os.ReadFile(file))), []byte("\n"))
	must.M(os.WriteFile(file, bytes.Join(lines[:len(lines)-1], nil), 0o644))
	want := " is unfinished: of 4 runs 4 have begun, and 3 are complete; `hyper resume " + dir + "` continues the run\n"
	for _, args := range [][]string{{"compare", dir}, {"compare", file}, {"plot", dir, "--out", "x"}} {
		if status, _, stderr := call(t, args...); status != 0 || !strings.Contains(stderr, "hyper: "+args[1]+want) {
			t.Errorf("hyper %v: exit status %d, standard error %q; want 0 and %q", args, status, stderr, want)
		}
	}
	refused(t, []string{"status", dir}, dir+want)
	for _, dirs := range [][]string{{whole}, {dir, whole}} {
		if status, _, stderr := call(t, append([]string{"compare"}, dirs...)...); status != 0 || stderr != "" {
			t.Errorf("compare %v: exit status %d, standard error %q; want 0 and no notice", dirs, status, stderr)
		}
	}
}

// A name of one figure names both. If figures cannot be written, the error names the folder and the flag for another.
func TestPlotOut(t *testing.T) {
	dir, folder, file := tinyRun(t, "2"), t.TempDir(), written(t, "file", "")
	for _, name := range []string{"a", "b.svg", "c.png"} {
		_, _, stderr := call(t, "plot", dir, "--out", filepath.Join(folder, name))
		path := filepath.Join(folder, name[:1])
		if want := "wrote " + path + ".png and " + path + ".svg\n"; stderr != want {
			t.Errorf("--out %s: standard error %q, want %q", name, stderr, want)
		}
	}
	if made := must.M1(os.ReadDir(folder)); len(made) != 6 {
		t.Errorf("got %v, want two figures of each name", made)
	}
	for name, want := range map[string]string{"a.pdf": "written as PNG and SVG; leave .pdf out", "a/": "such as a/regret",
		"..": "such as ../regret", ".png": "such as regret"} {
		refused(t, []string{"plot", dir, "--out", name}, want)
	}
	refused(t, []string{"plot", dir, "--out", filepath.Join(file, "x")}, "figures cannot be written in "+file+": ",
		"choose another path by --out")
}

// A command that is printed can be copied into a shell, even if the folder's name has a space.
func TestPrintedCommandsAreQuoted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my results")
	must.M(os.CopyFS(dir, os.DirFS(tinyRun(t, "2"))))
	_, _, stderr := call(t, "resume", dir)
	if want := "results in " + dir + "; `hyper plot '" + dir + "'` draws them"; !strings.Contains(stderr, want) {
		t.Errorf("standard error %q, want %q", stderr, want)
	}
	refused(t, append([]string{"sweep", "--out", dir}, tinySweep...), "`hyper resume '"+dir+"'` continues it")
	refused(t, []string{"run", "gaussian", "--runs", "1", "--out", dir}, "`hyper resume '"+dir+"'`")
}

// The table of an experiment that does not say when a run fails has a dash in place of the share of runs that failed.
func TestCompareWithoutFailures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must0(t, "run", "drifting", "--agent", "egreedy", "--runs", "2", "--periods", "4", "--out", dir)
	table := strings.Split(must0(t, "compare", dir), "\n")
	at := strings.Index(table[0], "failed")
	if at < 0 || strings.TrimSpace(table[1][at:at+len("failed [95%]")]) != "-" {
		t.Error(strings.Join(table, "\n"))
	}
	if line := must0(t, "compare", dir, "--json"); !strings.Contains(line, `"failed":{"value":null,`) {
		t.Error(line)
	}
}

// Figures are written next to a file with any name. If there are too few runs for an interval, the table has a dash.
func TestPlotAndCompareFiles(t *testing.T) {
	dir, folder := tinyRun(t, "2"), t.TempDir()
	for _, name := range []string{"piece.jsonl.gz", "plain.jsonl"} {
		file := filepath.Join(folder, name)
		must0(t, "export", dir, file)
		must0(t, "plot", file)
		must.M1(os.Stat(filepath.Join(folder, strings.Split(name, ".")[0]+".png")))
	}
	if _, table, _ := call(t, "compare", dir); strings.Contains(table, "NaN") || !strings.Contains(table, " [-, -]") {
		t.Error(table)
	}
	_, lines, _ := call(t, "compare", dir, "--json")
	if strings.Contains(lines, "NaN") || !strings.Contains(lines, `"median":{"value":`) ||
		!strings.Contains(lines, `"lower":null,"upper":null}`) {
		t.Errorf("got %s, want null for the bounds that are not known", lines)
	}
}
