// Package cli is the command hyper: it runs the experiments of "Hypermodels for Exploration", continues interrupted
// runs, and draws and tests results. A program of another module that adds entries to the catalogue (see package
// catalog) is the command with these entries:
//
//	func main() {
//		catalog.AddPolicy("boltzmann", "probabilities by a softmax of the means", Boltzmann{Functions: 8})
//		os.Exit(cli.Run(os.Args[1:]))
//	}
//
// The entries must be added before Run in every process, because runs on several cores start the program again.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Exit statuses.
const (
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130
)

// failure is an error with exit status 1. All other errors are about wrong input or unusable files.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// failed returns err with exit status 1. It returns an interruption, and an error about results of different revisions,
// unchanged.
func failed(err error) error {
	if err == nil || errors.Is(err, lab.ErrInterrupted) || errors.Is(err, lab.ErrMixed) {
		return err
	}
	return failure{err}
}

// Run runs the command with arguments, and returns the exit status: 0 for success, 1 if the command failed or a claim
// of hyper check does not hold, 2 for wrong input or unusable files, and 130 after an interruption.
func Run(args []string) int {
	klog.LogToStderr(false) // GoMLX and go-xla log errors that they also return
	klog.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process immediately
	root := newCommand()
	root.SetArgs(args)
	out := &output{Writer: os.Stdout}
	root.SetOut(out)
	var command *cobra.Command
	err := checkWorldNames()
	if err == nil {
		command, err = root.ExecuteContextC(ctx)
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, lab.ErrInterrupted) {
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "hyper:", err)
	if errors.As(err, new(failure)) || errors.Is(err, lab.ErrWorker) {
		return exitFailed
	}
	if errors.Is(err, lab.ErrMixed) && command.Flags().Lookup("mix") != nil {
		fmt.Fprintln(os.Stderr, "hyper: --mix joins them nevertheless; the results then name both")
	}
	return exitBadInput
}

// output is a Writer that keeps its first error, such as a full disk, so that a command need not check each line.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// checkWorldNames returns an error if a world of the catalogue has the name of an experiment. Such a world could not be
// run.
func checkWorldNames() error {
	for _, w := range catalog.Worlds() {
		if _, ok := knownExperiments[w.Name]; ok {
			return fmt.Errorf("the catalogue's world %s has the name of an experiment: give the world another name",
				w.Name)
		}
	}
	return nil
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "hyper",
		Short:         "Experiments with hypermodels for exploration",
		Long:          "hyper runs, draws and tests the experiments of \"Hypermodels for Exploration\" (ICLR 2020).",
		Version:       hyper.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.Args = knownCommand
	root.PersistentPreRunE = notEmpty
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(approxCommand(), runCommand(), resumeCommand(), plotCommand(), compareCommand(), exportCommand(),
		listCommand(), checkCommand(), tuneCommand(), sweepCommand(), shardCommand(), statusCommand(), mergeCommand(),
		benchCommand(), serveCommand(), rewardCommand(), replayCommand(), evaluateCommand(),
		doctorCommand(), versionCommand(), testbedCommand(), tableCommand(), testbedWorkerCommand(), workerCommand())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" { // cobra's own would print the general help for an unknown command
			c.Args = func(_ *cobra.Command, args []string) error { return knownCommand(root, args) }
		}
	}
	return root
}

// printToStderr is the PreRun of the command of a worker process, whose output is its messages to the parent. The
// command's output stays as it is, but what the code of the catalogue's entries prints goes to standard error.
func printToStderr(*cobra.Command, []string) { os.Stdout = os.Stderr }

// knownCommand returns an error for arguments that do not begin with a command.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return checkKnown("command", names, args[0])
}
