// Command kernels prepares and runs the project's notebooks: JupyterLab, the "Go (hypermodels)" kernel and XLA's
// plugin.
//
//	go run ./kernels setup    install everything that the notebooks need, once
//	go run ./kernels lab      open JupyterLab with the notebooks
//	go run ./kernels run      execute the notebooks and report failures
//	go run ./kernels new DIR  begin a project of your own
//	go run ./kernels install  add the Go kernel to your own Jupyter or VS Code; uninstall removes it
//	go run ./kernels clean    remove the files that setup installed
//
// Everything is pinned, by hash if a registry provides one, and is in one folder of the user's cache (see
// [github.com/hypermodels/hypermodels/hyper/backend.Home]). The user's own Python and Jupyter do not change.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// The first signal stops everything in order; a second one ends this process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(status(command().ExecuteContext(ctx)))
}

// command returns the command with its subcommands.
func command() *cobra.Command {
	root := &cobra.Command{
		Use:               "kernels",
		Short:             "Prepare and run the project's notebooks",
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              bad(cobra.NoArgs),
		PersistentPreRunE: func(*cobra.Command, []string) error { return runsOn(runtime.GOOS) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(withHelp)
	root.AddCommand(setupCommand(), labCommand(), runCommand(), cleanCommand(), kernelCommand(), guardCommand(),
		layerCommand(), explainCommand(), pythonCommand(),
		newCommand(), installCommand(), uninstallCommand(), opensCommand(), hyperCommand(), lspCommand())
	root.AddCommand(wrapperCommands()...)
	return root
}

// runsOn returns an error on a system on which the kernel cannot run.
func runsOn(system string) error {
	if system == "windows" {
		return badInput(errors.New("the Go kernel runs on Windows only inside WSL: install WSL (`wsl --install` in a " +
			"terminal, https://learn.microsoft.com/windows/wsl/install), and run this command in its Linux"))
	}
	return nil
}

// inputError is an error in the user's input. It has its own exit status.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

func badInput(err error) error { return inputError{err} }

// bad marks the errors of an argument check as errors in the user's input.
func bad(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return withHelp(cmd, err)
		}
		return nil
	}
}

// withHelp marks an error as an error in the user's input, and adds how to see the command's help.
func withHelp(cmd *cobra.Command, err error) error {
	return badInput(fmt.Errorf("%w; see `go run ./%s --help`", err, cmd.CommandPath()))
}

// exitError ends the program with the status of a child that has already reported its error.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exited returns the error with which this program ends after a child that ended with a status.
func exited(code int, err error) error {
	if err == nil && code != 0 {
		return exitError(code)
	}
	return err
}

// status prints an error once, and returns the exit status: 2 for wrong input, 1 for a failure.
func status(err error) int {
	var input inputError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &input):
		fmt.Fprintln(os.Stderr, "kernels:", err)
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "kernels: interrupted")
		return 130
	}
	fmt.Fprintln(os.Stderr, "kernels:", err)
	return 1
}
