package cli

import (
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

func replayCommand() *cobra.Command {
	var agent, to string
	c := &cobra.Command{
		Use:   "replay LOG",
		Short: "Make an agent that has learned from a log of hyper serve or of a program, or from a file",
		Long: `Make an agent that has learned from a log, and save the agent in a new folder
for hyper serve FILE.json --dir. A new learner can thus start with the decisions
and rewards so far. The writer of the log may run meanwhile: the agent learns
from the records that the log has when the command starts.

` + whichLog,
		Example: `  hyper replay hyper-agent --agent other.json --to other-agent
  hyper replay decisions.csv --agent pages.json --to hyper-agent`,
		Args: argument("LOG"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(to); to == "" || err == nil {
				return fmt.Errorf("--to must name a folder that does not exist yet, got %q", to)
			}
			l, err := openLogged(args[0], agent, false)
			if err != nil {
				return err
			}
			defer l.close()
			a, err := offline.Replay(c.Context(), l.log, l.spec, math.MaxUint64)
			if err != nil {
				return err
			}
			defer a.Close()
			if a.Size() == 0 {
				return fmt.Errorf("%s has no rewards to learn from: it is empty, or --keep-log has dropped them", args[0])
			}
			if err := offline.SaveNew(a, l.spec, to); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: an agent that has learned from %d rewards; hyper serve FILE.json "+
				"--dir %[1]s continues with it\n", to, a.Size())
			return nil
		},
	}
	addAgent(c.Flags(), &agent)
	c.Flags().StringVar(&to, "to", "", "folder to create")
	return c
}
