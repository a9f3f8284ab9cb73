package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/internal/workers"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/forecast"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// calibrationTime is the time that each worker spends on each shape of a Spec.
const calibrationTime = 2 * time.Second

// calibrationTask is the input of a calibrating process, which measures a batch of an entry on a share of the cores.
type calibrationTask struct {
	Spec    lab.Spec      `json:"spec"`
	Entry   int           `json:"entry"`
	Runs    int           `json:"runs"`
	Backend string        `json:"backend"`
	Share   string        `json:"share"`
	Length  time.Duration `json:"length"`
}

func calibrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "calibrate",
		Short:  "Measure a batch for a `hyper run --dry-run` that started this process",
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			text, err := io.ReadAll(os.Stdin)
			if err != nil {
				return err
			}
			var raw struct {
				calibrationTask
				Spec json.RawMessage `json:"spec"`
			}
			if err := json.Unmarshal(text, &raw); err != nil {
				return err
			}
			t := raw.calibrationTask
			if t.Spec, _, err = lab.ParseSpec(raw.Spec, paper.Known); err != nil {
				return err
			}
			if err := workers.OpenShare(t.Backend, t.Share); err != nil {
				return err
			}
			c, err := forecast.Calibrate(t.Spec, t.Entry, t.Runs, t.Backend, t.Length)
			if err != nil {
				return failure{err}
			}
			return json.NewEncoder(os.Stdout).Encode(c)
		},
	}
}

// do runs the task in a process of hyper; self is the path of the program.
func (t calibrationTask) do(self string) (out forecast.Calibration, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return out, err
	}
	c := exec.Command(self, "calibrate")
	c.Stdin, c.Stderr = bytes.NewReader(text), os.Stderr
	if text, err = c.Output(); err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out)
}

