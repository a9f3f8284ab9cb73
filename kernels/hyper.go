package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer"
)

// hyperCommand is what %hyper runs in a cell: the hyper command of the project that the notebook's cells compile against.
func hyperCommand() *cobra.Command {
	return &cobra.Command{
		Use:                layer.HyperVerb + " [ARGUMENT...]",
		Short:              "Run the hyper command in a cell (%hyper)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := hyperProgram(cmd.Context())
			if err != nil {
				return err
			}
			return syscall.Exec(program, append([]string{"hyper"}, args...), os.Environ())
		},
	}
}

// hyperProgram compiles the command. Go does nothing where it is compiled already.
func hyperProgram(ctx context.Context) (string, error) {
	repo := checkout(os.Getenv(checkoutVar)) // The notebook may lie elsewhere.
	notebooks, err := notebookDir()
	if err != nil {
		return "", err
	}
	g, err := findGo(ctx)
	if err != nil {
		return "", err
	}
	program := filepath.Join(os.TempDir(), "hyper-command")
	var out []byte
	for _, dir := range []string{repo.around(notebooks), string(repo)} { // A module may lack what the command alone needs.
		build := exec.CommandContext(ctx, g.path, "build", "-o", program, modulePath+"/hyper/cmd/hyper")
		build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS="+cellFlags(), "GOWORK=off")
		if out, err = build.CombinedOutput(); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("the hyper command does not compile: %w\n%s", err, out)
}
