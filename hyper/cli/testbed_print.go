package cli

import (
	"fmt"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// relate prints regrets, divergences, and their correlation.
func (f *testbedFlags) relate(s testbed.Sweep, results []testbed.Result) error {
	h, rows, err := analysis.Read(known, f.regret...)
	if err != nil {
		return err
	}
	r, err := beyond.Relate(s, results, h, rows)
	if err != nil {
		return err
	}
	if f.json {
		return printLines(r)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "agent\tcomputation/period")
	for _, tau := range r.Taus {
		fmt.Fprintf(w, "\tKL, tau = %d", tau)
	}
	for _, period := range r.Periods {
		fmt.Fprintf(w, "\tregret at %d", period)
	}
	fmt.Fprintln(w)
	for _, a := range r.Agents {
		fmt.Fprintf(w, "%s\t%.3g", a.Name, a.Computation)
		for _, x := range slices.Concat(a.KL, a.Regret) {
			fmt.Fprintf(w, "\t%v", x)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nmeans over %d problems of %s, in nats, and over %d runs of %s, with 95%% intervals\n", r.Problems, s.Name,
		r.Runs, h.Spec.Experiment)
	for i, tau := range r.Taus {
		fmt.Printf("correlation of log regret with log KL at tau = %d: %v over %d agents\n", tau, r.Correlations[i],
			len(r.Agents))
	}
	return nil
}

// mark returns a number of a leaderboard as text, or a dash.
func mark(x *stats.Float) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", float64(*x))
}

// print prints the leaderboard, and draws it.
func (f *testbedFlags) print(s testbed.Sweep, lines []testbed.Line) error {
	if len(lines) == 0 {
		return fmt.Errorf("there is no problem on which both the baseline %s and another agent were tried", f.baseline)
	}
	if f.draw != "" {
		p, err := plot.Leaderboard("", f.baseline, lines)
		if err != nil {
			return err
		}
		if err := plot.Save(p, f.draw); err != nil {
			return err
		}
	}
	if f.json {
		return printLines(lines...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "agent\ttau\tproblems\tmean KL, nats\tover %s, 95%%\taccuracy\tcalibration error\n", f.baseline)
	for _, l := range lines {
		se := &l.SE
		if math.IsNaN(float64(l.SE)) { // NaN for a single seed
			se = nil
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%v\t%s\t%s\n", l.Agent, l.Tau, l.Problems, plusMinus(&l.Mean, se, "%.4f"), l.Ratio,
			mark(l.Accuracy), mark(l.ECE))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	best := "Even the best possible agent scores above 0."
	if s.Kind == testbed.Functions {
		best = "The exact posterior scores 0."
	}
	fmt.Println("\n± is one standard error, from the means of seed classes.", best)
	return nil
}
