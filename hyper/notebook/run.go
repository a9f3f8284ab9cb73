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
	"sync"
	"syscall"
	"time"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Run runs a Spec of one of the paper's experiments and returns its results. Meanwhile it shows how far it is, and
// regret so far. Results are kept in the temporary folder (the kernel removes its own when it ends): another call with
// the same Spec reads them. After an interruption the next call goes on.
func Run(spec lab.Spec) (lab.Header, []lab.Row) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, rows, err := run(ctx, spec)
	if errors.Is(err, lab.ErrInterrupted) {
		err = fmt.Errorf("%w: what was computed is kept; run the cell again to go on", err)
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
	if h, rows, err := lab.ReadResults(dir, paper.Known); err == nil {
		if complete(h, rows) {
			return h, rows, nil
		}
		o.BatchRuns = h.BatchRuns
	}
	w := NewWatch(spec)
	defer w.Close()
	o.Progress, o.Rows = w.Progress, w.Rows
	h, rows, err := lab.Simulate(ctx, spec, paper.Known, o)
	if errors.Is(err, lab.ErrMixed) { // left by a cell whose sources were edited since: begin anew
		if err := os.RemoveAll(dir); err != nil {
			return h, nil, err
		}
		return lab.Simulate(ctx, spec, paper.Known, o)
	}
	return h, rows, err
}

// folder is where the results of a Spec are kept: those of other code, libraries or backends lie elsewhere.
func folder(spec lab.Spec) (string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	hash := fnv.New64a()
	code := lab.ThisProvenance(backend.Default())
	code.Build = "" // each cell is a program of its own
	fmt.Fprint(hash, hyper.Version, code, code.Libraries(), backend.Default(), string(text))
	return filepath.Join(os.TempDir(), fmt.Sprintf("%s-%x", spec.Experiment, hash.Sum64())), nil
}

// complete tells whether all rows of the Spec are there.
func complete(h lab.Header, rows []lab.Row) bool {
	return len(rows) == len(h.Spec.Entries)*h.Spec.Runs*len(lab.Schedule(h.Spec.Periods))
}

// Watch shows in a [Live] place how far a run of a Spec is, and regret so far. Progress and Rows are for the fields of
// [lab.Options] with these names.
type Watch struct {
	mu     sync.Mutex
	live   *Live
	header lab.Header
	now    lab.Progress
	rows   []lab.Row
}

// NewWatch begins to show.
func NewWatch(spec lab.Spec) *Watch {
	w := &Watch{live: NewLive(), header: lab.Header{Spec: spec}}
	w.live.pause = watchPause
	w.live.Show("compiling", nil)
	return w
}

// Progress is lab.Options.Progress.
func (w *Watch) Progress(p lab.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = p
	w.live.Show(w.text(), w.regret)
}

// Rows is lab.Options.Rows.
func (w *Watch) Rows(rows []lab.Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = append(w.rows, rows...)
}

// Close shows nothing any more.
func (w *Watch) Close() { w.live.Close() }

func (w *Watch) text() string {
	return fmt.Sprintf("%.0f%% of %d run-periods, %.0f a second, %v left", 100*float64(w.now.Done)/float64(w.now.Total),
		w.now.Total, w.now.Rate(), w.now.Left().Round(time.Second))
}

// regret draws the mean so far.
func (w *Watch) regret() (*gonum.Plot, error) {
	return plot.Regret(lab.Curves(w.header, settled(w.rows, w.header.Spec.Periods)), plot.Options{Title: "so far"})
}

// settled leaves the rows of finished runs, or all rows of an entry without any: a run that has just begun would cut
// the curve.
func settled(rows []lab.Row, periods int) (out []lab.Row) {
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
	for _, r := range rows {
		if finished[run{r.Entry, r.Seed}] || !some[r.Entry] {
			out = append(out, r)
		}
	}
	return out
}
