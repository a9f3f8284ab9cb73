package cli

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
		Short: "Show the version of the code as results record it, and the changes that affected results",
		Args:  argument(),
		RunE: func(c *cobra.Command, _ []string) error {
			p := lab.ThisProvenance(backend.Default())
			if asJSON {
				return printLines(c.OutOrStdout(), p)
			}
			fmt.Fprintf(c.OutOrStdout(), "hyper %s\n%s\n%s\n", hyper.Version, p, p.Libraries())
			for _, change := range lab.Changes {
				fmt.Fprintf(c.OutOrStdout(), "  since %s\n", change)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the version as results record it, as a JSON object")
	return c
}
