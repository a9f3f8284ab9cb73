package lab

import (
	"errors"
	"runtime"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Options say how a Spec is run. None of them changes a result, except that each backend rounds in its own way.
type Options struct {
	Dir       string        // where results go; it is made
	Backend   string        // "" is backend.Default()
	Workers   int           // batches advanced at once; 0 is a good number for the backend
	BatchRuns int           // runs in one batch; 0 is a good number for the backend
	Chunk     int           // most periods advanced by one call; 0 is a good number
	Every     time.Duration // between checkpoints; 0 is 20 seconds
	Progress  func(Progress)
	// Rows hears every row of the results once: first those that an earlier attempt left, then each as it is made (by
	// workers that are processes: as it is saved). A batch's rows come in the order of periods; calls do not overlap.
	Rows func([]Row)
	// Process is a command line that calls [Worker] with the folder and number it is given as last arguments. With it,
	// workers on xla:cpu are processes, each with its share of the cores: XLA runs the calls of one process one after
	// the other. Without it, or on other backends, they are goroutines.
	Process []string
	// Mix is asked when Dir holds results that other code began, so that the rest would not be of one kind with them
	// (see [Provenance.Continues]). Unless it is given, that is an error, which wraps ErrMixed; else it hears that
	// error, and the results' header names both.
	Mix func(why error)
	// Programs, if given, keeps the compiled program of one Spec for the next, where workers are goroutines.
	Programs *Programs
}

// ErrInterrupted says that the context ended a run early; what was computed is saved, and [Resume] goes on.
var ErrInterrupted = errors.New("interrupted")

// Defaults fills in what was left to choose for a Spec, as Run does. `hyper bench batches` measures the choice: on a
// CPU a worker a core with small batches was fastest; on a GPU the larger the batch the better. A single program's runs
// are shared out to all workers; with several, a worker that has one to itself compiles less.
func (o Options) Defaults(spec Spec) Options {
	if o.Backend == "" {
		o.Backend = backend.Default()
	}
	workers, runs := runtime.NumCPU(), BatchRuns(o.Backend)
	if o.Backend == backend.XLACUDA {
		workers = 1
	}
	set := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	set(&o.Workers, workers)
	if p := newPlan(spec, 1); len(p.shapes) < o.Workers {
		runs = min(runs, (len(p.batches)+o.Workers-1)/o.Workers)
	}
	set(&o.BatchRuns, runs)
	set(&o.Chunk, 1000)
	if o.Every <= 0 {
		o.Every = 20 * time.Second
	}
	return o
}

// BatchRuns is a good number of runs in one batch for a backend that has enough of them, see Options.Defaults.
func BatchRuns(name string) int {
	switch name {
	case backend.XLACPU:
		return 8
	case backend.XLACUDA:
		return 512
	}
	return 1
}
