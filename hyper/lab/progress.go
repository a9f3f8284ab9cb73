package lab

import (
	"slices"
	"sync"
	"time"
)

// Progress is how far a run of a Spec is.
type Progress struct {
	Done, Total int64           // run-periods; those of an earlier attempt count as done
	Computed    int64           // run-periods computed by this call
	Run         time.Duration   // since the first program was ready
	Workers     int             // at work side by side
	Busy        []time.Duration // of each worker, computing: neither compiling nor waiting
	Entries     []EntryProgress
}

// EntryProgress is what was computed for an entry of the Spec by this call.
type EntryProgress struct {
	Computed int64         // run-periods
	Compile  time.Duration // of the entry's program, which entries of one shape share
	Busy     time.Duration // of workers, added up
}

// Rate is run-periods a second of this call: over the time that the busiest worker computed.
func (p Progress) Rate() float64 {
	if p.Computed == 0 {
		return 0
	}
	return float64(p.Computed) / slices.Max(p.Busy).Seconds()
}

// Left is the time left at the present rate.
func (p Progress) Left() time.Duration {
	if p.Computed == 0 {
		return 0
	}
	return time.Duration(float64(p.Run) * float64(p.Total-p.Done) / float64(p.Computed))
}

// Seconds is the time the entry took, were it alone: its workers' time over the number of workers.
func (p Progress) Seconds(entry int) float64 {
	return p.Entries[entry].Busy.Seconds() / float64(max(p.Workers, 1))
}

// workerSink is the sink of a worker of this process: it updates the engine.
type workerSink struct {
	*engine
	worker int
}

// compiled notes the slowest of the workers, which compile side by side.
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

// saved writes the rows that are next in order, and forgets the checkpoints of batches now written.
func (w workerSink) saved(batch int, rows []Row, done bool) error {
	w.heard.rows(batch, rows)
	written, err := w.out.offer(batch, rows, done)
	for _, number := range written {
		removeCheckpoint(w.opts.Dir, number)
	}
	return err
}

// progress is called with mu held.
func (e *engine) progress() Progress {
	p := e.now
	p.Entries, p.Busy = slices.Clone(p.Entries), slices.Clone(p.Busy)
	if !e.started.IsZero() {
		p.Run = time.Since(e.started)
	}
	return p
}

type listener struct {
	mu   sync.Mutex
	tell func([]Row)
	told map[int]int // rows of each batch
}

// rows hears all rows that a batch has so far.
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
