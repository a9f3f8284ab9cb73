package durable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
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

// A log has its records in order, even after it was closed and opened again, and continues with their numbers.
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
			t.Errorf("all records: got %+v, want the written ones", got)
		}
		if got := kept(t, l, 3); !reflect.DeepEqual(got, all[3:]) {
			t.Errorf("records from 3: got %+v, want the written ones from 3", got)
		}
		if _, err := Open(dir, Options{Log: silent}); !errors.Is(err, ErrLocked) ||
			!strings.Contains(err.Error(), "uses this folder and holds its lock: stop it, or give another folder") {
			t.Errorf("Open by a second writer: got error %v, want one about the lock", err)
		}
		must.M(l.Close())
	}
	l := must.M1(Open(dir, Options{Log: silent}))
	must.M(l.Trim(time.Unix(0, 0), 4))
	if got := kept(t, l, 0); !reflect.DeepEqual(got, all) {
		t.Errorf("Drop of older records: got %+v, want all records", got)
	}
	must.M(l.Trim(time.Now(), 4))
	if got := kept(t, l, 0); !reflect.DeepEqual(got, all[4:]) {
		t.Errorf("records after Drop: got %+v, want the written ones from 4", got)
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

// A machine that loses its power at any time keeps what Append has acknowledged, in the order of the numbers. Of the
// writes that were not synced, each part is lost with probability one half.
func TestPowerLoss(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		disk := vfs.NewCrashableMem()
		l := must.M1(Open("log", Options{Log: silent, disk: virtual{disk}, segment: 2000}))
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
			time.Sleep(20 * time.Microsecond)
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

		again := must.M1(Open("log", Options{Log: silent, disk: virtual{after}}))
		last := uint64(0)
		for r, err := range again.All(0) {
			if err != nil || r.Number != last {
				t.Fatalf("seed %d: got record %d, want %d: %v", seed, r.Number, last, err)
			}
			last++
			if id, ok := known[r.Number]; ok && r.Feedback.ID != id {
				t.Errorf("seed %d: record %d has ID %s, want %s", seed, r.Number, r.Feedback.ID, id)
			}
			delete(known, r.Number)
		}
		if len(known) > 0 {
			t.Errorf("seed %d: of %d acknowledged records %d are lost", seed, before, len(known))
		}
		must.M(again.Close())
	}
}

// For every k, if the k-th write, sync, rename or creation of a file fails, the call fails, and everything that was
// acknowledged before is there when the log is opened again.
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
		acked, trimmed := appended(t, errorfs.Wrap(disk, inject))
		again := must.M1(Open("log", Options{Log: silent, disk: virtual{disk.CrashClone(vfs.CrashCloneCfg{})}}))
		got := map[uint64]string{}
		for r, err := range again.All(0) {
			must.M(err)
			got[r.Number] = r.Feedback.ID
		}
		for i, id := range acked {
			if i >= trimmed && got[uint64(i)] != id {
				t.Fatalf("fault %d: the acknowledged record %d, %s, is lost", k, i, id)
			}
		}
		must.M(again.Close())
		if int(count) <= k {
			if t.Logf("%d faults", k); len(acked) != 20 {
				t.Errorf("without a fault: got %d acknowledged records, want 20", len(acked))
			}
			return // there are no more
		}
	}
	t.Error("more faults than writes: the loop does not end")
}

// A failed log says so once, however many records come later.
func TestFailureIsReported(t *testing.T) {
	failing := false
	inject := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing && op.Kind == errorfs.OpFileWrite {
			return errors.New("the disk is full")
		}
		return nil
	})
	var report bytes.Buffer
	l := must.M1(Open("log", Options{disk: virtual{errorfs.Wrap(vfs.NewMem(), inject)},
		Log: slog.New(slog.NewTextHandler(&report, nil))}))
	must.M1(put(l, records[0]))
	failing = true
	for range 3 {
		if _, err := put(l, records[1]); !errors.Is(err, ErrFailed) {
			t.Errorf("got error %v, want ErrFailed", err)
		}
	}
	if got := report.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "the disk is full") {
		t.Errorf("got report\n%swant one line with the reason", got)
	}
}

