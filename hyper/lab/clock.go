package lab

import (
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Clock measures, again and again, the time that a period of a batch of runs takes. It is not for concurrent use.
type Clock struct {
	// bytes that a call takes: the batch's state before and after, and temporaries; 0 where the backend does not tell
	Call int64

	program     *program
	state       []*tensors.Tensor
	done, until int           // periods of the runs
	chunk       int           // periods advanced by one call
	half        time.Duration // of a call of half as many periods
}

// NewClock compiles the program of an entry for a batch of runs, and advances it by a period.
func NewClock(spec Spec, entry, runs int, name string) (*Clock, error) {
	spec.Entries, spec.Runs = spec.Entries[entry:entry+1], runs
	p := newPlan(spec, runs)
	b := p.batches[0]
	program, err := newRunner(p, Options{Backend: name}).compile(b)
	if err != nil {
		return nil, err
	}
	c := &Clock{program: program, until: spec.Periods, chunk: 1}
	if c.state, err = program.initial(p.seeds(b), p.inputs(b)); err != nil {
		return nil, err
	}
	return c, c.first()
}

// first is a call by one period, which on the Go backend compiles.
func (c *Clock) first() error {
	var last []any
	if c.program.loop {
		last = []any{int32(1)}
	}
	begin := time.Now()
	state, g, err := c.program.call(c.state, last...)
	if err != nil {
		return err
	}
	c.state, c.done, c.Call, c.half = state, 1, backend.Memory(g.Executable()), time.Since(begin)
	return nil
}

// Time is the mean time in seconds of a period of the batch, over about that length and at least a call, and the
// processor time of this process for a period, which a busy machine stretches less. The calls grow to a tenth of it,
// and on while a call of twice the periods takes less than one and a half times as long: the copies of a large state
// that a call makes are then most of its time.
// Runs that have come to their end go on at the middle of their periods.
func (c *Clock) Time(length time.Duration) (seconds, processor float64, err error) {
	begin, used, periods := time.Now(), processorTime(), 0
	for periods == 0 || time.Since(begin) < length {
		if c.done >= c.until {
			c.Skip(c.until / 2)
		}
		to, now := min(c.done+c.chunk, c.until), time.Now()
		state, err := c.program.until(c.state, to)
		if err != nil {
			return 0, 0, err
		}
		took := time.Since(now)
		if to-c.done == c.chunk && (took < length/10 || took < c.half*3/2) {
			c.half, c.chunk = took, min(2*c.chunk, 1000)
		}
		periods += to - c.done
		c.state, c.done = state, to
	}
	return time.Since(begin).Seconds() / float64(periods), (processorTime() - used).Seconds() / float64(periods), nil
}

// Skip has the runs go on at a later period. What they would have learned changes no shape, and so no time.
func (c *Clock) Skip(period int) {
	c.done = period
	at := slices.Index(c.program.names, statePeriod)
	c.state[at].MustFinalizeAll()
	c.state[at] = tensors.FromValue(int32(period))
}

// Close frees what the runs hold.
func (c *Clock) Close() {
	for _, t := range c.state {
		t.MustFinalizeAll()
	}
}
