package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func compareCommand() *cobra.Command {
	var asJSON bool
	var mix mixFlag
	c := &cobra.Command{
		Use:   "compare DIR|FILE...",
		Short: "Compare the agents of results or study files, paired by seed, with 95% intervals",
		Long: `compare prints a line for each agent and setting, after the last period that all
runs of the line have reached. A line has the number of runs, the mean and the
median of their cumulative regret, the share of runs that failed, the number of
runs that diverged, and the difference from the first line's mean over the runs
with common seeds. A run fails if its regret per period is still high late in
the run. Numbers in brackets are 95% intervals. A dash means that there is
nothing to compare, that the experiment does not say when a run fails, or that
there are too few runs for an interval: a median needs six.

A run diverges when its predictions are no longer finite numbers. From then on
the run takes all actions in turn, and its regret counts like the regret of
every other run.`,
		Example: "  hyper compare notebooks/results/neural/linear-200.jsonl.gz " +
			"notebooks/results/neural/ensemble-30-200.jsonl.gz",
		Args: arguments("DIR or FILE"),
		RunE: func(c *cobra.Command, paths []string) error {
			h, rows, notices, err := readSome(paths, mix)
			if err != nil {
				return err
			}
			x, err := experiment(h.Spec.Experiment)
			if err != nil {
				return err
			}
			all, err := analysis.Compare(h, rows, x.Failure)
			if errors.Is(err, analysis.ErrNoRows) {
				return cmp.Or(unfinished(paths), err)
			}
			if err != nil {
				return err
			}
			printNotices(notices)
			labels := plot.Labels(analysis.Curves(h, rows))
			return printAll(c.OutOrStdout(), all, asJSON, 0, comparisonHead, func(i int, s analysis.Standing) string {
				return labels[i] + comparison(s)
			})
		},
	}
	mix.add(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per agent and setting")
	return c
}

const comparisonHead = "agent\tperiod\truns\tmean [95%]\tmedian [95%]\tfailed [95%]\tdiverged\t" +
	"difference from the first, paired [95%]"

// comparison returns the row's text after the agent's name.
func comparison(s analysis.Standing) string {
	difference := "-" // in the first line, and if no seeds are common
	if s.Pairs > 0 {
		difference = s.Difference.String()
	}
	failed := orDash(s.Failed.Value, s.Failed.String()) // a dash if the experiment does not say when a run fails
	return fmt.Sprintf("\t%d\t%d\t%s\t%s\t%s\t%d\t%s", s.Period, s.Runs, s.Mean, s.Median, failed, s.Diverged,
		difference)
}
