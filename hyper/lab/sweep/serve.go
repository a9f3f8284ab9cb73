package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/workers"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// message is a line of JSON that a worker writes about the shard that it was given last.
type message struct {
	Done     int64  `json:"done,omitempty"` // run-periods
	Computed int64  `json:"computed,omitempty"`
	End      bool   `json:"end,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Serve is the main function of a worker of Local. It reads the numbers of shards, one on each line, runs these shards
// and reports on out. share is k/n: the k-th of n shares of the machine's cores. Successive shards of one shape compile
// once. When in ends, Serve saves and returns. every is as in lab.Options, and mix is as in Plan.
func Serve(ctx context.Context, in io.Reader, out io.Writer, known map[string]lab.Experiment, dir, share string,
	every time.Duration, mix func(why error)) error {
	p, err := Open(dir, known)
	if err != nil {
		return err
	}
	p.Mix = mix
	if err := workers.OpenShare(p.Backend, share); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	programs, say := &lab.Programs{}, speaker{out: json.NewEncoder(out)}
	for n := range workers.Jobs(in, cancel) {
		o := lab.Options{Workers: 1, Every: every, Programs: programs, Progress: say.progress}
		err := p.runWhenFree(ctx, dir, n, known, o)
		if errors.Is(err, lab.ErrInterrupted) {
			return err
		}
		m := message{End: true, Done: p.runPeriods(n)}
		if err != nil {
			m = message{End: true, Error: err.Error()}
		}
		if err := say.now(m); err != nil {
			return err
		}
	}
	return nil
}

// patience is the time that a worker waits for a worker of an earlier call, whose parent was killed, to save its shard
// and end.
const patience = 30 * time.Second

// runWhenFree is RunShard, but waits while another process runs the shard.
func (p Plan) runWhenFree(ctx context.Context, dir string, n int, known map[string]lab.Experiment,
	o lab.Options) error {
	for begin := time.Now(); ; {
		err := p.RunShard(ctx, dir, n, known, o)
		if !errors.Is(err, ErrBusy) || time.Since(begin) > patience {
			return err
		}
		select {
		case <-ctx.Done():
			return lab.ErrInterrupted
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// speaker writes messages. It writes at most ten messages about progress per second. It is safe for concurrent use.
type speaker struct {
	mu       sync.Mutex
	out      *json.Encoder
	last     time.Time
	computed int64
}

func (s *speaker) progress(p lab.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.computed = p.Computed
	if time.Since(s.last) > 100*time.Millisecond {
		s.last = time.Now()
		_ = s.out.Encode(message{Done: p.Done, Computed: p.Computed})
	}
}

func (s *speaker) now(m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Computed, s.computed = s.computed, 0
	return s.out.Encode(m)
}
