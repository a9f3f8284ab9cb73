package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// numbered returns a record that encodes its number.
func numbered(n int) journal.Record { return journal.Record{Trained: &journal.Trained{Rounds: n}} }

// files returns the names of the segments in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	return must.M1(filepath.Glob(filepath.Join(dir, "*"+suffix)))
}

// filled returns a log with records in several segments.
func filled(t *testing.T, dir string, n int) *Log {
	t.Helper()
	l := must.M1(Open(dir, Options{Log: silent, Sync: None, segment: 300}))
	for i := range n {
		must.M1(put(l, numbered(i)))
	}
	if segments := files(t, dir); len(segments) < 4 {
		t.Fatalf("%d records lie in the segments %q, want at least 4 segments", n, segments)
	}
	return l
}

// A log continues over its segments, even when it is opened again. Trim removes the segments without kept records, but
// not while a loop reads.
func TestSegments(t *testing.T) {
	dir := t.TempDir()
	l := filled(t, dir, 50)
	segments := len(files(t, dir))
	n := 0
	for r, err := range l.All(7) {
		must.M(err)
		if r.Number != uint64(7+n) || r.Trained.Rounds != 7+n {
			t.Fatalf("got record %d with %d rounds, want record %d", r.Number, r.Trained.Rounds, 7+n)
		}
		if n++; n == 1 {
			must.M(l.Trim(time.Now(), 48))
			if now := len(files(t, dir)); now != segments {
				t.Errorf("got %d segments before and %d during the reading, want no change", segments, now)
			}
		}
	}
	if now := len(files(t, dir)); n != 43 || now > 2 {
		t.Errorf("got %d records and %d segments, want 43 and at most 2", n, now)
	}
	for range 3 {
		if got := kept(t, l, 0); len(got) != 2 || got[0].Trained.Rounds != 48 || l.Next() != 50 {
			t.Errorf("got records %+v, want rounds 48 and 49, and the next number 50", got)
		}
		must.M(l.Close())
		l = must.M1(Open(dir, Options{Log: silent}))
	}
	must.M(l.Close())
}

// If any byte of a segment changes, or if the segment is cut anywhere, a reader gets an error after the records before.
// A missing segment is a gap.
func TestDamagedSegment(t *testing.T) {
	dir := t.TempDir()
	must.M(filled(t, dir, 50).Close())
	path := files(t, dir)[1]
	whole := must.M1(os.ReadFile(path))
	first, after := number(t, path), number(t, files(t, dir)[2])
	check := func(what string, want error) {
		t.Helper()
		l := must.M1(Open(dir, Options{Log: silent, ReadOnly: true}))
		defer func() { must.M(l.Close()) }()
		must.M(l.Sync())
		next := uint64(0)
		for r, err := range l.All(0) {
			if err != nil {
				if !errors.Is(err, want) || next < first || next >= after {
					t.Errorf("%s: reading ends at record %d with error %v, want an error within the damaged records",
						what, next, err)
				}
				return
			}
			if r.Trained.Rounds != int(next) {
				t.Fatalf("%s: record %d is %+v, want the number of rounds equal to the record's number", what, next, r)
			}
			next++
		}
		t.Errorf("%s: the damaged log is read without an error", what)
	}
	for at := range whole {
		data := append([]byte(nil), whole...)
		data[at] ^= 0x41
		must.M(os.WriteFile(path, data, 0o600))
		if at < lastRecord(t, whole, first) {
			check(fmt.Sprintf("byte %d of %d", at, len(whole)), journal.ErrDamaged)
		}
	}
	for at := range lastRecord(t, whole, first) {
		must.M(os.WriteFile(path, whole[:at], 0o600))
		want := journal.ErrDamaged
		if endsFrame(whole[:at], first) {
			want = ErrGap
		}
		check(fmt.Sprintf("cut at byte %d", at), want)
	}
	must.M(os.Remove(path))
	check("without the segment", ErrGap)
}

// number returns the number of a segment.
func number(t *testing.T, path string) uint64 {
	t.Helper()
	return segmentsOf([]string{filepath.Base(path)})[0]
}

// lastRecord returns the index of the last frame with records.
func lastRecord(t *testing.T, data []byte, first uint64) (end int) {
	t.Helper()
	s := must.M1(readSegment(data, first))
	for f, ok := s.frame(); ok; f, ok = s.frame() {
		if _, is := f.mark(); !is {
			end = s.at
		}
	}
	return end
}

// endsFrame reports whether data ends with a whole frame, or before the first.
func endsFrame(data []byte, first uint64) bool {
	s := must.M1(readSegment(data, first))
	for _, ok := s.frame(); ok; _, ok = s.frame() {
	}
	return s.left() == 0
}

// A log that was closed is refused if any byte of its records changes, including the last record.
func TestDamagedAfterClose(t *testing.T) {
	dir := t.TempDir()
	l := must.M1(Open(dir, Options{Log: silent}))
	must.M1(put(l, numbered(0)))
	must.M1(put(l, numbered(1)))
	must.M(l.Close())
	path := files(t, dir)[0]
	whole := must.M1(os.ReadFile(path))
	for at := range lastRecord(t, whole, 0) {
		data := append([]byte(nil), whole...)
		data[at] ^= 0x41
		must.M(os.WriteFile(path, data, 0o600))
		l, err := Open(dir, Options{Log: silent})
		if err == nil {
			must.M(l.Close())
		}
		if !errors.Is(err, journal.ErrDamaged) {
			t.Fatalf("byte %d of %d is damaged: got error %v, want ErrDamaged", at, len(whole), err)
		}
	}
}

// slow is a disk whose syncs are slow and counted.
type slow struct {
	machine
	syncs *atomic.Int32
}

func (d slow) Create(path string) (file, error) {
	f, err := d.machine.Create(path)
	return slowFile{f, d.syncs}, err
}

type slowFile struct {
	file
	syncs *atomic.Int32
}

func (f slowFile) Sync() error {
	f.syncs.Add(1)
	time.Sleep(5 * time.Millisecond)
	return f.file.Sync()
}

// Records that wait at the same time share a sync, and wait only returns after a sync that began after the write. With
// Grouped, consecutive records share it too.
func TestSharedSync(t *testing.T) {
	for _, o := range []Options{{Sync: Each}, {Sync: Grouped, Delay: 50 * time.Millisecond}} {
		var syncs atomic.Int32
		o.Log, o.disk = silent, slow{syncs: &syncs}
		l := must.M1(Open(t.TempDir(), o))
		syncs.Store(0)
		var writers sync.WaitGroup
		for w := range 20 {
			writers.Go(func() {
				if o.Sync == Grouped {
					time.Sleep(time.Duration(w) * time.Millisecond)
				}
				for i := range 5 {
					first, wait, err := l.Append(numbered(i))
					must.M(err)
					before := syncs.Load()
					must.M(wait())
					if l.order.Lock(); l.safe <= first {
						t.Errorf("record %d was acknowledged, but only the records before %d are synced", first, l.safe)
					}
					l.order.Unlock()
					if syncs.Load() == before && before == 0 {
						t.Errorf("record %d was acknowledged without a sync", first)
					}
				}
			})
		}
		writers.Wait()
		// Of 100 records: 5 rounds, of which each may take two syncs.
		if n := syncs.Load(); n > 25 {
			t.Errorf("Sync %v: got %d syncs, want at most 25", o.Sync, n)
		}
		must.M(l.Close())
	}
}
