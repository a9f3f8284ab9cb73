package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Tell how far a sweep is: shards done, running, failed and left, and the time left",
		Long: `status tells how many shards of a sweep are done, running, interrupted (saved, by a signal), killed
(their process is gone without a word), failed, damaged (the results are not those that the worker wrote) or waiting;
which to run again; and the time left at the rate of those that are running. Whether a process of another
machine is alive is judged by its heartbeat, which may be 90 seconds old.`,
		Args: argument("DIR"),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per shard")
	c.RunE = func(_ *cobra.Command, args []string) error {
		dirs, err := sweepsOf(args[0])
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			p, err := sweep.Open(dir, paper.Known)
			if err != nil {
				return err
			}
			states, err := p.States(dir)
			if err != nil {
				return err
			}
			if asJSON {
				err = printLines(states...)
			} else {
				err = printStates(dir, states)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// sweepsOf is the folder itself, or those of a search's rungs so far.
func sweepsOf(dir string) ([]string, error) {
	if _, err := sweep.OpenSearch(dir); err != nil {
		return []string{dir}, nil // sweep.Open tells what is wrong
	}
	var out []string
	for n := 1; isSweep(sweep.Rung(dir, n)); n++ {
		out = append(out, sweep.Rung(dir, n))
	}
	if len(out) == 0 {
		return nil, errors.New(dir + " is a search of which no round has begun")
	}
	return out, nil
}

func printStates(dir string, states []sweep.Status) error {
	sum := sweep.Summarize(states)
	var counts []string
	for _, s := range sweep.AllStates {
		if n := len(sum.Shards[s]); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	fmt.Printf("%s: %d shards: %s; %.0f%% of %d run-periods\n", dir, len(states), strings.Join(counts, ", "),
		100*float64(sum.Done)/float64(sum.Total), sum.Total)
	switch left := sum.Left.Round(time.Second); {
	case sum.Done == sum.Total:
		fmt.Printf("all done: `hyper merge %s FILE.jsonl.gz`\n", dir)
	case sum.Rate == 0:
		fmt.Println("time left: unknown, nothing was computed yet")
	case len(sum.Shards[sweep.Running]) > 0:
		fmt.Printf("time left: %s at %.0f run-periods a second\n", left, sum.Rate)
	default:
		fmt.Printf("time left: nothing is running; %s by one worker, at %.0f run-periods a second\n", left, sum.Rate)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, s := range states {
		if s.State != sweep.Done && s.State != sweep.Waiting {
			fmt.Fprintf(w, "shard %d\t%s\t%.0f%%\t%d starts\t%s\t%s\t%s\n", s.Shard, s.State,
				100*float64(s.Done)/float64(s.Total), s.Starts, s.Host, s.Job, s.Error)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(sum.Again) > 0 {
		fmt.Printf("run again: shards %s, by `hyper sweep %s`\n", sweep.Ranges(sum.Again), dir)
	}
	return nil
}
