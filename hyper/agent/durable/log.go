package durable

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Sync says when a record is on the disk.
type Sync int

const (
	// Each has every record there before Append's wait returns; those that wait at the same time share a sync.
	Each Sync = iota + 1
	// Grouped is Each, but that a sync waits for Options.Delay, and more records share it.
	Grouped
	// None returns at once: a loss of power loses the last seconds, and the end of the program, by kill -9 too, nothing.
	None
)

func (s Sync) String() string { return enum.Word(s, "each", "grouped", "none") }

// Options say how a log is kept. Zeros are defaults.
type Options struct {
	Sync  Sync          // 0 is Each
	Delay time.Duration // of Grouped; 0 is 2 ms
	// ReadOnly is for reading a log, which another process may write at the same time: the log has what was there when it
	// was opened.
	ReadOnly bool
	Log      *slog.Logger // nil is slog.Default()

	disk    disk         // nil is the machine's
	exit    func(string) // is told why the program ends; nil ends it
	segment int          // bytes after which a segment is full; 0 is 16 MiB
	from    uint64       // the number of the first record, where the log is new
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.disk = cmp.Or[disk](o.disk, machine{})
	o.segment = cmp.Or(o.segment, 16<<20)
	switch {
	case o.Sync != Grouped:
		o.Delay = 0
	case o.Delay == 0:
		o.Delay = 2 * time.Millisecond
	}
	return o
}

func (o Options) validate() error {
	err := faults.Known("Sync", o.Sync)
	if o.Delay < 0 {
		err = errors.Join(err, fmt.Errorf("Delay must not be negative, got %v", o.Delay))
	}
	return err
}

// ErrFailed says that the disk failed a write: the log takes no more. Open reads what is there.
var ErrFailed = errors.New("the log has failed")

// ErrClosed says that the log was closed, and takes and gives no more.
var ErrClosed = errors.New("the log is closed")

// ErrGap says that records are missing between others: a log that is only read was changed in the meantime, and may be
// opened again, or it is damaged.
var ErrGap = errors.New("records are missing")

// Log is a sequence of records in a folder. Its methods are safe for concurrent use. One process writes it. After Close
// they return ErrClosed, but for Next and Close.
type Log struct {
	dir     string
	options Options
	lock    io.Closer // nil where the log is only read

	order    sync.Mutex // guards all below
	segments []uint64   // numbers of the segments' first records
	first    uint64     // what Trim has kept
	next     uint64
	safe     uint64 // records before this one are on the disk
	file     file   // the last segment; nil where the log is only read
	size     int    // its length
	buffer   []byte
	readers  int  // loops over All
	syncing  bool // whether somebody syncs, and has let go of order
	synced   sync.Cond
	failed   error
	closed   bool
}

// Open opens the log of a folder, or begins it. What was being written when a process or machine stopped is there
// whole, or not at all. The error says so where another process writes the log, wraps journal.ErrDamaged where records
// that had been on the disk cannot be read, and names the command that converts a log of an earlier version.
func Open(dir string, o Options) (*Log, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	l := &Log{dir: dir, options: o.withDefaults()}
	l.synced.L = &l.order
	if err := l.open(); err != nil {
		if l.lock != nil {
			err = errors.Join(err, l.lock.Close())
		}
		return nil, fmt.Errorf("opening the log %s: %w", dir, err)
	}
	return l, nil
}

