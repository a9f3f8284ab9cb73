package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var records = []journal.Record{
	{Time: 1, Decision: &journal.Decision{ID: "5-0000abcd", Action: 1, Probabilities: []float32{0.25, 0.75}}},
	{Time: 2, Feedback: &journal.Feedback{ID: "5-0000abcd", Reward: -2.5, Weight: 1}},
	{Trained: &journal.Trained{Rounds: 7}},
}

var silent = slog.New(slog.DiscardHandler)

// A log has its records in their order, also after it was closed and opened again, and goes on with their numbers.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	var all []journal.Record
	for range 3 {
		l := must.M1(Open(dir, Options{Log: silent}))
		if l.Next() != uint64(len(all)) {
			t.Fatalf("next is %d, want %d", l.Next(), len(all))
		}
		if first := must.M1(put(l, records...)); first != uint64(len(all)) {
			t.Errorf("the first is number %d, want %d", first, len(all))
		}
		all = append(all, records...)
		must.M1(put(l, records[2]))
		all = append(all, records[2])
		if got := kept(t, l, 0); !reflect.DeepEqual(got, all) {
			t.Errorf("%+v", got)
		}
		if got := kept(t, l, 3); !reflect.DeepEqual(got, all[3:]) {
			t.Errorf("from 3: %+v", got)
		}
		if _, err := Open(dir, Options{Log: silent}); err == nil || !strings.Contains(err.Error(), "lock") {
			t.Errorf("a second writer: %v", err)
		}
		must.M(l.Close())
	}
	l := must.M1(Open(dir, Options{Log: silent}))
	must.M(l.Trim(time.Now(), 4))
	if got := kept(t, l, 0); !reflect.DeepEqual(got, all[4:]) {
		t.Errorf("after Drop: %+v", got)
	}
	must.M(l.Close())
}

// put appends records, and waits for the disk.
func put(l *Log, all ...journal.Record) (uint64, error) {
	first, wait, err := l.Append(all...)
	if err == nil {
		err = wait()
	}
	return first, err
}

func kept(t *testing.T, l *Log, from uint64) (out []journal.Record) {
	t.Helper()
	for r, err := range l.All(from) {
		if err != nil {
			t.Fatal(err)
		}
		r.Number = 0
		out = append(out, r)
	}
	return out
}

// A machine that loses its power, at any time, keeps what Append has acknowledged, in the order of the numbers: what was
// not synced is lost, each part of it with chance one half.
func TestPowerLoss(t *testing.T) {
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		disk := vfs.NewCrashableMem()
		l := must.M1(Open("log", Options{Log: silent, fs: disk}))
		var mu sync.Mutex
		acked := map[uint64]string{}
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					id := fmt.Sprintf("%d-%d", w, i)
					number, err := put(l, journal.Record{Feedback: &journal.Feedback{ID: id, Reward: 1}})
					if err == nil {
						mu.Lock()
						acked[number] = id
						mu.Unlock()
					}
				}
			})
		}
		for {
			mu.Lock()
			n := len(acked)
			mu.Unlock()
			if n > r.IntN(400) {
				break
			}
		}
		mu.Lock()
		before := len(acked)
		known := make(map[uint64]string, before)
		for k, v := range acked {
			known[k] = v
		}
		mu.Unlock()
		after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(uint64(seed), 2))})
		stop()
		writers.Wait()
		must.M(l.Close())

		again := must.M1(Open("log", Options{Log: silent, fs: after}))
		last := uint64(0)
		for r, err := range again.All(0) {
			if err != nil || r.Number != last {
				t.Fatalf("seed %d: record %d of %d: %v", seed, r.Number, last, err)
			}
			last++
			if id, ok := known[r.Number]; ok && r.Feedback.ID != id {
				t.Errorf("seed %d: record %d is %s, not %s", seed, r.Number, r.Feedback.ID, id)
			}
			delete(known, r.Number)
		}
		if len(known) > 0 {
			t.Errorf("seed %d: of %d acknowledged records %d are lost", seed, before, len(known))
		}
		must.M(again.Close())
	}
}

// When the k-th write, sync, rename or creation of a file fails, for every k, the call fails, and what was acknowledged
// before is there when the log is opened again.
func TestFaults(t *testing.T) {
	for k := range 200 {
		disk := vfs.NewCrashableMem()
		var count int32
		failed := errors.New("the disk fails")
		inject := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				if count++; int(count) == k+1 {
					return failed
				}
			}
			return nil
		})
		acked := appended(t, errorfs.Wrap(disk, inject))
		again := must.M1(Open("log", Options{Log: silent, fs: disk.CrashClone(vfs.CrashCloneCfg{})}))
		got := kept(t, again, 0)
		for i, id := range acked {
			if i >= len(got) || got[i].Feedback.ID != id {
				t.Fatalf("fault %d: record %d, %s, was acknowledged, and is not there", k, i, id)
			}
		}
		must.M(again.Close())
		if int(count) <= k {
			return // there are no more
		}
	}
}

// appended appends until an error, at most 20 records, and returns the IDs of those that were acknowledged.
func appended(t *testing.T, fs vfs.FS) (acked []string) {
	t.Helper()
	defer func() {
		_ = recover() // Pebble gives up when its log cannot be synced
	}()
	l, err := Open("log", Options{Log: silent, fs: fs})
	if err != nil {
		return nil
	}
	defer func() { _ = l.Close() }()
	for i := range 20 {
		id := fmt.Sprint(i)
		if _, err := put(l, journal.Record{Feedback: &journal.Feedback{ID: id}}); err != nil {
			return acked
		}
		acked = append(acked, id)
	}
	return acked
}
