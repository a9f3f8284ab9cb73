package cli

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
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// logged is a log and the agent that it is read for. The log was written by a server or a program, or is a file of
// another policy's decisions.
type logged struct {
	file    string // file of the Spec
	log     *durable.Log
	path    string // file of another policy's decisions; "" if log is set
	weighed bool   // whether the file must have probabilities
	spec    api.Spec
	means   *offline.Log
	added   int // number of data of the log without a decision
}

func (l *logged) flag(c *cobra.Command) {
	c.Flags().StringVar(&l.file, "agent", "", "file of the agent, as hyper serve takes it; default: the agent "+
		"in the folder of hyper serve")
}

// open opens for reading the log in a server's folder, a folder that is a log itself, or a file of decisions.
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
		return fmt.Errorf("%w: want the folder of a hyper serve that learns, or a folder that a program has given to "+
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

// openFile sets the file of decisions, and reads the Spec.
func (l *logged) openFile(path string) (err error) {
	if err := lines.CheckName(path); err != nil {
		return err
	}
	if l.file == "" {
		return fmt.Errorf("%s: this file needs an agent: give it with --agent FILE.json", path)
	}
	l.path = path
	if l.spec, err = agentfile.Read(l.file); err == nil {
		l.means, err = offline.OpenLog(l.records, l.spec, nil)
	}
	return err
}

// read reads the Spec, and the Spec of a server's folder, which must fit it.
func (l *logged) read(dir string) error {
	own, err := agentfile.OfFolder(dir)
	served := !errors.Is(err, fs.ErrNotExist)
	switch {
	case served && err != nil:
		return err
	case served:
		if l.means, err = offline.OpenFolder(dir, l.records); err != nil {
			return err
		}
	}
	switch {
	case !served && l.file == "":
		return errors.New("the log is not in a folder of hyper serve, and has numbers without names: name them in " +
			"a file as hyper serve takes it, with --agent FILE.json")
	case l.file == "":
		l.spec = own
		return nil
	}
	if l.spec, err = agentfile.Read(l.file); err != nil {
		return err
	}
	if !served {
		l.means, err = offline.OpenLog(l.records, l.spec, nil)
		return err
	}
	return faults.Prefix(l.file+": ", agentfile.CheckContinues(l.spec, own))
}

// records returns the records of the log from the first on, and counts the data that were added without a decision.
func (l *logged) records() offline.Records {
	l.added = 0
	if l.path != "" {
		return offline.FileLog(l.path, l.spec, l.weighed)
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

// close closes the log, and prints the number of data that no other agent can learn from.
func (l *logged) close() {
	if l.log != nil {
		_ = l.log.Close() // errors do not matter: the log was only read
	}
	if l.added > 0 {
		fmt.Fprintf(os.Stderr, "hyper: left out %d data that a program added to its agent by Add: they are inputs of "+
			"that agent, without a decision\n", l.added)
	}
}

// whichLog describes the argument LOG in the help.
const whichLog = "LOG is one of these. (1) The folder of hyper serve. (2) The folder that a program has given to " +
	"durable.Open, or its parent if the folder is named log; the file of --agent then names the log's numbers, in their " +
	"order. (3) A file with the decisions of another policy. A .csv file has the columns arm, reward, probability (with " +
	"which the policy took the arm; evaluate needs it), optionally weight, and one for each feature of the context. Each " +
	`line of a .jsonl file is like {"context": {"age": 41}, "arm": "new", "probability": 0.5, "reward": 1}, or has actions, ` +
	"and as action the index of the action that was taken."

func replayCommand() *cobra.Command {
	l, to := logged{}, ""
	c := &cobra.Command{
		Use:   "replay LOG",
		Short: "Make an agent that has learned from a log of hyper serve or of a program, or from a file",
		Long: "Make an agent that has learned from a log, and save it in a new folder for hyper serve FILE.json --dir. " +
			"A new learner can thus start with the decisions and rewards so far. The writer of the log may run meanwhile: " +
			"the agent learns from the records that the log has when the command starts. " + whichLog,
		Example: "  hyper replay hyper-agent --agent other.json --to other-agent\n" +
			"  hyper replay decisions.csv --agent pages.json --to hyper-agent",
		Args: argument("LOG"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(to); to == "" || err == nil {
				return fmt.Errorf("--to must name a folder that does not exist yet, got %q", to)
			}
			if err := l.open(args[0]); err != nil {
				return err
			}
			defer l.close()
			a, err := offline.Replay(c.Context(), l.means, l.spec, math.MaxUint64)
			if err != nil {
				return err
			}
			defer a.Close()
			if err := offline.SaveNew(a, l.spec, to); err != nil {
				return err
			}
			fmt.Printf("%s: an agent that has learned from %d rewards; hyper serve FILE.json --dir %s continues with it\n", to,
				a.Size(), to)
			return nil
		},
	}
	l.flag(c)
	c.Flags().StringVar(&to, "to", "", "folder to create")
	return c
}

func evaluateCommand() *cobra.Command {
	l, o, missing, asJSON := logged{}, offline.EvaluateOptions{}, 0.0, false
	c := &cobra.Command{
		Use:   "evaluate LOG",
		Short: "Estimate from a log how well another agent would have done",
		Long: "Estimate from a log how well the agent of a file would have done. The agent learns from the rewards of the " +
			"first decisions. The rewards of the other decisions estimate the mean reward of its choices (off-policy " +
			"evaluation: hyper/agent/offpolicy). If the log does not allow an estimate, its line says why. " + whichLog,
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
			e, err := offline.Evaluate(c.Context(), l.means, l.spec, o)
			if err != nil {
				return err
			}
			return printEvaluation(e, asJSON)
		},
	}
	l.flag(c)
	c.Flags().Float64Var(&o.Learn, "learn", 0.5, "share of the decisions, the first ones, from which the agent learns")
	c.Flags().Float64Var(&missing, "missing", 0, "reward of decisions that got none; default: these decisions are left out")
	c.Flags().Float64Var(&o.Offpolicy.Level, "level", 0.95, "level of the intervals")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkEvaluation reports values of flags that are out of range.
func checkEvaluation(o offline.EvaluateOptions, missing float64) error {
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
func printEvaluation(e *offline.Evaluation, asJSON bool) error {
	if asJSON {
		return printLines(e)
	}
	fmt.Printf("%d decisions, %d with a reward; the agent learned from the first %d, and is evaluated on %d others\n",
		e.Decisions, e.Rewarded, e.LearnedOf, e.Evaluated)
	return printAll(e.Estimators, false, tabwriter.TabIndent, "mean reward by\tvalue\tinterval\teffective decisions",
		func(_ int, v offline.Estimate) string {
			if v.Refused != "" {
				return v.Name + "\tnone: " + v.Refused
			}
			return fmt.Sprintf("%s\t%.4g\t[%.4g, %.4g]\t%.0f", v.Name, v.Value, v.Lower, v.Upper, v.EffectiveSize)
		})
}
