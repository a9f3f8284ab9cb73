package durable

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// All returns the records from a number on. It ends with the last record that was there when it began, or with an
// error: one that wraps journal.ErrDamaged where a record is not what was written, or ErrGap where records are missing.
func (l *Log) All(from uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		i, err := l.iterator(from)
		if err != nil {
			yield(journal.Record{Number: from}, err)
			return
		}
		defer l.release(i)
		next := uint64(0)
		for move := i.First; ; move = i.Next {
			r, ok, err := l.read(i, move)
			if !ok && err == nil {
				return
			}
			if err == nil && next > 0 && r.Number != next {
				err = fmt.Errorf("record %d: %w: %d to %d", r.Number, ErrGap, next, r.Number-1)
			}
			next = r.Number + 1
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// iterator is one over the records from a number on, which Close closes if release has not.
func (l *Log) iterator(from uint64) (*pebble.Iterator, error) {
	l.moving.Lock()
	defer l.moving.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	i, err := l.db.NewIter(&pebble.IterOptions{LowerBound: key(from), UpperBound: []byte{'s'}})
	if err == nil {
		l.open[i] = true
	}
	return i, err
}

// read moves an iterator and reads the record there; ok is false where there is none.
func (l *Log) read(i *pebble.Iterator, move func() bool) (r journal.Record, ok bool, err error) {
	l.moving.Lock()
	defer l.moving.Unlock()
	if l.closed {
		return r, false, ErrClosed
	}
	if !move() {
		return r, false, i.Error()
	}
	number := binary.BigEndian.Uint64(i.Key()[1:])
	if r, err = journal.Decode(i.Value()); err != nil {
		err = fmt.Errorf("record %d: %w", number, err)
	}
	r.Number = number
	return r, true, err
}

// release closes an iterator.
func (l *Log) release(i *pebble.Iterator) {
	l.moving.Lock()
	defer l.moving.Unlock()
	if l.open[i] {
		delete(l.open, i)
		_ = i.Close() // its error was read's
	}
}
