package durable

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"

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
	// None returns at once: a crash of the program loses the last records, one of the machine the last seconds.
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

	fs   vfs.FS       // nil is the machine's
	exit func(string) // is told why the program ends; nil ends it
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
	db    *pebble.DB
	write *pebble.WriteOptions
	done  func() error // removes the copy that is read; nil where there is none

	order  sync.Mutex // held while records get their numbers
	next   uint64
	failed error
	closed bool // changes while both order and moving are held

	moving sync.Mutex // held while an iterator of All moves
	open   map[*pebble.Iterator]bool
}

// Open opens the log of a folder, or begins it. What was being written when a process or machine stopped is there
// whole, or not at all. The error says so where another process writes the log.
func Open(dir string, o Options) (*Log, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	fs := cmp.Or[vfs.FS](o.fs, vfs.Default)
	l := &Log{write: pebble.Sync, open: map[*pebble.Iterator]bool{}}
	var err error
	if o.ReadOnly {
		dir, l.done, err = copied(fs, dir)
	} else {
		err = fs.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	settings := &pebble.Options{FS: fs, ReadOnly: o.ReadOnly, Logger: quiet{o.Log, fs, o.exit},
		FormatMajorVersion: pebble.FormatNewest}
	switch o.Sync {
	case Grouped:
		delay := o.Delay
		if delay == 0 {
			delay = 2 * time.Millisecond
		}
		settings.WALMinSyncInterval = func() time.Duration { return delay }
	case None:
		l.write = pebble.NoSync
	}
	if l.db, err = pebble.Open(dir, settings); err != nil {
		// Between processes it is EAGAIN; Windows says it in words of its own.
		if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process") {
			err = fmt.Errorf("another process has it, or another part of this one: %w", err)
		}
		return nil, errors.Join(fmt.Errorf("opening the log %s: %w", dir, err), l.gone())
	}
	if l.next, err = l.end(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// key is where a record is kept: keys are in the order of their numbers.
func key(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'r'}, number) }

// end is the number after the last record.
func (l *Log) end() (uint64, error) {
	i, err := l.db.NewIter(&pebble.IterOptions{LowerBound: key(0), UpperBound: []byte{'s'}})
	if err != nil {
		return 0, err
	}
	defer i.Close()
	if !i.Last() {
		return 0, i.Error()
	}
	return binary.BigEndian.Uint64(i.Key()[1:]) + 1, nil
}

// Append adds records, all of them or none, and returns the number of the first. Their order is then fixed; wait
// returns when they are as durable as Options.Sync says, and must be called. After an error of the disk it is not known
// whether they are there, and the log takes no more.
func (l *Log) Append(records ...journal.Record) (first uint64, wait func() error, err error) {
	values := make([][]byte, len(records))
	for i, r := range records {
		if values[i], err = r.Encode(); err != nil {
			return 0, nil, fmt.Errorf("record %d: %w", i, err)
		}
	}
	b := l.db.NewBatch()
	l.order.Lock()
	defer l.order.Unlock()
	if err := l.err(); err != nil {
		return 0, nil, errors.Join(err, b.Close())
	}
	for i, v := range values {
		if err := b.Set(key(l.next+uint64(i)), v, nil); err != nil {
			return 0, nil, errors.Join(err, b.Close())
		}
	}
	if err := l.apply(b, l.write); err != nil {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return 0, nil, l.failed
	}
	first, l.next = l.next, l.next+uint64(len(records))
	return first, func() error { return l.wait(b) }, nil
}

// apply applies a batch after those before it. The caller holds l.order, knows that the log is open, and calls wait
// when it has let go.
func (l *Log) apply(b *pebble.Batch, o *pebble.WriteOptions) error {
	// Pebble commits batches in the order in which they are applied, and syncs those that wait together.
	if o.Sync {
		return l.db.ApplyNoSyncWait(b, o)
	}
	return l.db.Apply(b, o)
}