// appended appends at most 20 records in some segments, until an error, and returns the IDs of the acknowledged ones.
// After 15 records it trims the first 9.
func appended(t *testing.T, fs vfs.FS) (acked []string, trimmed int) {
	t.Helper()
	defer func() {
		_ = recover() // the program ends when a sync fails
	}()
	l, err := Open("log", Options{Log: silent, disk: virtual{fs}, segment: 200, Exit: func(err error) { panic(err.Error()) }})
	if err != nil {
		return nil, 0
	}
	defer func() { _ = l.Close() }()
	for i := range 20 {
		id := fmt.Sprint(i)
		if _, err := put(l, journal.Record{Feedback: &journal.Feedback{ID: id}}); err != nil {
			return acked, trimmed
		}
		acked = append(acked, id)
		if i == 14 {
			trimmed = 9
			if err := l.Trim(time.Now(), 9); err != nil {
				return acked, trimmed
			}
		}
	}
	return acked, trimmed
}

// A log whose records have all been dropped continues with the next number.
func TestTrimAll(t *testing.T) {
	dir := t.TempDir()
	l := must.M1(Open(dir, Options{Log: silent}))
	must.M1(put(l, records...))
	must.M(l.Trim(time.Now(), l.Next()))
	must.M(l.Close())
	l = must.M1(Open(dir, Options{Log: silent}))
	defer l.Close()
	if first := must.M1(put(l, records[0])); first != uint64(len(records)) {
		t.Errorf("the next record has number %d, want the number after the dropped ones", first)
	}
	if got := kept(t, l, 0); len(got) != 2 {
		t.Errorf("got records %+v, want 2", got)
	}
}

// A log that was cut off at any byte of its last write has the records before the cut, whole and in order, and
// continues. A log with a changed byte is refused. The exception is a changed last record: the log then has the records
// before. A log that was closed is also refused if the last record was changed.
func TestTornTail(t *testing.T) {
	disk := vfs.NewMem()
	l := must.M1(Open("log", Options{Log: silent, disk: virtual{disk}}))
	for i := range 6 {
		must.M1(put(l, journal.Record{Time: int64(i), Feedback: &journal.Feedback{ID: fmt.Sprint("decision ", i)}}))
	}
	name := newest(t, disk)
	whole := read(t, disk, name)
	last := frameHead // the length of the last frame
	for ; ; last++ {
		if _, size, ok := frameAt(whole[len(whole)-last:], 5, 5); ok && size == last {
			break
		}
	}
	must.M(l.Close())
	written := read(t, disk, name)
	var said bytes.Buffer
	clean := vfs.NewMem()
	cloned(t, disk, clean)
	must.M(must.M1(Open("log", Options{Log: slog.New(slog.NewTextHandler(&said, nil)), disk: virtual{clean}})).Close())
	if said.Len() > 0 {
		t.Errorf("Open of a closed log: got the message %q, want none", &said)
	}
	for _, flip := range []bool{false, true} {
		least := 6
		for at := len(whole) - 1; at >= 0; at-- {
			torn := vfs.NewMem()
			cloned(t, disk, torn)
			data := append([]byte(nil), written[:at]...)
			if flip {
				data = append([]byte(nil), whole...)
				data[at] ^= 0x41
			}
			write(t, torn, name, data)
			var said bytes.Buffer
			again, err := Open("log", Options{Log: slog.New(slog.NewTextHandler(&said, nil)), disk: virtual{torn}})
			if refused := flip && at < len(whole)-last; refused != errors.Is(err, journal.ErrDamaged) {
				t.Fatalf("byte %d of %d, flipped %v: got error %v", at, len(whole), flip, err)
			} else if refused {
				continue
			}
			must.M(err)
			got := kept(t, again, 0)
			if lost := len(got) < 6 && at > 0; flip && !strings.Contains(said.String(), "cannot be read") ||
				!flip && at == len(whole)-1 && lost != strings.Contains(said.String(), "cannot be read") {
				t.Errorf("byte %d, flipped %v: got %d records and the message %q", at, flip, len(got), &said)
			}
			for i, r := range got {
				if r.Feedback.ID != fmt.Sprint("decision ", i) {
					t.Fatalf("byte %d, flipped %v: got another record %d: %+v", at, flip, i, r)
				}
			}
			if !flip && (len(got) > least || len(got) < least-1) {
				t.Errorf("cut at byte %d: got %d records, but %d with one more byte", at, len(got), least)
			}
			least = min(least, len(got))
			if first := must.M1(put(again, records[0])); first != uint64(len(got)) {
				t.Errorf("the log continues with number %d, want the number after the kept records", first)
			}
			if now := kept(t, again, 0); len(now) != len(got)+1 {
				t.Errorf("byte %d, flipped %v: got %d records, and %d after one more", at, flip, len(got), len(now))
			}
			must.M(again.Close())
		}
		if !flip && least != 0 {
			t.Errorf("empty log: got %d records, want 0", least)
		}
	}
}

