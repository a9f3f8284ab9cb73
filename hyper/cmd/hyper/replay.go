package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/serve"
)

// logged is the log of a server's folder, and an agent that it is for.
type logged struct {
	file string // of the Spec
	log  *durable.Log
	spec serve.Spec
}

func (l *logged) flag(c *cobra.Command) {
	c.Flags().StringVar(&l.file, "agent", "", "file of the agent, as hyper serve takes it; none is the folder's own")
}

// open opens the log of a folder to read.
func (l *logged) open(dir string) error {
	of, err := serve.SpecOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no folder of hyper serve: %w", dir, err)
	}
	if l.spec = of; err == nil && l.file != "" {
		l.spec, err = serve.ReadSpec(l.file)
	}
	if err == nil {
		err = serve.CheckNames(l.spec, of)
	}
	if err != nil {
		return err
	}
	l.log, err = durable.Open(filepath.Join(dir, "log"), durable.Options{ReadOnly: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	return err
}

func replayCommand() *cobra.Command {
	l, to := logged{}, ""
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Make an agent that has learned from the log of hyper serve",
		Long: "Make an agent that has learned from the log in the folder DIR of hyper serve, and save it in a new folder, " +
			"which hyper serve FILE.json --dir takes. So another learner begins with what has been seen. The server may " +
			"run: the agent learns what the log has at the beginning.",
		Example: "  hyper replay hyper-agent --agent other.json --to other-agent",
		Args:    argument("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(to); to == "" || err == nil {
				return fmt.Errorf("--to must be a folder that is not there yet, got %q", to)
			}
			if err := l.open(args[0]); err != nil {
				return err
			}
			defer l.log.Close()
			a, err := serve.Replay(c.Context(), l.log.All(0), l.spec, math.MaxUint64)
			if err != nil {
				return err
			}
			defer a.Close()
			if err := serve.SaveNew(a, l.spec, to); err != nil {
				return err
			}
			fmt.Printf("%s: an agent that has learned from %d rewards; hyper serve FILE.json --dir %s goes on with it\n", to,
				a.Size(), to)
			return nil
		},
	}
	l.flag(c)
	c.Flags().StringVar(&to, "to", "", "folder to make")
	return c
}

func evaluateCommand() *cobra.Command {
	l, o, missing, asJSON := logged{}, serve.EvaluateOptions{}, 0.0, false
	c := &cobra.Command{
		Use:   "evaluate DIR",
		Short: "Tell from the log of hyper serve how another agent would have done",
		Long: "Tell from the log in the folder DIR of hyper serve how the agent of a file would have done: it learns from " +
			"the rewards of the first decisions, and the others tell what its choices there would have been worth " +
			"(off-policy evaluation: hyper/agent/offpolicy). Where the log does not allow an estimate, its line says why.",
		Example: "  hyper evaluate hyper-agent --agent other.json",
		Args:    argument("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("missing") {
				o.Missing = &missing
			}
			if err := l.open(args[0]); err != nil {
				return err
			}
			defer l.log.Close()
			e, err := serve.Evaluate(c.Context(), func() serve.Records { return l.log.All(0) }, l.spec, o)
			if err != nil {
				return err
			}
			return printEvaluation(e, asJSON)
		},
	}
	l.flag(c)
	c.Flags().Float64Var(&o.Learn, "learn", 0.5, "share of the decisions, the first, whose rewards the agent learns from")
	c.Flags().Float64Var(&missing, "missing", 0, "reward of decisions that got none; without it they are left out")
	c.Flags().Float64Var(&o.Offpolicy.Level, "level", 0.95, "of the intervals")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printEvaluation prints a line for each estimator.
func printEvaluation(e *serve.Evaluation, asJSON bool) error {
	if asJSON {
		return printLines(e)
	}
	fmt.Printf("%d decisions, %d with a reward; the agent learned from the first %d, and is evaluated on %d others\n",
		e.Decisions, e.Rewarded, e.LearnedOf, e.Evaluated)
	return printAll(e.Estimators, false, tabwriter.TabIndent, "mean reward by\tvalue\tinterval\teffective decisions",
		func(_ int, v serve.Estimated) string {
			if v.Refused != "" {
				return v.Name + "\tnone: " + v.Refused
			}
			return fmt.Sprintf("%s\t%.4g\t[%.4g, %.4g]\t%.0f", v.Name, v.Value, v.Lower, v.Upper, v.EffectiveSize)
		})
}
