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
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/serve"
)

// logged is the log of a server, of a program, or of another policy in a file, and an agent that it is for.
type logged struct {
	file    string // of the Spec
	log     *durable.Log
	path    string // of the file of another policy's decisions; "" where there is a log
	weighed bool   // whether the file must have probabilities
	spec    serve.Spec
	means   *serve.Log
	added   int // data of the log without a decision
}

func (l *logged) flag(c *cobra.Command) {
	c.Flags().StringVar(&l.file, "agent", "", "file of the agent, as hyper serve takes it; without it the agent is that "+
		"of the folder of hyper serve")
}

// open opens the log of a folder to read, the log that is a folder, or a file of decisions.
func (l *logged) open(dir string) (err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return l.openFile(dir)
	}
	of, folder := dir, filepath.Join(dir, "log")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		of, folder = filepath.Dir(filepath.Clean(dir)), dir
	}
	l.log, err = durable.Open(folder, durable.Options{ReadOnly: true, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: want the folder of a hyper serve that learns, or one that a program has given to "+
			"durable.Open", err)
	}
	if err != nil {
		return err
	}
	if err := l.read(of); err != nil {
		return errors.Join(err, l.log.Close())
	}
	return nil
}

// openFile notes a file of decisions, and reads the Spec.
func (l *logged) openFile(path string) (err error) {
	if err := lines.CheckName(path); err != nil {
		return err
	}
	if l.file == "" {
		return fmt.Errorf("%s: the agent that is to read it is missing: give it by --agent FILE.json", path)
	}
	l.path = path
	if l.spec, err = serve.ReadSpec(l.file); err == nil {
		l.means, err = serve.OpenLog(l.records, l.spec, nil)
	}
	return err
}

// read reads the Spec, and that of the folder of a server, which it must fit.
func (l *logged) read(dir string) error {
	own, err := serve.SpecOf(dir)
	served := !errors.Is(err, fs.ErrNotExist)
	switch {
	case served && err != nil:
		return err
	case served:
		if l.means, err = serve.LogOf(dir, l.records); err != nil {
			return err
		}
	}
	switch {
	case !served && l.file == "":
		return errors.New("the log is not in a folder of hyper serve, and has numbers without names: say by --agent " +
			"FILE.json what they are, in a file as hyper serve takes it")
	case l.file == "":
		l.spec = own
		return nil
	}
	if l.spec, err = serve.ReadSpec(l.file); err != nil {
		return err
	}
	if !served {
		l.means, err = serve.OpenLog(l.records, l.spec, nil)
		return err
	}
	return faults.Prefix(l.file+": ", serve.CheckNames(l.spec, own))
}

// records reads the log from its first record, and counts the data that were added without a decision.
func (l *logged) records() serve.Records {
	l.added = 0
	if l.path != "" {
		return serve.FileLog(l.path, l.spec, l.weighed)
	}
	return func(yield func(journal.Record, error) bool) {
		for r, err := range l.log.All(0) {
			if r.Datum != nil {
				l.added++
			}
			if errors.Is(err, durable.ErrGap) {
				err = fmt.Errorf("%w: if a hyper serve with --keep-log has just dropped them, run the command again", err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// close closes the log, and tells what no other agent can learn from.
func (l *logged) close() {
	if l.log != nil {
		_ = l.log.Close() // it was only read
	}
	if l.added > 0 {
		fmt.Fprintf(os.Stderr, "hyper: left out %d data that a program has given to its agent by Add: they are inputs of "+
			"that agent, without a decision\n", l.added)
	}
}

// whichLog says what DIR is.
const whichLog = "LOG is the folder of hyper serve; or the folder of a log that a program has given to durable.Open, " +
	"or the folder that has it as log: then the names in --agent's file are those of the log's numbers, in their order. " +
	"Or LOG is a file with the decisions of another policy: .csv with the columns arm, reward, probability (with which the " +
	"policy took the arm; evaluate needs it), perhaps weight, and one for each feature of the context; or .jsonl, each line " +
	`as {"context": {"age": 41}, "arm": "new", "probability": 0.5, "reward": 1}, or with actions and action, the place of ` +
	"the one that was taken."

func replayCommand() *cobra.Command {
	l, to := logged{}, ""
	c := &cobra.Command{
		Use:   "replay LOG",
		Short: "Make an agent that has learned from a log: of hyper serve, of a program, or in a file",
		Long: "Make an agent that has learned from a log, and save it in a new folder, which hyper serve FILE.json --dir " +
			"takes. So another learner begins with what has been seen. The log's writer may run: the agent learns what the " +
			"log has at the beginning. " + whichLog,
		Example: "  hyper replay hyper-agent --agent other.json --to other-agent\n" +
			"  hyper replay decisions.csv --agent pages.json --to hyper-agent",
		Args: argument("LOG"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(to); to == "" || err == nil {
				return fmt.Errorf("--to must be a folder that is not there yet, got %q", to)
			}
			if err := l.open(args[0]); err != nil {
				return err
			}
			defer l.close()
			a, err := serve.Replay(c.Context(), l.means, l.spec, math.MaxUint64)
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
		Use:   "evaluate LOG",
		Short: "Tell from a log how another agent would have done",
		Long: "Tell from a log how the agent of a file would have done: it learns from the rewards of the first decisions, " +
			"and the others tell what its choices there would have been worth (off-policy evaluation: " +
			"hyper/agent/offpolicy). Where the log does not allow an estimate, its line says why. " + whichLog,
		Example: "  hyper evaluate hyper-agent --agent other.json\n  hyper evaluate decisions.csv --agent pages.json",
		Args:    argument("LOG"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("missing") {
				o.Missing = &missing
			}
			if err := checkEvaluation(o, missing); err != nil {
				return err
			}
			l.weighed = true
			if err := l.open(args[0]); err != nil {
				return err
			}
			defer l.close()
			e, err := serve.Evaluate(c.Context(), l.means, l.spec, o)
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

// checkEvaluation reports numbers of flags that are out of range.
func checkEvaluation(o serve.EvaluateOptions, missing float64) error {
	for flag, share := range map[string]float64{"learn": o.Learn, "level": o.Offpolicy.Level} {
		if !(share > 0 && share < 1) {
			return fmt.Errorf("--%s must be between 0 and 1, got %v", flag, share)
		}
	}
	if !(math.Abs(missing) <= 1e18) {
		return fmt.Errorf("--missing must be between -1e18 and 1e18, got %v", missing)
	}
	return nil
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
