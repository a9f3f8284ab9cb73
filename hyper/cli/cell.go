package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// inCell reports whether a notebook's cell has started the command, as `%hyper`.
func inCell() bool { return os.Getenv(frontend.Var) != "" }

// simulateInCell is like simulate, in a cell. A figure changes while the runs are in progress, and stays at the end.
func simulateInCell(w io.Writer, dir string, spec lab.Spec, engine engineFlags,
	run func(lab.Options) (lab.Progress, error)) error {
	o, err := engine.options(dir, nil)
	if err != nil {
		return err
	}
	watch := notebook.NewWatch(spec)
	o.Progress, o.Rows = watch.Progress, watch.Rows
	p, err := run(o)
	watch.Close()
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintf(os.Stderr, "interrupted; all results are saved: `%%hyper resume %s` continues, and "+
			"notebook.Results(%q) reads the results so far\n", shell.Word(dir), dir)
	}
	if err != nil {
		return err
	}
	h, rows, err := lab.ReadResults(dir, knownExperiments)
	if err != nil {
		return err
	}
	figure, err := plot.Regret(analysis.Curves(h, rows), plot.Options{})
	if err != nil {
		return err
	}
	notebook.Figure(figure, 16, 9, 100)
	outcomes, labels, err := outcomesOf(dir, p)
	if err != nil {
		return err
	}
	if engine.json {
		return printNumbers(w, outcomes...)
	}
	notebook.ShowMarkdown(markdownOutcome(outcomes, labels) + fmt.Sprintf("\n\nResults in `%s`: "+
		"`notebook.Results(%[1]q)` reads them in the next cells, `%%hyper plot %s` draws them.", dir, shell.Word(dir)))
	return nil
}

// markdownOutcome returns the outcome of a run as a single text. A page would show standard error in a red box, at any
// position within standard output.
func markdownOutcome(outcomes []outcome, labels []string) string {
	t := notebook.NewTable(outcomeHead...)
	for i, o := range outcomes {
		t.Rowf("%s", strings.Join(o.cells(labels[i]), " | "))
	}
	parts := []string{"**" + outcomes[0].title() + "**", t.String(), plusMinusNote}
	for _, warning := range divergences(outcomes, labels) {
		parts = append(parts, "**Diverged:** "+warning)
	}
	return strings.Join(parts, "\n\n")
}

// notes returns the writer for messages about what a command has done: standard error, or in a cell standard output,
// because a page shows standard error in red.
func notes(c *cobra.Command) io.Writer {
	if inCell() {
		return c.OutOrStdout()
	}
	return c.ErrOrStderr()
}
