package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// shardVariables lists the environment variables with the number of a task: of Slurm's job arrays, and of Kubernetes'
// Indexed Jobs.
var shardVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

func shardCommand() *cobra.Command {
	var engine engineFlags
	var serve bool
	c := &cobra.Command{
		Use:   "shard DIR [NUMBER]",
		Short: "Run one shard of a sweep, as a task of a cluster, or continue it",
		Long: `shard runs one shard of the sweep in DIR. Its number is NUMBER, or
$SLURM_ARRAY_TASK_ID or $JOB_COMPLETION_INDEX, which schedulers set. If the
shard is done, the command ends at once. If the shard was begun, here or
elsewhere, the command continues it. On SIGTERM the command saves the shard's
state, and ends with status 130.

Exit status: 0 if the shard is done; 1 if it failed, and may be tried again; 2
if it cannot be done; 130 after an interruption.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return argument("DIR")(c, args)
			}
			return argument("DIR", "NUMBER")(c, args)
		},
	}
	flags := c.Flags()
	engine.addContinuing(flags, workersUsage)
	flags.BoolVar(&serve, "serve", false,
		"run as a worker of hyper sweep: NUMBER is a share k/n of the cores, standard input has shards")
	_ = flags.MarkHidden("serve")
	c.PreRun = func(c *cobra.Command, args []string) {
		if serve {
			printToStderr(c, args)
		}
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if serve && len(args) == 2 {
			return failed(sweep.Serve(c.Context(), os.Stdin, c.OutOrStdout(), knownExperiments, args[0], args[1],
				engine.every, engine.mix.reporter()))
		}
		n, err := shardNumber(args[1:])
		if err != nil {
			return err
		}
		return runShard(c.Context(), args[0], n, engine)
	}
	return c
}

// shardNumber returns the number in the arguments after DIR, or in an environment variable.
func shardNumber(args []string) (int, error) {
	text, from := "", ""
	for _, name := range shardVariables {
		if v := os.Getenv(name); v != "" && text == "" {
			text, from = v, "$"+name
		}
	}
	if len(args) > 0 {
		text, from = args[0], "NUMBER"
	}
	if text == "" {
		return 0, fmt.Errorf("no shard is given: give NUMBER, $%s or $%s", shardVariables[0], shardVariables[1])
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q, which is not the number of a shard", from, text)
	}
	return n, nil
}

func runShard(ctx context.Context, dir string, n int, engine engineFlags) error {
	p, err := sweep.Open(dir, knownExperiments)
	if err != nil {
		return err
	}
	if n >= len(p.Shards) {
		return fmt.Errorf("%s has no shard %d: the shards are 0 to %d", dir, n, len(p.Shards)-1)
	}
	p.Mix = engine.mix.reporter()
	_, err = work(engine, "", func(o lab.Options) (any, error) {
		return nil, failed(p.RunShard(ctx, dir, n, knownExperiments, o))
	})
	return err
}
