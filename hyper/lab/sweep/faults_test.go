package sweep_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Workers that are killed, and a sweep that is interrupted, continue to the same bytes.
func TestKilledWorkersAndInterruptions(t *testing.T) {
	if testing.Short() {
		t.Skip("kills workers, and waits for seconds")
	}
	s := grid(t, 150)
	p, dir := created(t, s, sweep.Options{Shards: 6})
	must.M(local(2).Run(t.Context(), p, dir))
	want := merged(t, p, dir)

	p, dir = created(t, s, sweep.Options{Shards: 6})
	var kills atomic.Int64
	stops := 0
	for err := lab.ErrInterrupted; errors.Is(err, lab.ErrInterrupted); {
		ctx, cancel := context.WithCancel(t.Context())
		limit := int64(2 + 2*stops) // interrupts after 2 kills, and after 4; then kills 2 more
		go func() {
			for ctx.Err() == nil && kills.Load() < limit {
				time.Sleep(50 * time.Millisecond)
				if killOne(t, p, dir) {
					kills.Add(1)
				}
			}
			if limit < 6 {
				cancel()
			}
		}()
		if err = local(2).Run(ctx, p, dir); err != nil {
			stops++
		}
		cancel()
		if err != nil && !errors.Is(err, lab.ErrInterrupted) {
			t.Fatal(err)
		}
	}
	if got := merged(t, p, dir); got != want {
		t.Error("the merged results differ from the results of an undisturbed sweep")
	}
	if kills.Load() == 0 || stops == 0 {
		t.Errorf("%d kills, %d interruptions: the test says nothing", kills.Load(), stops)
	}
	t.Logf("%d kills, %d interruptions", kills.Load(), stops)
}

// killOne kills a worker that is running a shard.
func killOne(t *testing.T, p sweep.Plan, dir string) bool {
	states, err := p.States(dir)
	if err != nil {
		t.Error(err)
	}
	for _, s := range states {
		if s.State == sweep.Running && s.PID != os.Getpid() {
			process, err := os.FindProcess(s.PID)
			return err == nil && process.Kill() == nil
		}
	}
	return false
}

// A worker that dies at the same shard each time does not stop the others. The sweep fails and names the shard.
func TestGivesUpAShardWhoseWorkersDie(t *testing.T) {
	p, dir := created(t, grid(t, 5), sweep.Options{Shards: 6})
	// a folder in place of its file
	must.M(os.MkdirAll(filepath.Join(sweep.ShardDir(dir, 1), lab.ResultsFile), 0o755))
	l := local(2)
	err := l.Run(t.Context(), p, dir)
	if !errors.Is(err, sweep.ErrShards) || !strings.Contains(err.Error(), ": 1 of ") {
		t.Errorf("error %v, want one about shard 1", err)
	}
	states := must.M1(p.States(dir))
	sum := sweep.Summarize(states)
	if len(sum.Shards[sweep.Done]) != len(states)-1 || !reflect.DeepEqual(sum.Again, []int{1}) ||
		states[1].State != sweep.Failed || states[1].Error == "" {
		t.Errorf("states %+v", states)
	}
	if _, _, err := p.Rows(dir, paper.Known); !errors.Is(err, sweep.ErrUnfinished) ||
		!strings.Contains(err.Error(), "shards 1 ") {
		t.Errorf("merging: %v", err)
	}
	must.M(os.RemoveAll(filepath.Join(sweep.ShardDir(dir, 1), lab.ResultsFile)))
	must.M(l.Run(t.Context(), p, dir))
	l = sweep.Local{Command: []string{"/bin/false"}, Workers: 2, Retries: 1}
	p, dir = created(t, grid(t, 5), sweep.Options{Shards: 3})
	if err := l.Run(t.Context(), p, dir); !errors.Is(err, sweep.ErrShards) ||
		!strings.Contains(err.Error(), "died 2 times") {
		t.Errorf("workers that do nothing: %v", err)
	}
}

// One changed digit, one missing line, and results in place of another shard are detected. The shard runs again, and
// the damaged results are kept.
func TestDamagedShardsAreFound(t *testing.T) {
	p, dir := created(t, grid(t, 20), sweep.Options{Shards: 6})
	runAll(t, p, dir, rand.Perm(len(p.Shards)))
	want := merged(t, p, dir)
	path := filepath.Join(sweep.ShardDir(dir, 2), lab.ResultsFile)
	good := string(must.M1(os.ReadFile(path)))
	for name, bad := range map[string]string{
		"a digit":   strings.Replace(good, `"cumulative_regret":1`, `"cumulative_regret":2`, 1),
		"a line":    good[:strings.LastIndex(strings.TrimSpace(good), "\n")+1],
		"the lot":   "",
		"an answer": good + "rubbish\n",
	} {
		if bad == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		must.M(os.WriteFile(path, []byte(bad), 0o644))
		if _, _, err := p.Rows(dir, paper.Known); !errors.Is(err, sweep.ErrDamaged) ||
			!strings.Contains(err.Error(), "shards 2;") {
			t.Errorf("%s changed: merging: %v", name, err)
		}
		runAll(t, p, dir, []int{2})
		if merged(t, p, dir) != want {
			t.Errorf("%s changed: after another run the merged results differ", name)
		}
	}
	if kept, _ := filepath.Glob(sweep.ShardDir(dir, 2) + ".damaged-*"); len(kept) != 4 {
		t.Errorf("kept %v", kept)
	}
	must.M(os.Rename(sweep.ShardDir(dir, 2), filepath.Join(dir, "away")))
	must.M(os.Rename(sweep.ShardDir(dir, 3), sweep.ShardDir(dir, 2)))
	must.M(os.Rename(filepath.Join(dir, "away"), sweep.ShardDir(dir, 3)))
	if _, _, err := p.Rows(dir, paper.Known); !errors.Is(err, sweep.ErrDamaged) {
		t.Errorf("two shards in each other's place: %v", err)
	}
}

// Two processes do not run the same shard.
func TestAShardIsDoneByOne(t *testing.T) {
	p, dir := created(t, grid(t, 20), sweep.Options{Shards: 1})
	var second error
	o := lab.Options{Workers: 1, Progress: func(lab.Progress) {
		if second == nil {
			second = p.RunShard(t.Context(), dir, 0, paper.Known, lab.Options{})
		}
	}}
	must.M(p.RunShard(t.Context(), dir, 0, paper.Known, o))
	if !errors.Is(second, sweep.ErrBusy) {
		t.Errorf("the second process: %v", second)
	}
	if s := must.M1(p.States(dir)); s[0].State != sweep.Done || s[0].Starts != 1 {
		t.Errorf("state %+v", s[0])
	}
}
