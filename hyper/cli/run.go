package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

const runHelp = `run simulates agents in a world, and writes the results.

EXPERIMENT is the name of an experiment (see hyper list), or a file of a table:
CSV with a header, or Parquet. In each period one row of the table is the
context. The actions are the distinct values of the target column: the last
column, or COLUMN with --set target=COLUMN. The action that equals the row's own
value has reward 1. run prints how it read each column: as numbers, or as
categories, if the values are not numbers. With --set order=shuffled each row
occurs once before any row occurs again. With --set standardize=online numbers
are standardised by the mean and the standard deviation of the rows that the run
has seen. The experiment named table has four data sets: --set data=NAME, where
NAME is digits, phishing, segment or shuttle.

An agent is one of the experiment's agents, another learner of hyper list parts,
or FILE.json, which has a learner and the learner's settings:
{"learner": "ensemble", "settings": {"particles": 30, "step-size": 0.02}}.

run prints the speed in run-periods per second. A run-period is one period of
one run.`

func runCommand() *cobra.Command {
	var spec specFlags
	var engine engineFlags
	var out string
	c := &cobra.Command{
		Use:   "run EXPERIMENT|FILE.csv|FILE.parquet",
		Short: "Run agents on an experiment and write results",
		Long:  runHelp,
		Example: `  hyper run gaussian --quick
  hyper run gaussian --agent linear,ensemble --set arms=20 --set particles=10,100 --periods 2000 --runs 30
  hyper run neural --agent hypernetwork,mine.json
  hyper run rows.csv --agent linear
  hyper run table --set data=digits --set order=shuffled --periods 1797`,
		Args: argument("EXPERIMENT"),
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "", "folder for the results (default: a new one in hyper-out)")
	spec.add(c)
	spec.completes(c)
	c.ValidArgsFunction = completeFirst
	engine.addBatches(flags)
	engine.addContinuing(flags, workersUsage)
	engine.addJSON(flags, jsonUsage)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := spec.spec(c, args[0])
		if err != nil {
			return err
		}
		if out == "" {
			out = filepath.Join("hyper-out", s.Experiment+"-"+time.Now().Format("20060102-150405.000"))
		}
		_, missing := os.Stat(out)
		if err := newFolder(out, lab.ResultsFile); err != nil {
			return err
		}
		err = simulate(c.OutOrStdout(), out, s, engine, func(o lab.Options) (lab.Progress, error) {
			return lab.Run(c.Context(), s, knownExperiments, o)
		})
		return tidied(err, out, missing != nil)
	}
	return c
}

// tidied returns the error of a command. If the command made the folder, and failed before it wrote anything but its
// lock, tidied removes the folder.
func tidied(err error, dir string, made bool) error {
	if err != nil && made {
		if files, _ := os.ReadDir(dir); len(files) == 1 && files[0].Name() == lab.LockFile {
			_ = os.Remove(filepath.Join(dir, lab.LockFile))
		}
		_ = os.Remove(dir) // removes only an empty folder
	}
	return err
}

func resumeCommand() *cobra.Command {
	var engine engineFlags
	c := &cobra.Command{
		Use:   "resume DIR",
		Short: "Continue unfinished results of a run",
		Args:  argument("DIR"),
	}
	flags := c.Flags()
	engine.addContinuing(flags, workersUsage)
	engine.addJSON(flags, jsonUsage)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := otherKind(args[0], lab.ResultsFile, true); err != nil {
			return err
		}
		h, _, err := lab.ReadResults(args[0], knownExperiments)
		if err != nil {
			return err
		}
		return simulate(c.OutOrStdout(), args[0], h.Spec, engine, func(o lab.Options) (lab.Progress, error) {
			return lab.Resume(c.Context(), knownExperiments, o)
		})
	}
	return c
}

// simulate runs or resumes a Spec, and prints the outcome.
func simulate(w io.Writer, dir string, spec lab.Spec, engine engineFlags,
	run func(lab.Options) (lab.Progress, error)) error {
	if inCell() {
		return simulateInCell(w, dir, spec, engine, run)
	}
	p, err := work(engine, dir, run)
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintf(os.Stderr, "hyper: interrupted; all results are saved: `hyper resume %s` continues\n",
			shell.Word(dir))
	}
	if err != nil {
		return err
	}
	return printOutcome(w, dir, p, engine.json)
}

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker DIR SHARE CHUNK EVERY",
		Short:  "Advance batches of runs for a `hyper run` that started this process",
		Hidden: true,
		PreRun: printToStderr,
		RunE: func(c *cobra.Command, args []string) error {
			// The parent prints the error.
			_ = lab.Worker(c.Context(), os.Stdin, c.OutOrStdout(), knownExperiments, args)
			return nil
		},
	}
}
