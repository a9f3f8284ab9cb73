package lab

import (
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
)

// Clock measures repeatedly the time that one period of a batch of runs takes. It is not safe for concurrent use.
type Clock struct {
	// CallBytes is the number of bytes that one call needs for the batch: the state before, the state after, and temporary
	// values. It is 0 if the backend does not report it.
	CallBytes int64

	program     *program
	state       []*tensors.Tensor
	done, until int           // periods done, and periods of a run
	chunk       int           // number of periods that one call advances
	half        time.Duration // time of a call with half as many periods
}

// NewClock compiles the program of an entry for a batch of runs, and advances the runs by one period.
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

// first makes a call of one period. On the Go backend this call compiles.
func (c *Clock) first() error {
	var last []any
	if c.program.blocks != nil {
		last = []any{int32(1)}
	}
	begin := time.Now()
	state, g, err := c.program.call(c.state, last...)
	if err != nil {
		return err
	}
	c.state, c.done, c.CallBytes, c.half = state, 1, backend.Memory(g.Executable()), time.Since(begin)
	return nil
}

// Time returns the mean time in seconds of one period of the batch: the processor time of this process, which depends
// less on how busy the machine is than the time on a clock. Time measures for about the given length, and for at least
// one call.
//
// The number of periods in a call doubles until a call takes a tenth of the length. It doubles further while a call of
// twice the periods takes less than one and a half times as long: most of the time is then spent on copying a large
// state for each call.
//
// Runs that have reached their last period continue at the middle of their periods.
func (c *Clock) Time(length time.Duration) (seconds float64, err error) {
	begin, used, periods := time.Now(), process.ProcessorTime(), 0
	for periods == 0 || time.Since(begin) < length {
		if c.done >= c.until {
			c.Skip(c.until / 2)
		}
		to, now := min(c.done+c.chunk, c.until), time.Now()
		state, err := c.program.until(c.state, to)
		if err != nil {
			return 0, err
		}
		took := time.Since(now)
		if to-c.done == c.chunk && (took < length/10 || took < c.half*3/2) {
			c.half, c.chunk = took, min(2*c.chunk, 1000)
		}
		periods += to - c.done
		c.state, c.done = state, to
	}
	return (process.ProcessorTime() - used).Seconds() / float64(periods), nil
}

// Skip lets the runs continue at a later period. What they would have learned until then changes no shape, and
// therefore no time.
func (c *Clock) Skip(period int) {
	c.done = period
	at := slices.Index(c.program.names, statePeriod)
	c.state[at].MustFinalizeAll()
	c.state[at] = tensors.FromValue(int32(period))
}

// Close frees the memory of the runs.
func (c *Clock) Close() { free(c.state) }
