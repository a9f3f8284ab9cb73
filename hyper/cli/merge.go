package cli

import (
	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

func mergeCommand() *cobra.Command {
	var mix mixFlag
	var force bool
	c := &cobra.Command{
		Use:   "merge DIR FILE.jsonl.gz|FILE.jsonl|FILE.csv",
		Short: "Join the shards of a finished sweep into one file",
		Long: `merge writes the rows of the sweep in DIR to FILE, sorted by setting, period and
seed. It checks the checksum of every shard, and that every row of the plan
exists exactly once. The bytes do not depend on the engine, the number of
workers or the shards.

FILE.jsonl.gz is a file of a study, as from hyper export, for hyper compare,
plot and check --study. FILE.jsonl has every row with every digit, and FILE.csv
is the same as a table, as from hyper export. For a search by halving, merge the
rounds DIR/rung-1 and so on.

Results of several calls of hyper run need no merge: hyper compare, plot and
check --study read all folders that they are given.

An existing file is not replaced, unless its content would be the same or
--force is given.`,
		Example: "  hyper merge steps steps.jsonl.gz && hyper compare steps.jsonl.gz",
		Args:    argument("DIR", "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := otherKind(args[0], sweep.PlanFile, false); err != nil {
				return err
			}
			p, err := sweep.Open(args[0], knownExperiments)
			if err != nil {
				return err
			}
			p.Mix = mix.reporter()
			h, rows, err := p.Rows(args[0], knownExperiments)
			if err != nil {
				return err
			}
			return writeResults(notes(c), args[1], h, rows, force)
		},
	}
	mix.add(c.Flags())
	addForce(c, &force)
	return c
}
