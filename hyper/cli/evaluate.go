package cli

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

func evaluateCommand() *cobra.Command {
	var agent string
	var o offline.EvaluateOptions
	var missing float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "evaluate LOG",
		Short: "Estimate from a log how well another agent would have done",
		Long: `Estimate from a log how well the agent of --agent would have done. The agent
learns from the rewards of the first decisions. The rewards of the other
decisions estimate the mean reward of the agent's choices (off-policy
evaluation: hyper/agent/offpolicy). If the log does not allow an estimate, the
estimate's line says why.

` + whichLog,
		Example: `  hyper evaluate hyper-agent --agent other.json
  hyper evaluate decisions.csv --agent pages.json`,
		Args: argument("LOG"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("missing") {
				o.Missing = &missing
			}
			if err := checkEvaluation(o, missing); err != nil {
				return err
			}
			l, err := openLogged(args[0], agent, true)
			if err != nil {
				return err
			}
			defer l.close()
			e, err := offline.Evaluate(c.Context(), l.log, l.spec, o)
			if err != nil {
				return err
			}
			return printEvaluation(c.OutOrStdout(), e, asJSON)
		},
	}
	flags := c.Flags()
	addAgent(flags, &agent)
	flags.Float64Var(&o.Learn, "learn", 0.5, "share of the decisions, the first ones, from which the agent learns")
	flags.Float64Var(&missing, "missing", 0,
		"reward of decisions that got no reward (default: such decisions are left out)")
	flags.Float64Var(&o.Offpolicy.Level, "level", 0.95, "level of the intervals")
	flags.BoolVar(&asJSON, "json", false, "print the estimates as one JSON object")
	return c
}

// checkEvaluation returns an error if the value of a flag is out of range.
func checkEvaluation(o offline.EvaluateOptions, missing float64) error {
	for _, share := range []struct {
		flag string
		x    float64
	}{{"learn", o.Learn}, {"level", o.Offpolicy.Level}} {
		if !(share.x > 0 && share.x < 1) {
			return fmt.Errorf("--%s must be between 0 and 1, got %v", share.flag, share.x)
		}
	}
	if !(math.Abs(missing) <= 1e18) {
		return fmt.Errorf("--missing must be between -1e18 and 1e18, got %v", missing)
	}
	return nil
}

func printEvaluation(w io.Writer, e *offline.Evaluation, asJSON bool) error {
	if asJSON {
		return printLines(w, e)
	}
	fmt.Fprintf(w, "%d decisions, %d with a reward; the agent learned from the first %d, and is evaluated on %d "+
		"others\n", e.Decisions, e.Rewarded, e.LearnedOf, e.Evaluated)
	return printAll(w, e.Estimators, false, tabwriter.TabIndent, "mean reward by\tvalue\tinterval\teffective decisions",
		func(_ int, v offline.Estimate) string {
			if v.Refused != "" {
				return v.Name + "\tnone: " + v.Refused
			}
			return fmt.Sprintf("%s\t%.4g\t[%.4g, %.4g]\t%.0f", v.Name, v.Value, v.Lower, v.Upper, v.EffectiveSize)
		})
}
