package main

import (
	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR FILE.jsonl.gz",
		Short: "Write complete results as a small file, a piece of a study that hyper plot and hyper compare read",
		Args:  argument("DIR", "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return lab.Export(args[0], args[1], paper.Known)
		},
	}
}
