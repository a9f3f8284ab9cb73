package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func benchStudyCommand() *cobra.Command {
	var t timing
	var pieces []string
	var mix mixFlag
	c := &cobra.Command{
		Use:   "study EXPERIMENT [KEY=VALUE...]",
		Short: "Measure the time of a period of each agent of a study, and print the time with regret and computation",
		Long: `study helps to choose an agent for a given budget per period. For each agent and
setting of a study with the given values it prints:
  - the mean regret with its 95% interval,
  - the operations of a period by the paper's formula (section 4.1),
  - the microseconds of a run-period on one core: a run-period is one period of
    one run,
  - the memory of a run during a call: the run's state before and after the
    call, including data, and temporary memory.

The command times all agents in turn, in several rounds. The fastest round
counts. The time includes only the second half of the periods, without
compilation.

An agent is on the frontier, of operations or of time, if all agents that cost
at most as much have more regret, with 95% confidence. An agent is off the
frontier if, with 95% confidence, one of those agents has less regret. If
neither is certain, the agent is undecided. The comparisons use the same seeds,
and the confidence is for all pairs together (Holm's correction).`,
		Example: "  hyper bench study neural actions=1000",
		Args:    arguments("EXPERIMENT"),
	}
	t.add(c)
	c.Flags().StringArrayVar(&pieces, "study", nil,
		"DIR|FILE: the results; repeatable, or a pattern (default notebooks/results/EXPERIMENT/*.gz)")
	mix.add(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		h, rows, err := readPart(args[0], args[1:], pieces, mix)
		if err != nil {
			return err
		}
		// The timing takes minutes, so that faults of the results must be found before.
		if _, err := analysis.Tradeoffs(h, rows, nil); err != nil {
			return err
		}
		if err := t.open(); err != nil {
			return err
		}
		specs := make([]lab.Spec, len(h.Spec.Entries))
		for i, e := range h.Spec.Entries {
			specs[i] = h.Spec
			specs[i].Entries = []lab.Entry{e}
		}
		micros, bytes, err := t.inTurn(c.Context(), specs)
		if err != nil {
			return err
		}
		tradeoffs, err := analysis.Tradeoffs(h, rows, micros)
		if err != nil {
			return err
		}
		for i, b := range bytes {
			tradeoffs[i].Bytes = int64(b)
		}
		return t.printTradeoffs(c.OutOrStdout(), tradeoffs, plot.Labels(analysis.Curves(h, rows)))
	}
	return c
}

// readPart reads the entries of a study whose settings match all values. A value has the form key=value.
func readPart(name string, values, pieces []string, mix mixFlag) (lab.Header, []lab.Row, error) {
	x, err := experiment(name)
	if err != nil {
		return lab.Header{}, nil, err
	}
	if pieces == nil {
		pieces = []string{filepath.Join("notebooks", "results", x.Name, "*.gz")}
	}
	h, rows, err := readStudy(x, pieces, mix)
	if err != nil {
		return h, nil, err
	}
	if h, rows, err = analysis.Part(x, h, rows, values...); err != nil {
		return h, nil, fmt.Errorf("the study %s: %w", strings.Join(pieces, ", "), err)
	}
	return h, rows, nil
}

func (t timing) printTradeoffs(w io.Writer, tradeoffs []analysis.Tradeoff, labels []string) error {
	const head = "agent\tperiod\truns\tmean regret [95%]\toperations\tby operations\tµs/period\tby time\tMB/run"
	if t.json { // in the form of seconds.jsonl and costs.json
		return printLines(w, tradeoffs...)
	}
	return printAll(w, tradeoffs, false, tabwriter.TabIndent, head, func(i int, o analysis.Tradeoff) string {
		memory := "-"
		if o.Bytes > 0 {
			memory = fmt.Sprintf("%.1f", float64(o.Bytes)/1e6)
		}
		return fmt.Sprintf("%s\t%d\t%d\t%s\t%.3g\t%s\t%s\t%s\t%s", labels[i], o.Period, o.Runs, o.Regret,
			o.Operations, o.ByOperations, short(float64(o.Micros)), o.ByTime, memory)
	})
}
