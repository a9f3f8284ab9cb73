package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func compareCommand() *cobra.Command {
	var asJSON bool
	var mix mixFlag
	c := &cobra.Command{
		Use:   "compare DIR|FILE...",
		Short: "Compare the agents of results or pieces of a study, paired by seed, with 95% intervals",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			h, rows, err := lab.Study{Mix: mix.hear()}.Read(paper.Known, paths...)
			if err != nil {
				return err
			}
			all, err := lab.Compare(h, rows, paper.Known[h.Spec.Experiment].Failure)
			if err != nil {
				return err
			}
			if asJSON {
				return printLines(all...)
			}
			return printComparison(all, plot.Labels(lab.Curves(h, rows)))
		},
	}
	mix.add(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per agent and setting")
	return c
}

func printComparison(all []lab.Standing, labels []string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "agent\tperiod\truns\tmean [95%]\tmedian [95%]\tfailed [95%]\tdiverged\tless the first's, paired [95%]")
	for i, s := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t%s\n", labels[i], s.Period, s.Runs, s.Mean, s.Median, s.Failed, s.Diverged, s.Difference)
	}
	return w.Flush()
}
