package notebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Run runs a Spec of an experiment of the paper or of later work, and returns its results. Meanwhile it shows the
// progress and the regret so far. Results are stored in the temporary folder, which the kernel removes when it ends.
// Another call with the same Spec reads them; after an interruption it continues the run.
func Run(spec lab.Spec) (lab.Header, []lab.Row) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, rows, err := run(ctx, spec)
	if errors.Is(err, lab.ErrInterrupted) {
		err = fmt.Errorf("%w: the results so far are kept; run the cell again to continue", err)
	}
	if err != nil {
		panic(err)
	}
	return h, rows
}

func run(ctx context.Context, spec lab.Spec) (lab.Header, []lab.Row, error) {
	dir, err := folder(spec)
	if err != nil {
		return lab.Header{}, nil, err
	}
	o := lab.Options{Dir: dir, Every: 5 * time.Second}
	if h, rows, err := lab.ReadResults(dir, Known); err == nil && len(rows) == spec.Rows() {
		return h, rows, nil
	}
	w := NewWatch(spec)
	defer w.Close()
	o.Progress, o.Rows = w.Progress, w.Rows
	h, rows, err := lab.Simulate(ctx, spec, Known, o)
	if errors.Is(err, lab.ErrMixed) { // left by a cell whose code has changed since: begin again
		if err := os.RemoveAll(dir); err != nil {
			return h, nil, err
		}
		return lab.Simulate(ctx, spec, Known, o)
	}
	return h, rows, err
}

// folder returns the folder for the results of a Spec. It depends on code, libraries and backend. If the cell has added
// parts to the catalogue, or the experiment to Known, the folder also depends on the cell's program.
func folder(spec lab.Spec) (string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	hash := fnv.New64a()
	code := lab.ThisProvenance(backend.Default())
	code.Build = "" // each cell is a separate program
	_, ofCell := Known[spec.Experiment]
	for _, known := range []map[string]lab.Experiment{paper.Known, beyond.Known} {
		_, is := known[spec.Experiment]
		ofCell = ofCell && !is
	}
	if ofCell || catalog.Extended() {
		code.Build = lab.ProgramHash()
	}
	fmt.Fprint(hash, hyper.Version, code, code.Libraries(), backend.Default(), string(text))
	return filepath.Join(os.TempDir(), fmt.Sprintf("%s-%x", spec.Experiment, hash.Sum64())), nil
}

// Watch shows the progress of a run and the regret so far in a [Live]. Its methods Progress and Rows are for the fields
// of [lab.Options] with these names.
type Watch struct {
	mu     sync.Mutex
	live   *Live
	header lab.Header
	now    lab.Progress
	rows   []lab.Row
}

// NewWatch returns a Watch, and begins to show.
func NewWatch(spec lab.Spec) *Watch {
	w := &Watch{live: NewLive(), header: lab.Header{Spec: spec}}
	w.live.pause = watchPause
	w.live.Show("compiling", nil)
	return w
}

// Progress shows the progress: see lab.Options.Progress.
func (w *Watch) Progress(p lab.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = p
	w.live.Show(w.text(), w.regret)
}

// Rows adds rows to the figure: see lab.Options.Rows.
func (w *Watch) Rows(rows []lab.Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = append(w.rows, rows...)
}

// Close removes the output.
func (w *Watch) Close() { w.live.Close() }

func (w *Watch) text() string {
	return fmt.Sprintf("%.0f%% of %d run-periods, %s", 100*float64(w.now.Done)/float64(w.now.Total), w.now.Total,
		w.now.Pace("a second"))
}

// regret draws the mean regret so far.
func (w *Watch) regret() (*gonum.Plot, error) {
	return plot.Regret(analysis.Curves(w.header, settled(w.rows, w.header.Spec.Periods)), plot.Options{Title: "so far"})
}

// settled returns the rows of finished runs, and all rows of entries without finished runs. A run that has just begun
// would shorten the curve.
func settled(rows []lab.Row, periods int) []lab.Row {
	type run struct {
		entry int
		seed  uint64
	}
	finished, some := map[run]bool{}, map[int]bool{}
	for _, r := range rows {
		if r.Period == periods {
			finished[run{r.Entry, r.Seed}], some[r.Entry] = true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r lab.Row) bool {
		return some[r.Entry] && !finished[run{r.Entry, r.Seed}]
	})
}
