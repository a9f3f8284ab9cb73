package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// firstRung is the first file that a search by hyper tune writes.
var firstRung = filepath.Join(tune.RungDir("", 1), lab.ResultsFile)

// folders lists the kinds of folders that commands write. A file identifies each kind. advice says how to continue, and
// read how to get results that other commands can read.
var folders = []struct{ file, holds, advice, read string }{
	{lab.ResultsFile, "the results of a run", "`hyper resume %s` continues it",
		"`hyper export %s FILE.jsonl.gz` makes a file of them"},
	{sweep.SearchFile, "a search by hyper sweep", "`hyper sweep %s` continues it",
		"`hyper merge %s FILE.jsonl.gz` makes a file of the results of a round"},
	{sweep.PlanFile, "a sweep", "`hyper sweep %s` continues it",
		"`hyper merge %s FILE.jsonl.gz` makes a file of its results"},
	{firstRung, "a search by hyper tune", "`hyper tune --out %s` with the same arguments continues it",
		"%s has the results of its first round"},
}

// otherKind returns an error if a folder has results of another kind than the file own identifies. The error says how to
// get the results, or how to continue.
func otherKind(dir, own string, toContinue bool) error {
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(dir, f.file)); err != nil {
			continue
		}
		advice, where := f.read, dir
		switch {
		case f.file == own:
			return nil
		case toContinue:
			advice = f.advice
		case f.file == lab.ResultsFile:
			if _, _, notices, err := readSome([]string{dir}, false); err == nil && len(notices) > 0 {
				return errors.New(strings.Join(notices, "; ")) // nothing can be exported yet
			}
		case f.file == sweep.SearchFile, f.file == firstRung:
			where = tune.RungDir(dir, 1)
		}
		return fmt.Errorf("%s has %s; "+advice, dir, f.holds, shell.Word(where))
	}
	return nil
}

// notOfRun returns an error if one of the paths is a folder of another command than hyper run.
func notOfRun(paths []string) error {
	for _, path := range paths {
		if err := otherKind(path, lab.ResultsFile, false); err != nil {
			return err
		}
	}
	return nil
}

// newFolder makes a folder for results of the kind that the file own identifies. It returns an error if the folder
// cannot be made, or has results of another kind.
func newFolder(dir, own string) error {
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(dir, f.file)); err == nil && f.file != own {
			return fmt.Errorf("%s has %s: choose another --out; "+f.advice, dir, f.holds, shell.Word(dir))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("results cannot be written here: %w; choose a folder for them by --out DIR", err)
	}
	return nil
}

// writeResults writes results to a file, and prints its name to w.
func writeResults(w io.Writer, path string, h lab.Header, rows []lab.Row, replace bool) error {
	if err := analysis.Write(path, h, rows, replace); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s\n", path)
	return nil
}

// unfinished names the agents without rows in each of the results, and says how to continue. It returns nil if all
// agents have rows.
func unfinished(paths []string) error {
	var errs []error
	for _, path := range paths {
		h, rows, err := analysis.Read(knownExperiments, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var none []string
		curves := analysis.Curves(h, rows)
		for i, label := range plot.Labels(curves) {
			if len(curves[i].Periods) == 0 {
				none = append(none, label)
			}
		}
		if len(none) > 0 {
			errs = append(errs, fmt.Errorf("%s is unfinished: it has no rows of %s; %s", path,
				strings.Join(none, " and "), howToFinish(path)))
		}
	}
	return errors.Join(errs...)
}

// howToFinish says how to get the missing rows of a folder or a file of results.
func howToFinish(path string) string {
	if filepath.Base(path) == lab.ResultsFile {
		path = filepath.Dir(path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Sprintf("`hyper resume %s` continues the run", shell.Word(path))
	}
	return "export it again when all runs have ended"
}

// readSome reads and joins results that may be unfinished. It returns a notice for each folder or file whose runs are
// not all complete.
func readSome(paths []string, mix mixFlag) (h lab.Header, rows []lab.Row, notices []string, err error) {
	if err := notOfRun(paths); err != nil {
		return h, nil, nil, err
	}
	h, rows, err = analysis.Reader{Mix: mix.reporter(), Unfinished: func(path string, runs, begun, complete int) {
		notices = append(notices, fmt.Sprintf("%s is unfinished: of %d runs %d have begun, and %d are complete; %s",
			path, runs, begun, complete, howToFinish(path)))
	}}.Read(knownExperiments, paths...)
	return h, rows, notices, err
}

func printNotices(notices []string) {
	for _, n := range notices {
		fmt.Fprintln(os.Stderr, "hyper:", n)
	}
}
