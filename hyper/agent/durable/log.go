package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// ErrFailed means that the disk failed a write: the log accepts no more records. Open reads the records that are there.
var ErrFailed = errors.New("the log has failed")

// ErrClosed means that the log was closed, and can be neither written nor read.
var ErrClosed = errors.New("the log is closed")

// ErrGap means that records are missing between others. Either another process changed the log while this one read it,
// and the log may be opened again, or the log is damaged.
var ErrGap = errors.New("records are missing")

// Log is a sequence of records in a folder. Its methods are safe for concurrent use. Only one process writes it. After
// Close, all methods except Next and Close return ErrClosed.
type Log struct {
	dir     string
	options Options
	lock    io.Closer // nil if the log is only read

	order    sync.Mutex // guards all below
	segments []uint64   // number of each segment's first record
	first    uint64     // number of the first record that Trim has kept
	next     uint64     // number of the next record
	safe     uint64     // records before this one are on the disk
	file     file       // the last segment; nil if the log is only read
	size     int        // length of the last segment in bytes
	buffer   []byte
	readers  int  // number of loops over All
	syncing  bool // whether a goroutine syncs without holding order
	synced   sync.Cond
	failed   error
	closed   bool
}

// Append adds all records, or none, and returns the number of the first. Their order is then fixed. wait returns when
// they are as durable as Options.Sync requires; the caller must call it. After an error of the disk, it is unknown
// whether the records are in the log, and the log accepts no more.
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

// ready returns when a frame may be written; it first begins a new segment if the last one is full. The caller holds
// l.order.
func (l *Log) ready() error {
	for {
		switch {
		case l.err() != nil:
			return l.err()
		case l.file == nil:
			return errors.New("the log was opened read-only")
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

// write writes a frame with the next records, or a mark. The caller holds l.order.
func (l *Log) write(body []byte) error {
	l.buffer = frame{l.next, l.safe, body}.append(l.buffer[:0])
	n, err := l.file.Write(l.buffer)
	l.size += n
	if err != nil {
		return l.fail(err)
	}
	return nil
}

// fail makes the log accept no more records, and reports the first error to Options.Log. The caller holds l.order.
func (l *Log) fail(err error) error {
	if l.failed == nil {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		l.options.Log.Error("the log takes no more records: start the program again when the disk works", "error", err)
	}
	return l.failed
}

// Err returns why the log accepts no more records, or nil.
func (l *Log) Err() error {
	l.order.Lock()
	defer l.order.Unlock()
	return l.err()
}

// err is Err for a caller that holds l.order.
func (l *Log) err() error {
	if l.closed {
		return ErrClosed
	}
	return l.failed
}

// Next returns the number of the next record: the number of records that the log has ever had.
func (l *Log) Next() uint64 {
	l.order.Lock()
	defer l.order.Unlock()
	return l.next
}

// Trim drops the first records: the records from before a time that have a lower number than number. It never drops the
// last record. A segment is removed when all of its records are dropped.
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
	if err := l.write(markBody(number)); err != nil {
		return err
	}
	if err := l.flush(); err != nil { // before a file is removed
		return err
	}
	return l.sweep()
}

// Close closes the log after the present writes. Loops over All end with ErrClosed. Close may be called again, and then
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

// end syncs all records, and writes a mark at the end of the segment that says so. Damage to the last records can then
// be told from a torn end.
func (l *Log) end() error {
	err := l.file.Sync()
	if err != nil {
		return l.fail(err)
	}
	l.safe = l.next
	if l.failed != nil { // a part of a frame may be written
		return nil
	}
	if err := l.write(markBody(l.first)); err != nil {
		return err
	}
	return l.file.Sync()
}
