package cli

import (
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
		Short: "Run one shard of a sweep, as a task of a cluster; can be repeated and continues where it stopped",
		Long: `shard runs one shard of the sweep in DIR. Its number is NUMBER, or $SLURM_ARRAY_TASK_ID or
$JOB_COMPLETION_INDEX, which schedulers set. If the shard is done, the command ends at once; if it was begun, here or
elsewhere, the command continues it. On SIGTERM it saves its state, and ends with status 130.

Exit status: 0 if the shard is done; 1 if it failed, and may be tried again; 2 if it cannot be done; 130 after an
interruption.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return argument("DIR")(c, args)
			}
			return argument("DIR", "NUMBER")(c, args)
		},
	}
	engine.add(c, true)
	c.Flags().Lookup("json").Hidden = true
	c.Flags().BoolVar(&serve, "serve", false,
		"run as a worker of hyper sweep: NUMBER is a share k/n of the cores, standard input has shards")
	c.Flags().Lookup("serve").Hidden = true
	c.RunE = func(c *cobra.Command, args []string) error {
		if serve && len(args) == 2 {
			return failed(sweep.Serve(c.Context(), os.Stdin, os.Stdout, known, args[0], args[1], engine.every,
				engine.mix.reporter()))
		}
		n, err := shardNumber(args[1:])
		if err != nil {
			return err
		}
		return runShard(c, args[0], n, engine)
	}
	return c
}

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
		return 0, fmt.Errorf("no shard is given: give NUMBER, $%s or $%s", shardVariables[0],
			shardVariables[1])
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q, which is not the number of a shard", from, text)
	}
	return n, nil
}

func runShard(c *cobra.Command, dir string, n int, engine engineFlags) error {
	p, err := sweep.Open(dir, known)
	if err != nil {
		return err
	}
	if n >= len(p.Shards) {
		return fmt.Errorf("%s has no shard %d: the shards are 0 to %d", dir, n, len(p.Shards)-1)
	}
	p.Mix = engine.mix.reporter()
	return engine.work("", func(o lab.Options) error { return failed(p.RunShard(c.Context(), dir, n, known, o)) })
}
