package main

import (
	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR FILE.jsonl.gz [KEY=VALUE...]",
		Short: "Write complete results as a small file, a piece of a study that hyper plot and hyper compare read",
		Long: "Writes complete results as a small file, a piece of a study that hyper plot and hyper compare read. With settings\n" +
			"it is those agents that have them: KEY=VALUE, or KEY=V,V,...",
		Example: "  hyper export hyper-out/D best.jsonl.gz keep=0.8",
		Args: func(c *cobra.Command, args []string) error {
			return argument("DIR", "FILE")(c, args[:min(len(args), 2)])
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return lab.Export(args[0], args[1], paper.Known, args[2:]...)
		},
	}
}