// calibrate measures an entry in concurrent processes, one for each worker, and returns the mean. startup is the
// remaining time of the processes.
func calibrate(spec lab.Spec, entry, runs, workers int, name string, length time.Duration) (
	mean forecast.Calibration, startup float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return mean, 0, err
	}
	all, errs := make([]forecast.Calibration, workers), make([]error, workers)
	begin := time.Now()
	var group sync.WaitGroup
	for k := range workers {
		group.Go(func() {
			share := fmt.Sprintf("%d/%d", k, workers)
			all[k], errs[k] = calibrationTask{spec, entry, runs, name, share, length}.do(self)
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return mean, 0, failure{fmt.Errorf("calibrating %s: %w", spec.Entries[entry].Agent, err)}
	}
	mean = all[0]
	mean.Compile, mean.Period = 0, 0
	for _, c := range all {
		mean.Compile += c.Compile / float64(workers)
		mean.Period += c.Period / float64(workers)
		mean.Peak = max(mean.Peak, c.Peak)
	}
	return mean, max(0, time.Since(begin).Seconds()-mean.Compile-mean.Total), nil
}

// prediction is the expected time and memory of a Spec.
type prediction struct {
	RunPeriods int64 `json:"run_periods"`
	// Operations counts multiplications and additions separately, by the paper's formula.
	Operations float64         `json:"formula_operations"`
	Workers    int             `json:"workers"`
	BatchRuns  int             `json:"batch_runs"`
	Backend    string          `json:"backend"`
	Seconds    float64         `json:"seconds"` // on this machine
	Nodes      map[int]float64 `json:"nodes"`   // seconds on a number of such machines
	// PerRun is the memory of a run during a call: its state before and after, and temporary memory.
	PerRun     int64                  `json:"bytes_per_run"`
	PerProcess int64                  `json:"bytes_per_process"` // without its runs, at most
	Memory     int64                  `json:"bytes"`             // of all workers, at most
	Free       int64                  `json:"free_bytes"`
	Shapes     []forecast.Calibration `json:"shapes"`
	Startup    float64                `json:"startup_seconds"`
}

// predict calibrates every shape of a Spec, and returns the expected time and memory. Times are valid for a machine
// that is as busy as now. The memory of a process without its runs is mostly the compiler's, and differs by a tenth
// between starts. jobs regroups the batches into the jobs of a worker; nil makes each batch a job.
func predict(spec lab.Spec, o lab.Options, jobs func(shapes []int) []lab.Job) (f prediction, err error) {
	o = o.Defaults(spec)
	batches, shapes := lab.Jobs(spec, o.BatchRuns)
	if jobs != nil {
		batches = jobs(shapes)
	}
	workers := min(o.Workers, len(batches))
	f = prediction{RunPeriods: int64(len(spec.Entries)) * int64(spec.Runs) * int64(spec.Periods), Workers: workers,
		BatchRuns: o.BatchRuns, Backend: o.Backend, Nodes: map[int]float64{}, Free: process.FreeMemory()}
	alone := o.Backend == backend.XLACPU && workers > 1
	var measured []forecast.Calibration
	startup := 0.0
	for i, entry := range shapes {
		fmt.Fprintf(os.Stderr, "calibrating shape %d of %d: %s\n", i+1, len(shapes), spec.Entries[entry].Agent)
		c, s, err := calibrate(spec, entry, o.BatchRuns, workers, o.Backend, calibrationTime)
		if err != nil {
			return f, err
		}
		run, process, err := memory(spec, entry, c, workers, o.Backend)
		if err != nil {
			return f, err
		}
		total := int64(workers)*run*int64(c.Runs) + process
		if alone {
			total += int64(workers-1) * process
		}
		f.PerRun, f.PerProcess, f.Memory = max(f.PerRun, run), max(f.PerProcess, process), max(f.Memory, total)
		measured, startup = append(measured, c), max(startup, s)
	}
	for _, j := range batches {
		f.Operations += 2 * measured[j.Shape].Operations * float64(j.Runs) * float64(spec.Periods)
	}
	for _, nodes := range []int{1, 2, 4, 8, 16} {
		f.Nodes[nodes] = forecast.Makespan(batches, measured, spec.Periods, workers*nodes, alone, startup)
	}
	f.Seconds, f.Shapes, f.Startup = f.Nodes[1], measured, startup
	return f, nil
}

// memory returns forecast.Memory for an entry. If the backend does not report memory, it calibrates again with more
// runs.
func memory(spec lab.Spec, entry int, c forecast.Calibration, workers int, name string) (run, process int64, err error) {
	if c.Call > 0 {
		run, process = forecast.Memory(c, c)
		return run, process, nil
	}
	more, _, err := calibrate(spec, entry, 4*c.Runs, workers, name, calibrationTime/8)
	if err != nil {
		return 0, 0, err
	}
	run, process = forecast.Memory(c, more)
	if state, err := lab.StateBytes(spec.Entries[entry], spec.Periods); err == nil {
		run = max(run, 2*state) // memory that compiling has freed may hide the memory of small runs
	}
	return run, process, nil
}

// dryRun prints a forecast. It returns an error if the Spec does not fit into memory.
func dryRun(spec lab.Spec, o lab.Options, jobs func(shapes []int) []lab.Job, asJSON bool) error {
	if err := lab.Fits(spec, o); err != nil {
		return err
	}
	f, err := predict(spec, o, jobs)
	if err != nil {
		return err
	}
	if asJSON {
		err = printLines(f)
	} else {
		err = printForecast(f)
	}
	if err != nil {
		return err
	}
	if f.Free > 0 && f.Memory > f.Free {
		return fmt.Errorf("%w: the runs need about %s, and %s are free; use fewer --workers or --batch-runs",
			lab.ErrMemory, process.Bytes(f.Memory), process.Bytes(f.Free))
	}
	return nil
}

func printForecast(f prediction) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "run-periods\t%d\n", f.RunPeriods)
	fmt.Fprintf(w, "operations\t%.3g, by the paper's formula, counting multiplications and additions\n", f.Operations)
	fmt.Fprintf(w, "this machine\t%v by %d workers on %s, in batches of %d runs\n", seconds(f.Seconds), f.Workers,
		f.Backend, f.BatchRuns)
	for _, n := range []int{2, 4, 8, 16} {
		fmt.Fprintf(w, "%d such machines\t%v\n", n, seconds(f.Nodes[n]))
	}
	if f.Memory > 0 {
		fmt.Fprintf(w, "memory\t%s for each run, %s for each process without its runs, %s in total; %s are free\n", process.Bytes(f.PerRun),
			process.Bytes(f.PerProcess), process.Bytes(f.Memory), process.Bytes(f.Free))
	}
	return w.Flush()
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second / 10)
}