// newest returns the name of the last segment.
func newest(t *testing.T, fs vfs.FS) (name string) {
	t.Helper()
	for _, file := range must.M1(fs.List("log")) {
		if strings.HasSuffix(file, ".log") && file > name {
			name = file
		}
	}
	return "log/" + name
}

func read(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f := must.M1(fs.Open(name))
	defer f.Close()
	return must.M1(io.ReadAll(f))
}

func write(t *testing.T, fs vfs.FS, name string, data []byte) {
	t.Helper()
	f := must.M1(fs.Create(name, vfs.WriteCategoryUnspecified))
	must.M1(f.Write(data))
	must.M(f.Sync())
	must.M(f.Close())
}

// cloned copies the files of a log, except its lock.
func cloned(t *testing.T, from, to vfs.FS) {
	t.Helper()
	must.M(to.MkdirAll("log", 0o700))
	for _, file := range must.M1(from.List("log")) {
		if file != "LOCK" {
			write(t, to, "log/"+file, read(t, from, "log/"+file))
		}
	}
}

// A log is read while another process writes it: a reader has the records from when it was opened, in order, and no
// partial record.
func TestReadBesideWriter(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
	dir := t.TempDir()
	l := must.M1(Open(dir, Options{Log: silent, Sync: None, segment: 5 << 20})) // 250 records
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		menu := make([]float32, 5000)
		for i := 0; ctx.Err() == nil; i++ {
			must.M1(put(l, journal.Record{Time: int64(i), Decision: &journal.Decision{ID: fmt.Sprint(i), Context: menu,
				Probabilities: []float32{1}}}))
			if i%2000 == 1999 {
				must.M(l.Trim(time.Unix(0, int64(i-1000)), l.Next()))
			}
		}
	})
	last, gaps := uint64(0), 0
	begun := time.Now()
	long := func(d time.Duration) bool { return time.Since(begun) > d }
	for !long(time.Second/2) || last < 1000 && !long(time.Minute) {
		r, err := Open(dir, Options{Log: silent, ReadOnly: true})
		if err != nil {
			gaps++ // a file had gone in between
			continue
		}
		n := 0
		for one, err := range r.All(0) {
			if err != nil {
				gaps++
				break
			}
			if one.Decision.ID != fmt.Sprint(one.Number) || len(one.Decision.Context) != 5000 {
				t.Fatalf("record %d: got ID %s, want the number and 5000 features", one.Number, one.Decision.ID)
			}
			n, last = n+1, one.Number
		}
		if _, _, err := r.Append(records[0]); err == nil {
			t.Error("Append by a reader: got no error")
		}
		must.M(r.Close())
	}
	stop()
	writer.Wait()
	must.M(l.Close())
	t.Logf("read up to record %d; %d times a file had gone", last, gaps)
	if last < 1000 {
		t.Errorf("the reader got records up to %d, want at least 1000", last)
	}
}

