package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// outcome is the JSON object of an agent and setting: its summary, and the speed of this call.
type outcome struct {
	analysis.Summary
	CompileSeconds float64  `json:"compile_seconds"`
	RunSeconds     float64  `json:"run_seconds"`            // worker time divided by the number of workers
	Rate           *float64 `json:"run_periods_per_second"` // null if nothing was computed
	Results        string   `json:"results"`
}

// printOutcome prints the outcome of a run as a table or as JSON lines.
func printOutcome(w io.Writer, dir string, p lab.Progress, asJSON bool) error {
	outcomes, labels, err := outcomesOf(dir, p)
	if err != nil {
		return err
	}
	for _, warning := range divergences(outcomes, labels) {
		fmt.Fprintln(os.Stderr, "hyper: "+warning)
	}
	if !asJSON {
		fmt.Fprintf(w, "%s\n\n", outcomes[0].title())
	}
	err = printAll(w, outcomes, asJSON, 0, strings.Join(outcomeHead, "\t"), func(i int, o outcome) string {
		return strings.Join(o.cells(labels[i]), "\t")
	})
	if err != nil || asJSON {
		return err
	}
	fmt.Fprintln(w, "\n"+plusMinusNote)
	fmt.Fprintf(os.Stderr, "\nresults in %s; `hyper plot %s` draws them\n", dir, shell.Word(dir))
	return nil
}

// outcomesOf reads the outcome of each entry of a run, and returns a name for each entry.
func outcomesOf(dir string, p lab.Progress) (outcomes []outcome, labels []string, err error) {
	h, rows, err := lab.ReadResults(dir, knownExperiments)
	if err != nil {
		return nil, nil, err
	}
	summaries, err := analysis.Summarize(h, rows)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range summaries {
		o := outcome{Summary: s, CompileSeconds: p.Entries[i].Compile.Seconds(), RunSeconds: p.Seconds(i), Results: dir}
		if o.RunSeconds > 0 {
			o.Rate = new(float64(p.Entries[i].Computed) / o.RunSeconds)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, plot.Labels(analysis.Curves(h, rows)), nil
}

// divergences returns a warning for each entry with runs that diverged.
func divergences(outcomes []outcome, labels []string) (warnings []string) {
	for i, o := range outcomes {
		if o.Diverged > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d of %d runs diverged: their predictions were no longer "+
				"finite numbers. After that they took all actions in turn, and their regret counts. Lower "+
				"step-size, or raise index-samples.", labels[i], o.Diverged, o.Runs))
		}
	}
	return warnings
}

// outcomeHead is the head of a table of outcomes, and plusMinusNote is the note below the table.
var outcomeHead = []string{"agent", "cumulative regret", "median", "average regret", "diverged", "computation/period",
	"run-periods/s"}

const plusMinusNote = "± is one standard error over runs."

// title describes the run.
func (o outcome) title() string {
	return fmt.Sprintf("%s, %d periods, %d runs, seed %d, %s", o.Experiment, o.Periods, o.Runs, o.Seed, o.Backend)
}

// cells returns the cells of the outcome's row in a table.
func (o outcome) cells(label string) []string {
	rate := "-"
	if o.Rate != nil {
		rate = fmt.Sprintf("%.0f", *o.Rate)
	}
	return []string{label, plusMinus(o.Cumulative, o.CumulativeSE, "%.1f"), plain(o.CumulativeMedian, "%.1f"),
		plusMinus(o.Average, o.AverageSE, "%.4f"), fmt.Sprint(o.Diverged), fmt.Sprintf("%.3g", o.Computation), rate}
}
