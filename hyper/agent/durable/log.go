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
