package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// outcome is the JSON object of an agent and setting: its summary, and how fast this call was.
type outcome struct {
	lab.Summary
	CompileSeconds float64  `json:"compile_seconds"`
	RunSeconds     float64  `json:"run_seconds"`            // as if the entry were alone: worker time over workers
	Rate           *float64 `json:"run_periods_per_second"` // null when nothing was left to compute
	Results        string   `json:"results"`
}

// printOutcome prints a table on standard error, or JSON lines on standard output.
func printOutcome(dir string, p lab.Progress, asJSON bool) error {
	h, rows, err := lab.ReadResults(dir, paper.Known)
	if err != nil {
		return err
	}
	summaries, err := lab.Summarize(h, rows)
	if err != nil {
		return err
	}
	labels := plot.Labels(lab.Curves(h, rows))
	var outcomes []outcome
	for i, s := range summaries {
		o := outcome{Summary: s, CompileSeconds: p.Entries[i].Compile.Seconds(), RunSeconds: p.Seconds(i), Results: dir}
		if o.RunSeconds > 0 {
			rate := float64(p.Entries[i].Computed) / o.RunSeconds
			o.Rate = &rate
		}
		outcomes = append(outcomes, o)
		if s.Diverged > 0 {
			fmt.Fprintf(os.Stderr, "hyper: %s: %d of %d runs diverged. Their predictions were no longer finite numbers. "+
				"From then on they took all actions in turn, and their regret counts. Lower step-size, or raise "+
				"index-samples.\n",
				labels[i], s.Diverged, s.Runs)
		}
	}
	if asJSON {
		return printLines(outcomes...)
	}
	printTable(outcomes, labels)
	fmt.Fprintf(os.Stderr, "\nresults in %s; `hyper plot %s` draws them\n", dir, dir)
	return nil
}

// printAll prints a JSON object for each, or a table: a row of cells separated by tabs for each, below the head.
func printAll[T any](all []T, asJSON bool, flags uint, head string, row func(i int, one T) string) error {
	if asJSON {
		return printLines(all...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', flags)
	fmt.Fprintln(w, head)
	for i, one := range all {
		fmt.Fprintln(w, row(i, one))
	}
	return w.Flush()
}

// printLines prints one JSON object per line.
func printLines[T any](all ...T) error {
	lines := json.NewEncoder(os.Stdout)
	for _, one := range all {
		if err := lines.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

func printTable(outcomes []outcome, labels []string) {
	first := outcomes[0]
	fmt.Printf("%s, %d periods, %d runs, seed %d, %s\n\n", first.Experiment, first.Periods, first.Runs, first.Seed,
		first.Backend)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "agent\tcumulative regret\tmedian\taverage regret\tdiverged\tcomputation/period\trun-periods/s")
	for i, o := range outcomes {
		rate := "-"
		if o.Rate != nil {
			rate = fmt.Sprintf("%.0f", *o.Rate)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%.3g\t%s\n", labels[i], plusMinus(o.Cumulative, o.CumulativeSE, "%.1f"),
			plain(o.CumulativeMedian, "%.1f"), plusMinus(o.Average, o.AverageSE, "%.4f"), o.Diverged, o.Computation,
			rate)
	}
	_ = w.Flush()
	fmt.Println("\n± is one standard error over runs.")
}

func plain(x *lab.Float, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, float64(*x))
}

func plusMinus(x, se *lab.Float, format string) string {
	if se == nil {
		return plain(x, format)
	}
	return plain(x, format) + " ± " + plain(se, format)
}
