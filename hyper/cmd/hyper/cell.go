package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// inCell tells whether a cell of a notebook has started the command, as `%hyper`.
func inCell() bool { return os.Getenv(frontend.Var) != "" }

// simulateInCell is simulate in a cell: the figure changes in place while runs go on and stays at the end, and the
// results get a name for [notebook.Results].
func simulateInCell(dir string, spec lab.Spec, engine engineFlags, run func(lab.Options) (lab.Progress, error)) error {
	o, err := engine.options(dir, nil)
	if err != nil {
		return err
	}
	w := notebook.NewWatch(spec)
	o.Progress, o.Rows = w.Progress, w.Rows
	p, err := run(o)
	w.Close()
	interrupted := errors.Is(err, lab.ErrInterrupted)
	if err != nil && !interrupted {
		return err
	}
	for _, name := range []string{spec.Experiment, filepath.Base(dir)} {
		if err := notebook.NameResults(name, dir); err != nil {
			return err
		}
	}
	if interrupted {
		fmt.Fprintf(os.Stderr, "interrupted; everything is saved: `%%hyper resume %s` goes on, and "+
			"notebook.Results(%q) reads what there is\n", dir, spec.Experiment)
		return err
	}
	h, rows, err := lab.ReadResults(dir, paper.Known)
	if err != nil {
		return err
	}
	figure, err := plot.Regret(lab.Curves(h, rows), plot.Options{})
	if err != nil {
		return err
	}
	notebook.Figure(figure, 16, 9, 100)
	if err := printOutcome(dir, p, engine.json); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "notebook.Results(%q) has them in the next cells\n", spec.Experiment)
	return nil
}
