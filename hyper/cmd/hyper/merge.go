package main

import (
	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func mergeCommand() *cobra.Command {
	var mix mixFlag
	var force bool
	c := &cobra.Command{
		Use:   "merge DIR FILE.jsonl.gz",
		Short: "Join the shards of a finished sweep to a piece of a study, or to FILE.jsonl with every row",
		Long: `merge checks every shard of the sweep in DIR (its checksum; every row of the plan there exactly once) and
writes their rows to FILE, sorted by setting, period and seed: the same bytes whatever the engine, the number of
workers and the shards. FILE.jsonl.gz is a piece of a study, as hyper export writes it, for hyper compare, plot
and check --study; FILE.jsonl has every row with every digit. Of a search by halving, merge its rounds:
DIR/rung-1 and so on. A file that is there stays, unless it would be the same or --force is given.`,
		Example: "  hyper merge steps steps.jsonl.gz && hyper compare steps.jsonl.gz",
		Args:    argument("DIR", "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := sweep.Open(args[0], paper.Known)
			if err != nil {
				return err
			}
			p.Mix = mix.hear()
			h, rows, err := p.Rows(args[0], paper.Known)
			if err != nil {
				return err
			}
			return writeResults(args[1], h, rows, force)
		},
	}
	mix.add(c.Flags())
	addForce(c, &force)
	return c
}
