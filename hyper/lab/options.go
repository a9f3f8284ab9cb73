package lab

import (
	"cmp"
	"errors"
	"runtime"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Options set how a Spec is run. They do not change results, except that each backend rounds in its own way.
type Options struct {
	Dir       string        // folder for the results; Run makes it if it does not exist
	Backend   string        // "" is backend.Default()
	Workers   int           // number of batches that advance at once; 0 chooses a number that suits the backend
	BatchRuns int           // number of runs in a batch; 0 is as in earlier results, or suits the backend
	Chunk     int           // largest number of periods that one call advances; 0 chooses a number
	Every     time.Duration // time between checkpoints; 0 is 20 seconds
	Progress  func(Progress)
	// Rows, if not nil, receives every row of the results once: first the rows of an earlier attempt, and then each new
	// row. New rows arrive when they are made, or, with worker processes, when they are saved. The rows of one batch
	// arrive in the order of periods. Calls do not overlap.
	Rows func([]Row)
	// Process is the command line of a program that calls [Worker]. Run appends the worker's arguments to it: the
	// folder, the share of the cores, the chunk and the interval. With Process, workers on xla:cpu are processes, each
	// with its share of the cores, because XLA runs the calls of one process one after the other. Without Process, or
	// on other backends, workers are goroutines.
	Process []string
	// Mix decides about a folder Dir that holds results of different code, so that the new rows might differ in kind
	// (see [Provenance.Continues]). If Mix is nil, this is an error, which wraps ErrMixed. Otherwise Mix is called with
	// that error, and the run continues: the header of the results then names both versions of the code.
	Mix func(why error)
	// Programs, if not nil, keeps the compiled program of one Spec for the next Spec, if workers are goroutines.
	Programs *Programs
}

// ErrInterrupted reports that the context ended a run early. All computed rows are saved, and [Resume] continues the
// run.
var ErrInterrupted = errors.New("interrupted")

// Defaults sets the options that are zero to the values that Run chooses for a Spec. For a Spec without entries it
// assumes that there are many runs. `hyper bench batches` measures this choice: on a CPU, one worker per core with small
// batches was fastest; on a GPU, larger batches were always faster. If there are fewer shapes than workers, the runs are
// divided among all workers. Otherwise a worker with a shape of its own compiles less.
func (o Options) Defaults(spec Spec) Options {
	o.Backend = cmp.Or(o.Backend, backend.Default())
	workers, runs := runtime.NumCPU(), batchRuns(o.Backend)
	if o.Backend == backend.XLACUDA {
		workers = 1
	}
	set := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	set(&o.Workers, workers)
	if p := newPlan(spec, 1); len(p.shapes) > 0 && len(p.shapes) < o.Workers {
		runs = min(runs, (len(p.batches)+o.Workers-1)/o.Workers)
	}
	set(&o.BatchRuns, runs)
	set(&o.Chunk, 1000)
	if o.Every <= 0 {
		o.Every = 20 * time.Second
	}
	return o
}

// batchRuns returns a suitable number of runs in one batch for a backend, if there are enough runs. See
// Options.Defaults.
func batchRuns(name string) int {
	switch name {
	case backend.XLACPU:
		return 8
	case backend.XLACUDA:
		return 512
	}
	return 1
}