// A closed log returns an error from every method, and nothing panics. Closing it again does nothing.
func TestClosed(t *testing.T) {
	for _, sync := range []Sync{Each, None} {
		l := must.M1(Open(t.TempDir(), Options{Log: silent, Sync: sync}))
		must.M1(put(l, records...))
		_, wait, err := l.Append(records[0])
		must.M(err)
		read := 0
		for _, err := range l.All(0) {
			if read++; read == 2 {
				must.M(l.Close()) // in the midst of a loop
			}
			if want := read == 3; errors.Is(err, ErrClosed) != want || (err != nil) != want {
				t.Errorf("record %d: got error %v, want ErrClosed at record 3 only", read, err)
			}
		}
		if read != 3 {
			t.Errorf("the loop ended after record %d, want 3", read)
		}
		if err := errors.Join(wait(), l.Close()); err != nil {
			t.Errorf("Wait for an earlier record, or second Close: got error %v, want none", err)
		}
		_, err = put(l, records[0])
		for what, err := range map[string]error{"Append": err, "Sync": l.Sync(), "Err": l.Err(),
			"Trim": l.Trim(time.Now(), 2)} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s after Close: got error %v, want ErrClosed", what, err)
			}
		}
		for _, err := range l.All(0) {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("All after Close: got error %v, want ErrClosed", err)
			}
		}
		if l.Next() != 4 {
			t.Errorf("next number: got %d, want 4", l.Next())
		}
	}
}

// Close runs beside all other calls: each call is done, or returns that the log is closed.
func TestCloseBesideUse(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		dir := t.TempDir()
		l := must.M1(Open(dir, Options{Log: silent}))
		must.M1(put(l, records...))
		var users sync.WaitGroup
		acked := make([]int, 4)
		for w := range acked {
			users.Go(func() {
				for range 50 { // or Close may take seconds to begin
					first, err := put(l, records[0])
					if err == nil {
						acked[w]++
						err = l.Sync()
					}
					for _, e := range l.All(first) {
						err = errors.Join(err, e)
					}
					if err == nil {
						continue
					}
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			})
		}
		time.Sleep(time.Millisecond)
		must.M(l.Close())
		users.Wait()
		l = must.M1(Open(dir, Options{Log: silent}))
		all := len(records)
		for _, n := range acked {
			all += n
		}
		if l.Next() < uint64(all) {
			t.Errorf("the log has %d records, want all %d acknowledged ones", l.Next(), all)
		}
		must.M(l.Close())
	}
}

// otherDir is the environment variable with the folder of the process that TestOtherProcess starts.
const otherDir = "HYPER_DURABLE_TEST_OTHER"

// A log that another process writes is refused, and the error says so.
func TestOtherProcess(t *testing.T) {
	if dir := os.Getenv(otherDir); dir != "" {
		l, err := Open(dir, Options{Log: silent})
		if err == nil {
			err = l.Close()
		}
		fmt.Print(err)
		os.Exit(0)
	}
	dir := t.TempDir()
	other := func() string {
		c := exec.Command(os.Args[0], "-test.run=^TestOtherProcess$")
		c.Env = append(os.Environ(), otherDir+"="+dir)
		return string(must.M1(c.Output()))
	}
	l := must.M1(Open(dir, Options{Log: silent}))
	if said := other(); !strings.Contains(said, dir+": another process, or another part") {
		t.Errorf("Open while this process writes: got %s, want the folder and the reason", said)
	}
	must.M(l.Close())
	if said := other(); said != "<nil>" {
		t.Errorf("Open after this process: got %s, want no error", said)
	}
}