// wait waits for the disk where the batch was applied so; Close lets it end.
func (l *Log) wait(b *pebble.Batch) error {
	defer b.Close()
	if err := b.SyncWait(); err != nil {
		l.order.Lock()
		defer l.order.Unlock()
		if l.failed == nil {
			l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		}
		return l.failed
	}
	return nil
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
	b := l.db.NewBatch()
	if err := b.LogData(nil, nil); err != nil {
		return errors.Join(err, b.Close())
	}
	return l.run(b, pebble.Sync)
}

// run applies a batch without records, and waits for it.
func (l *Log) run(b *pebble.Batch, o *pebble.WriteOptions) error {
	err := func() error {
		l.order.Lock()
		defer l.order.Unlock()
		if l.closed {
			return ErrClosed
		}
		return l.apply(b, o)
	}()
	if err != nil {
		return err
	}
	return l.wait(b)
}

// Next is the number that the next record gets: how many there have been.
func (l *Log) Next() uint64 {
	l.order.Lock()
	defer l.order.Unlock()
	return l.next
}

// Trim drops the first records: those that are of before a time and have a lower number, but never the last of all,
// which tells the next its number.
func (l *Log) Trim(before time.Time, number uint64) error {
	number = min(number, max(l.Next(), 1)-1)
	to := number
	for r, err := range l.All(0) {
		if err != nil {
			return err
		}
		if r.Number >= number || r.Time >= before.UnixNano() {
			to = min(r.Number, number)
			break
		}
	}
	b := l.db.NewBatch()
	if err := b.DeleteRange(key(0), key(to), nil); err != nil {
		return errors.Join(err, b.Close())
	}
	return l.run(b, l.write)
}

// Close ends the log when what is being written is. Loops over All end with ErrClosed. It may be called again, and then
// does nothing.
func (l *Log) Close() error {
	l.order.Lock()
	defer l.order.Unlock()
	l.moving.Lock()
	defer l.moving.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	var errs []error
	for i := range l.open {
		errs = append(errs, i.Close())
	}
	clear(l.open)
	return errors.Join(append(errs, l.db.Close(), l.gone())...)
}

// gone removes the copy that is read.
func (l *Log) gone() error {
	if l.done == nil {
		return nil
	}
	return l.done()
}

// quiet passes on Pebble's errors alone, and that it dropped a torn tail.
type quiet struct {
	log  *slog.Logger
	fs   vfs.FS
	exit func(string)
}

// Infof is told where the reading of what was written last ended.
func (q quiet) Infof(_ string, args ...any) {
	for _, arg := range args {
		at, ok := arg.(wal.Offset)
		if !ok {
			continue
		}
		if n := q.after(at); n > 0 {
			q.log.Warn("the end of the log cannot be read, and is dropped: it was torn when the program or the machine "+
				"stopped, before it was acknowledged, or it was damaged since", "bytes", n, "file", at.PhysicalFile)
		}
	}
}

// after is how many bytes there are from an offset of a file on, without zeros at the end; 0 where that is the mark of
// a file that was closed, which has no checksum and no length.
func (q quiet) after(at wal.Offset) int {
	f, err := q.fs.Open(at.PhysicalFile)
	if err != nil {
		return 0
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil || int64(len(data)) <= at.Physical {
		return 0
	}
	left := bytes.TrimRight(data[at.Physical:], "\x00")
	if bytes.HasPrefix(left, make([]byte, 6)) {
		return 0
	}
	return len(left)
}

func (q quiet) Errorf(format string, args ...any) { q.log.Error(fmt.Sprintf(format, args...)) }

// Fatalf ends the program: Pebble cannot go on when the disk fails to make its log safe, and neither can who relies on
// it. When the program starts again, the log has what was acknowledged.
func (q quiet) Fatalf(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if q.exit != nil {
		q.exit(why)
	}
	q.log.Error("the disk failed to make the log safe, and the program ends: start it again when the disk is well",
		"error", why)
	os.Exit(1)
}