// open finds where the log ends, and begins a segment there. Nothing that was there is changed.
func (l *Log) open() (err error) {
	disk := l.options.disk
	if !l.options.ReadOnly {
		if err = disk.MkdirAll(l.dir); err != nil {
			return err
		}
		if l.lock, err = disk.Lock(filepath.Join(l.dir, "LOCK")); err != nil {
			return err
		}
	}
	names, err := disk.List(l.dir)
	if err != nil {
		return err
	}
	var old bool
	if l.segments, old = segmentsOf(names); old {
		return fmt.Errorf("it is of an earlier version: `go run ./hyper/cmd/convertlog %s` in a clone of the repository "+
			"converts it", l.dir)
	}
	if err := l.find(); err != nil || l.options.ReadOnly {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	return errors.Join(disk.Sync(filepath.Dir(l.dir)), l.sweep())
}

// find finds the first record and the number of the next in the last segment, and makes it safe.
func (l *Log) find() error {
	if len(l.segments) == 0 {
		if l.options.ReadOnly {
			return errors.New("there is none in this folder")
		}
		l.first, l.next, l.safe = l.options.from, l.options.from, l.options.from
		return nil
	}
	l.first = l.segments[0]
	last := l.segments[len(l.segments)-1]
	path := l.path(last)
	data, err := l.options.disk.Read(path)
	if err != nil {
		return err
	}
	s, err := reading(data, last)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for f, ok := s.frame(); ok; f, ok = s.frame() {
		if first, ok := f.mark(); ok {
			l.first = max(l.first, first)
		}
	}
	l.next, l.safe = s.next, s.next
	number, damaged := s.damage()
	switch {
	case l.options.ReadOnly:
		l.next = max(l.next, number) // All says what cannot be read
		l.safe = l.next
		return nil
	case damaged:
		return fmt.Errorf("record %d: %w: %s cannot be read from byte %d on, and had been written and was safe: take a "+
			"backup of the folder", s.next, journal.ErrDamaged, path, s.at)
	case s.left() > 0:
		l.options.Log.Warn("the end of the log cannot be read, and is dropped: it was torn when the program or the machine "+
			"stopped, before it was acknowledged, or it was damaged since", "bytes", s.left(), "file", path)
	}
	return l.options.disk.Sync(path)
}

// path is where the segment of a number is.
func (l *Log) path(number uint64) string { return filepath.Join(l.dir, fileOf(number)) }

// begin begins a segment at the next record. What was written before is safe.
func (l *Log) begin() error {
	disk, path := l.options.disk, filepath.Join(l.dir, unfinished)
	f, err := disk.Create(path)
	if err != nil {
		return err
	}
	l.buffer = frame{l.next, l.next, marked(l.first)}.append(append(l.buffer[:0], magic...))
	if _, err = f.Write(l.buffer); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = disk.Rename(path, l.path(l.next))
	}
	if err == nil {
		err = disk.Sync(l.dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, len(l.buffer)
	if n := len(l.segments); n == 0 || l.segments[n-1] != l.next { // one without records is replaced
		l.segments = append(l.segments, l.next)
	}
	return nil
}

// Append adds records, all of them or none, and returns the number of the first. Their order is then fixed; wait
// returns when they are as durable as Options.Sync says, and must be called. After an error of the disk it is not known
// whether they are there, and the log takes no more.
func (l *Log) Append(records ...journal.Record) (first uint64, wait func() error, err error) {
	var body []byte
	for i, r := range records {
		value, err := r.Encode()
		if err != nil {
			return 0, nil, fmt.Errorf("record %d: %w", i, err)
		}
		body = append(binary.AppendUvarint(body, uint64(len(value))), value...)
	}
	if len(body) > math.MaxInt32 {
		return 0, nil, fmt.Errorf("records must have at most %d bytes together, got %d", math.MaxInt32, len(body))
	}
	l.order.Lock()
	defer l.order.Unlock()
	if err := l.ready(); err != nil {
		return 0, nil, err
	}
	if first = l.next; len(records) > 0 {
		if err := l.write(body); err != nil {
			return 0, nil, err
		}
		l.next += uint64(len(records))
	}
	end := l.next
	return first, func() error {
		if l.options.Sync == None {
			return nil
		}
		return l.wait(end)
	}, nil
}

// ready returns when a frame may be written: it ends a segment that is full. The caller holds l.order.
func (l *Log) ready() error {
	for {
		switch {
		case l.err() != nil:
			return l.err()
		case l.file == nil:
			return errors.New("the log was opened to be read")
		case l.size < l.options.segment:
			return nil
		case l.syncing:
			l.synced.Wait()
			continue
		}
		if err := l.flush(); err != nil {
			return err
		}
		full := l.file
		if err := l.begin(); err != nil {
			return l.fail(err)
		}
		if err := full.Close(); err != nil {
			return l.fail(err)
		}
	}
}

// write writes a frame of the next records, or a mark. The caller holds l.order.
func (l *Log) write(body []byte) error {
	l.buffer = frame{l.next, l.safe, body}.append(l.buffer[:0])
	n, err := l.file.Write(l.buffer)
	l.size += n
	if err != nil {
		return l.fail(err)
	}
	return nil
}

// fail notes that the log takes no more. The caller holds l.order.
func (l *Log) fail(err error) error {
	if l.failed == nil {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return l.failed
}

// wait returns when the records before end are on the disk. Those who wait at the same time share a sync: one of them
// syncs what all have written.
func (l *Log) wait(end uint64) error {
	l.order.Lock()
	defer l.order.Unlock()
	for l.safe < end {
		switch {
		case l.syncing:
			l.synced.Wait()
		case l.closed:
			return l.failed // Close could not make them safe
		default:
			if err := l.share(); err != nil {
				return err
			}
		}
	}
	return nil
}

// share makes safe what is written until a sync begins, after Options.Delay. The caller holds l.order, which share lets
// go meanwhile, and nobody syncs.
func (l *Log) share() error {
	l.syncing = true
	if l.options.Delay > 0 {
		l.order.Unlock()
		time.Sleep(l.options.Delay)
		l.order.Lock()
	}
	to, f := l.next, l.file
	l.order.Unlock()
	err := f.Sync()
	l.order.Lock()
	l.syncing = false
	l.synced.Broadcast()
	return l.settled(to, err)
}

// flush makes safe what is written. The caller holds l.order.
func (l *Log) flush() error { return l.settled(l.next, l.file.Sync()) }

// settled notes what a sync has made safe. Where it failed the program ends: what is on the disk is then not known, and
// a second sync may wrongly say that all is well. The caller holds l.order.
func (l *Log) settled(to uint64, err error) error {
	if err == nil {
		l.safe = max(l.safe, to)
		return nil
	}
	err = l.fail(err)
	if l.options.exit != nil {
		l.options.exit(err.Error())
	}
	l.options.Log.Error("the disk failed to make the log safe, and the program ends: start it again when the disk is well",
		"error", err)
	os.Exit(1)
	return err
}

// Err is why the log takes no more, or nil.
func (l *Log) Err() error {
	l.order.Lock()
	defer l.order.Unlock()
	return l.err()
}

// err is Err where the caller holds l.order.
func (l *Log) err() error {
	if l.closed {
		return ErrClosed
	}
	return l.failed
}

// Sync returns when all records are on the disk, whatever Options.Sync says.
func (l *Log) Sync() error {
	l.order.Lock()
	end, closed := l.next, l.closed
	l.order.Unlock()
	if closed {
		return ErrClosed
	}
	return l.wait(end)
}

// Next is the number that the next record gets: how many there have been.
func (l *Log) Next() uint64 {
	l.order.Lock()
	defer l.order.Unlock()
	return l.next
}

// Trim drops the first records: those that are of before a time and have a lower number, but never the last of all. A
// segment of which all records are dropped is removed.
func (l *Log) Trim(before time.Time, number uint64) error {
	number = min(number, max(l.Next(), 1)-1)
	for r, err := range l.All(0) {
		if err != nil {
			return err
		}
		if r.Number >= number || r.Time >= before.UnixNano() {
			number = min(r.Number, number)
			break
		}
	}
	l.order.Lock()
	defer l.order.Unlock()
	if err := l.ready(); err != nil || number <= l.first {
		return err
	}
	l.first = number
	if err := l.write(marked(number)); err != nil {
		return err
	}
	if err := l.flush(); err != nil { // before a file goes
		return err
	}
	return l.sweep()
}

// sweep removes the segments that have no record which Trim has kept, unless somebody reads. The caller holds l.order.
func (l *Log) sweep() error {
	for l.readers == 0 && len(l.segments) > 1 && l.segments[1] <= l.first {
		if err := l.options.disk.Remove(l.path(l.segments[0])); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		l.segments = l.segments[1:]
	}
	return nil
}

// Close ends the log when what is being written is. Loops over All end with ErrClosed. It may be called again, and then
// does nothing.
func (l *Log) Close() error {
	l.order.Lock()
	defer l.order.Unlock()
	for l.syncing {
		l.synced.Wait()
	}
	if l.closed {
		return nil
	}
	l.closed = true
	if l.file == nil {
		return nil
	}
	defer l.synced.Broadcast()
	return errors.Join(l.end(), l.file.Close(), l.lock.Close())
}

// end makes all safe, and says so at the end of the segment, so that damage to the last records is known.
func (l *Log) end() error {
	err := l.file.Sync()
	if err != nil {
		return l.fail(err)
	}
	l.safe = l.next
	if l.failed != nil { // a frame may be there in part
		return nil
	}
	if err := l.write(marked(l.first)); err != nil {
		return err
	}
	return l.file.Sync()
}
