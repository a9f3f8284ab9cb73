package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/notebook/kept"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// keptCommand returns the command that lists kept values. %kept runs it in a cell.
func keptCommand() *cobra.Command {
	var remove []string
	var all bool
	cmd := &cobra.Command{
		Use:   cells.KeptVerb,
		Short: "List the values that notebooks in this folder keep (notebook.Keep), or remove values",
		Args:  bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := kept.Of(".")
			if err != nil {
				return err
			}
			entries, err := folder.All()
			if err != nil {
				return err
			}
			if all {
				for _, e := range entries {
					remove = append(remove, e.Name)
				}
			}
			for _, name := range remove {
				if err := folder.Remove(name); err != nil {
					return badInput(err)
				}
			}
			if all || len(remove) > 0 {
				return nil
			}
			return listKept(cmd.OutOrStdout(), entries)
		},
	}
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "remove the value with this name; repeatable")
	cmd.Flags().BoolVar(&all, "remove-all", false, "remove all values")
	return cmd
}

func listKept(w io.Writer, entries []kept.Entry) error {
	if len(entries) == 0 {
		_, err := fmt.Fprintln(w, "nothing is kept: notebook.Keep keeps a value")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tTYPE\tSIZE\tMADE\tTOOK")
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f s\n", e.Name, e.Type, size(e.Bytes), e.Made.Format(time.DateTime), e.Seconds)
	}
	return t.Flush()
}

// size returns a number of bytes as text.
func size(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// keptEnv returns a variable with the folder of kept values, for cells that change their working folder.
func keptEnv(notebooks string) []string {
	folder, err := kept.Of(notebooks)
	if err != nil {
		return nil // Keep reports the error.
	}
	return []string{"HYPERMODELS_KEPT=" + string(folder)}
}
