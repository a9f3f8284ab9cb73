package lab

import (
	"slices"
	"sync"
	"time"
)

// Progress describes how much of a Spec has been run.
type Progress struct {
	Done, Total int64           // number of run-periods; run-periods of an earlier attempt count as done
	Computed    int64           // number of run-periods that this call computed
	Run         time.Duration   // time since the first program was ready
	Workers     int             // number of workers that run at the same time
	Busy        []time.Duration // time that each worker computed, without compiling and waiting
	Entries     []EntryProgress
}

// EntryProgress is the work that this call did for an entry of the Spec.
type EntryProgress struct {
	Computed int64         // number of run-periods
	Compile  time.Duration // time to compile the entry's program, which entries of one shape share
	Busy     time.Duration // time that all workers together computed
}

// Rate returns the run-periods per second of this call, over the time that the busiest worker computed.
func (p Progress) Rate() float64 {
	if p.Computed == 0 {
		return 0
	}
	return float64(p.Computed) / slices.Max(p.Busy).Seconds()
}

// Left returns the remaining time at the present rate.
func (p Progress) Left() time.Duration {
	if p.Computed == 0 {
		return 0
	}
	return time.Duration(float64(p.Run) * float64(p.Total-p.Done) / float64(p.Computed))
}

// Seconds returns the time that the entry would take alone: the time of its workers divided by the number of workers.
func (p Progress) Seconds(entry int) float64 {
	return p.Entries[entry].Busy.Seconds() / float64(max(p.Workers, 1))
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

func (w workerSink) recorded(batch int, rows []Row) { w.heard.rows(batch, rows) }

// saved writes the rows that are next in order, and removes the checkpoints of batches that are completely written.
func (w workerSink) saved(batch int, rows []Row, done bool) error {
	w.heard.rows(batch, rows)
	written, err := w.out.offer(batch, rows, done)
	for _, number := range written {
		removeCheckpoint(w.opts.Dir, number)
	}
	return err
}

// progress returns a copy of the present progress. The caller must hold mu.
func (e *engine) progress() Progress {
	p := e.now
	p.Entries, p.Busy = slices.Clone(p.Entries), slices.Clone(p.Busy)
	if !e.started.IsZero() {
		p.Run = time.Since(e.started)
	}
	return p
}

// listener passes each row of a batch on once. It is safe for concurrent use.
type listener struct {
	mu   sync.Mutex
	tell func([]Row)
	told map[int]int // number of rows of each batch that were passed on
}

// rows takes all rows that a batch has so far, and passes on the new ones.
func (l *listener) rows(batch int, rows []Row) {
	if l.tell == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.told[batch]; n < len(rows) {
		l.told[batch] = len(rows)
		l.tell(slices.Clone(rows[n:]))
	}
}
