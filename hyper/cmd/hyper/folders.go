package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// firstRung is the file of a search by hyper tune that is there first.
var firstRung = filepath.Join("rung-1", lab.ResultsFile)

// folders are what commands fill, each told by a file.
var folders = []struct{ file, holds, goOn string }{
	{lab.ResultsFile, "the results of a run", "`hyper resume %s` goes on with it"},
	{sweep.SearchFile, "a search by hyper sweep", "`hyper sweep %s` goes on with it"},
	{sweep.PlanFile, "a sweep", "`hyper sweep %s` goes on with it"},
	{firstRung, "a search", "`hyper tune --out %s` with its arguments goes on with it"},
}

// newFolder makes a folder for results. The error says that another command has filled it, or this one with something
// other than what own tells, or that it cannot be made.
func newFolder(dir, own string) error {
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(dir, f.file)); err == nil && f.file != own {
			return fmt.Errorf("%s holds %s: choose another --out; "+f.goOn, dir, f.holds, dir)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("results cannot be written here: %w; choose a folder for them by --out DIR", err)
	}
	return nil
}

// writeResults writes results to a file, and says so.
func writeResults(path string, h lab.Header, rows []lab.Row, replace bool) error {
	if err := lab.WriteResults(path, h, rows, replace); err != nil {
		return err
	}
	fmt.Fprintf(notes(), "wrote %s\n", path)
	return nil
}

// unfinished names the agents without rows in each of some results, and says how to go on; nil where all have some.
func unfinished(paths []string) error {
	var errs []error
	for _, path := range paths {
		h, rows, err := lab.ReadStudy(paper.Known, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var none []string
		curves := lab.Curves(h, rows)
		for i, label := range plot.Labels(curves) {
			if len(curves[i].Periods) == 0 {
				none = append(none, label)
			}
		}
		goOn := "export it again when all runs have ended"
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			goOn = fmt.Sprintf("`hyper resume %s` goes on with the run", path)
		}
		if len(none) > 0 {
			errs = append(errs, fmt.Errorf("%s is unfinished: it has no rows of %s; %s", path, strings.Join(none, " and "),
				goOn))
		}
	}
	return errors.Join(errs...)
}
