package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which code this is, as every result it makes records it, and what changed results so far",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p := lab.ThisProvenance(backend.Default())
			if asJSON {
				return printLines(p)
			}
			fmt.Printf("hyper %s\n%s\n%s\n", hyper.Version, p, p.Libraries())
			for _, change := range lab.Changes {
				fmt.Printf("  since %s\n", change)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print what results record, as a JSON object")
	return c
}
