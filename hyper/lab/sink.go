package lab

import (
	"os"
	"slices"
	"sync"
	"time"
)

// sink receives the progress of batches. The methods that return an error stop the batch with it.
type sink interface {
	// compiled reports the time that compiling the program of a shape took.
	compiled(shape int, d time.Duration) error
	// resumed reports the run-periods of a batch that an earlier attempt computed.
	resumed(batch, runPeriods int) error
	// computed reports that a batch advanced by a number of run-periods, and the time that this took.
	computed(batch, runPeriods int, busy time.Duration) error
	// recorded reports all rows that the batch has so far.
	recorded(batch int, rows []Row)
	// saved reports that the batch's checkpoint, with these rows, was written. done means that the batch is complete.
	saved(batch int, rows []Row, done bool) error
}

// workerSink is the sink of a worker in this process. It updates the engine.
type workerSink struct {
	*engine
	worker int
}

// compiled records the longest compilation of a shape, because workers may compile the same shape side by side.
func (w workerSink) compiled(shape int, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.plan.shapeOf {
		if s == shape {
			w.now.Entries[i].Compile = max(w.now.Entries[i].Compile, d)
		}
	}
	if w.started.IsZero() {
		w.started = time.Now()
	}
	return nil
}

func (w workerSink) resumed(_, runPeriods int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Done += int64(runPeriods)
	return nil
}

func (w workerSink) computed(number, runPeriods int, busy time.Duration) error {
	lanes := w.plan.batches[number].lanes
	w.mu.Lock()
	w.now.Computed += int64(runPeriods)
	w.now.Done += int64(runPeriods)
	w.now.Busy[w.worker] += busy
	for _, l := range lanes {
		w.now.Entries[l.entry].Computed += int64(runPeriods / len(lanes))
		w.now.Entries[l.entry].Busy += busy / time.Duration(len(lanes))
	}
	p := w.progress()
	w.mu.Unlock()
	if w.opts.Progress != nil {
		w.opts.Progress(p)
	}
	return nil
}

func (w workerSink) recorded(batch int, rows []Row) { w.engine.rows.rows(batch, rows) }

// saved writes the rows that are next in order, and removes the checkpoints of batches that are completely written.
func (w workerSink) saved(batch int, rows []Row, done bool) error {
	w.engine.rows.rows(batch, rows)
	written, err := w.out.offer(batch, rows, done)
	for _, number := range written {
		_ = os.Remove(checkpointPath(w.opts.Dir, number))
	}
	return err
}

// rowListener passes each row of a batch on once. It is safe for concurrent use.
type rowListener struct {
	mu     sync.Mutex
	pass   func([]Row)
	passed map[int]int // number of rows of each batch that were passed on
}

// rows takes all rows that a batch has so far, and passes on the new ones.
func (l *rowListener) rows(batch int, rows []Row) {
	if l.pass == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.passed[batch]; n < len(rows) {
		l.passed[batch] = len(rows)
		l.pass(slices.Clone(rows[n:]))
	}
}

// discard is a sink that ignores everything.
type discard struct{ sink }

func (discard) compiled(int, time.Duration) error { return nil }
