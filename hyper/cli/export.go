package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

func exportCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "export DIR FILE.jsonl.gz|FILE.jsonl|FILE.csv [KEY=VALUE...]",
		Short: "Write complete results as a small file of a study, for hyper plot and hyper compare",
		Long: `export writes complete results as a small file of a study, for hyper plot and
hyper compare. FILE.jsonl.gz has the rows at some periods, rounded to
thousandths. FILE.jsonl has every row with every digit. With settings, KEY=VALUE
or KEY=V,V,..., export writes only the agents that have these settings, and with
agent=NAME or agent=NAME,NAME,... only the agents of these names.

FILE.csv is a table for other programs, such as pandas.read_csv: every row, with
the agent, the settings in which agents differ, seed, period, cumulative regret,
and the first period with predictions that are not finite numbers, or 0.

An existing file is not replaced, unless its content would be the same or
--force is given.`,
		Example: "  hyper export hyper-out/D best.jsonl.gz keep=0.8\n  hyper export hyper-out/D rows.csv",
		Args: func(c *cobra.Command, args []string) error {
			return argument("DIR", "FILE")(c, args[:min(len(args), 2)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			sets := args[2:]
			for _, set := range sets { // a key alone would sort, but select nothing
				if key, value, ok := strings.Cut(set, "="); !ok || key == "" || value == "" {
					return fmt.Errorf("%q is not of the form key=value or key=v1,v2", set)
				}
			}
			if err := notOfRun(args[:1]); err != nil {
				return err
			}
			h, rows, err := analysis.Complete(args[0], knownExperiments, sets...)
			if err != nil {
				return err
			}
			return writeResults(notes(c), args[1], h, rows, force)
		},
	}
	addForce(c, &force)
	return c
}

// addForce adds the flag --force, which replaces an existing file.
func addForce(c *cobra.Command, force *bool) {
	c.Flags().BoolVar(force, "force", false, "replace FILE if it exists")
}
