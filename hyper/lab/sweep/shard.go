package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// ErrDamaged reports that the results of a shard differ from what its worker wrote, or do not belong to the plan.
var ErrDamaged = errors.New("damaged shard")

// ErrBusy reports that another process is running a shard.
var ErrBusy = errors.New("another process is running it")

// RunShard runs the rest of a shard, and returns at once if the shard is done. When ctx ends, RunShard saves and
// returns lab.ErrInterrupted. Another call, on this machine or another, continues to the same bytes. The plan sets Dir,
// Backend, BatchRuns and Mix of o.
func (p Plan) RunShard(ctx context.Context, dir string, n int, known map[string]lab.Experiment, o lab.Options) error {
	if n < 0 || n >= len(p.Shards) {
		return fmt.Errorf("%s has no shard %d: shards are numbered from 0 to %d", dir, n, len(p.Shards)-1)
	}
	path := ShardDir(dir, n)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	lock := flock.New(path + ".lock") // the file stays: if processes removed it, two of them could hold locks
	if alone, err := lock.TryLock(); err != nil {
		return err
	} else if !alone {
		return fmt.Errorf("shard %d of %s: %w", n, dir, ErrBusy)
	}
	defer func() { _ = lock.Unlock() }()
	return p.runLocked(ctx, dir, n, known, o)
}

func (p Plan) runLocked(ctx context.Context, dir string, n int, known map[string]lab.Experiment, o lab.Options) error {
	path := ShardDir(dir, n)
	s, err := p.state(dir, n)
	if err != nil {
		return err
	}
	switch s.State {
	case Done:
		return nil
	case Damaged: // keep it, and begin the shard again
		if err := os.Rename(path, unused(path+".damaged-")); err != nil {
			return err
		}
	}
	if err := p.mayRun(); err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := record(path, event{What: started}); err != nil {
		return err
	}
	begin := time.Now()
	err = p.work(ctx, path, n, s.Done, known, o)
	switch {
	case err == nil:
		return p.finish(path, n, known, time.Since(begin))
	case errors.Is(err, lab.ErrInterrupted):
		return errors.Join(err, record(path, event{What: Interrupted}))
	}
	return errors.Join(err, record(path, event{What: Failed, Error: err.Error()}))
}

// work runs a shard of which earlier attempts computed a number of run-periods.
func (p Plan) work(ctx context.Context, path string, n int, earlier int64, known map[string]lab.Experiment,
	o lab.Options) error {
	o.Dir, o.Backend, o.BatchRuns, o.Mix = path, p.Backend, p.BatchRuns, p.Mix
	h := newHeart(path, lab.Progress{Done: earlier, Total: p.runPeriods(n)})
	defer h.stop()
	report := o.Progress
	o.Progress = func(now lab.Progress) {
		h.update(now)
		if report != nil {
			report(now)
		}
	}
	_, err := lab.Run(ctx, p.ShardSpec(n), known, o)
	return err
}

// finish checks the results, and records their checksum.
func (p Plan) finish(path string, n int, known map[string]lab.Experiment, took time.Duration) error {
	_, rows, err := p.readShard(path, n, known)
	if err != nil {
		return errors.Join(err, record(path, event{What: Failed, Error: err.Error()}))
	}
	sum, err := checksum(path)
	if err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(path, heartbeatFile))
	return record(path, event{What: Done, Rows: len(rows), SHA256: sum, Seconds: took.Seconds()})
}

// unused returns the prefix with the smallest number, from 1, for which no file exists.
func unused(prefix string) string {
	for k := 1; ; k++ {
		path := fmt.Sprint(prefix, k)
		if _, err := os.Stat(path); err != nil {
			return path
		}
	}
}
