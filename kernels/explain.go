package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer"
)

const explainVerb = "explain"

// explainCommand returns the command with which start.sh shows an error in a notebook, because it has no kernel itself.
func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:    explainVerb + " CONNECTION-FILE WHY",
		Short:  "Show a Jupyter client why the kernel does not start (started by start.sh)",
		Hidden: true,
		Args:   bad(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explain(cmd.Context(), args[0], errors.New(args[1]))
		},
	}
}

// explain replaces a kernel that does not start. It shows the reason in the notebook, not only in Jupyter's log, and
// returns when Jupyter ends the kernel.
func explain(ctx context.Context, connection string, why error) error {
	if errors.Is(why, context.Canceled) {
		return why
	}
	say("kernels: %v", why)
	ctx, cancel := withMaster(ctx, false)
	defer cancel()
	return layer.Explain(ctx, connection, why)
}

// launcherItem returns an item with this program itself. start.sh uses it to explain why Go cannot compile the program.
func launcherItem() item {
	build := func(_ context.Context, dir, _ string) error {
		return copySelf(filepath.Join(dir, "kernels"))
	}
	return item{name: "launcher", pins: "1", build: build}
}

// copySelf copies this program to a file.
func copySelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}
