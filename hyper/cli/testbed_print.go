package cli

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// relate prints the regrets and divergences of agents, and the correlation of regret with divergence.
func (f *testbedFlags) relate(w io.Writer, s testbed.Sweep, results []testbed.Result, h lab.Header,
	rows []lab.Row) error {
	r, err := beyond.Relate(s, results, h, rows)
	if err != nil {
		return err
	}
	if f.json {
		return printNumbers(w, r)
	}
	head := "agent\tcomputation/period"
	for _, tau := range r.Taus {
		head += fmt.Sprintf("\tKL, tau = %d", tau)
	}
	for _, period := range r.Periods {
		head += fmt.Sprintf("\tregret at %d", period)
	}
	err = printAll(w, r.Agents, false, 0, head, func(_ int, a beyond.Agent) string {
		row := fmt.Sprintf("%s\t%.3g", a.Name, a.Computation)
		for _, x := range slices.Concat(a.KL, a.Regret) {
			row += fmt.Sprintf("\t%v", x)
		}
		return row
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmeans over %d problems of %s, in nats, and over %d runs of %s, with 95%% intervals\n", r.Problems,
		s.Name, r.Runs, h.Spec.Experiment)
	for i, tau := range r.Taus {
		fmt.Fprintf(w, "correlation of log regret with log KL at tau = %d: %v over %d agents\n", tau, r.Correlations[i],
			len(r.Agents))
	}
	return nil
}

// print prints the leaderboard, and draws it.
func (f *testbedFlags) print(w io.Writer, s testbed.Sweep, lines []testbed.Line) error {
	if len(lines) == 0 {
		return fmt.Errorf("there is no problem on which both the baseline %s and another agent were tried", f.baseline)
	}
	if f.figure != "" {
		p, err := plot.Leaderboard("", f.baseline, lines)
		if err != nil {
			return err
		}
		if _, err := saveFigure(p, f.figure, "figure"); err != nil {
			return err
		}
	}
	head := fmt.Sprintf("agent\ttau\tproblems\tmean KL, nats\tover %s, 95%%\taccuracy\tcalibration error", f.baseline)
	err := printAll(w, lines, f.json, 0, head, func(_ int, l testbed.Line) string {
		se := &l.SE
		if math.IsNaN(float64(l.SE)) { // NaN for a single seed
			se = nil
		}
		return fmt.Sprintf("%s\t%d\t%d\t%s\t%v\t%s\t%s", l.Agent, l.Tau, l.Problems, plusMinus(&l.Mean, se, "%.4f"),
			l.Ratio, plain(l.Accuracy, "%.4f"), plain(l.ECE, "%.4f"))
	})
	if err != nil || f.json {
		return err
	}
	best := "Even the best possible agent scores above 0."
	if s.Kind == testbed.Functions {
		best = "The exact posterior scores 0."
	}
	if slices.ContainsFunc(lines, func(l testbed.Line) bool { return !math.IsNaN(float64(l.SE)) }) {
		best = "± is one standard error. It compares the means of groups of problems: group i has the i-th problem of " +
			"each setting. " + best
	}
	fmt.Fprintln(w, "\n"+best)
	return nil
}
