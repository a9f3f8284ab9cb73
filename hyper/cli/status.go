package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of a sweep: shards done, running, failed and waiting, and the time left",
		Long: `status prints the number of shards of a sweep in each state:

  done         All results of the shard are saved.
  running      A process works on the shard.
  waiting      No process has begun the shard.
  failed       The process has ended with an error.
  interrupted  A signal has ended the process, after the shard was saved.
  killed       The process has ended without saving.
  damaged      The results differ from what the worker wrote.

status also prints the shards to run again, and the time left at the speed of
the running shards, in run-periods per second. A run-period is one period of one
run. For a process on another machine, status uses the process's heartbeat,
which may be 90 seconds old.`,
		Args: argument("DIR"),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per shard")
	c.RunE = func(c *cobra.Command, args []string) error {
		dirs, err := sweepsOf(args[0])
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			p, err := sweep.Open(dir, knownExperiments)
			if err != nil {
				return err
			}
			states, err := p.States(dir)
			if err != nil {
				return err
			}
			if asJSON {
				err = printLines(c.OutOrStdout(), states...)
			} else {
				err = printStates(c.OutOrStdout(), dir, states)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// sweepsOf returns the folder of a sweep, or the folders of the rounds of a search so far.
func sweepsOf(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, errors.New(dir + " is a file: give the folder of a sweep")
	}
	_, err := sweep.OpenSearch(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{dir}, otherKind(dir, sweep.PlanFile, false)
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for n := 1; isSweep(tune.RungDir(dir, n)); n++ {
		out = append(out, tune.RungDir(dir, n))
	}
	if len(out) == 0 {
		return nil, errors.New(dir + " is a search without a round that has begun")
	}
	return out, nil
}

// printStates prints the progress of a sweep, and a line for each shard that is neither done nor waiting.
func printStates(w io.Writer, dir string, states []sweep.Status) error {
	sum := sweep.Summarize(states)
	var counts []string
	for _, s := range sweep.AllStates {
		if n := len(sum.Shards[s]); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	fmt.Fprintf(w, "%s: %d shards: %s; %.0f%% of %d run-periods\n", dir, len(states), strings.Join(counts, ", "),
		100*float64(sum.Done)/float64(sum.Total), sum.Total)
	switch left := sum.Left.Round(time.Second); {
	case sum.Done == sum.Total:
		fmt.Fprintf(w, "all done: `hyper merge %s FILE.jsonl.gz`\n", shell.Word(dir))
	case sum.Rate == 0:
		fmt.Fprintln(w, "time left: unknown, nothing has been computed yet")
	case len(sum.Shards[sweep.Running]) > 0:
		fmt.Fprintf(w, "time left: %s at %.0f run-periods per second\n", left, sum.Rate)
	default:
		fmt.Fprintf(w, "time left: nothing is running; %s with one worker, at %.0f run-periods per second\n", left,
			sum.Rate)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range states {
		if s.State != sweep.Done && s.State != sweep.Waiting {
			fmt.Fprintf(table, "shard %d\t%s\t%.0f%%\t%d starts\t%s\t%s\t%s\n", s.Shard, s.State,
				100*float64(s.Done)/float64(s.Total), s.Starts, s.Host, s.Job, s.Error)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(sum.Again) > 0 {
		fmt.Fprintf(w, "to run again: shards %s, with `hyper sweep %s`\n", sweep.Ranges(sum.Again), shell.Word(dir))
	}
	return nil
}
