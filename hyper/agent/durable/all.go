package durable

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// All returns the records from a number onward. It ends with the record that was last when it began, or with an error.
// The error wraps journal.ErrDamaged if a record is not as it was written, or ErrGap if records are missing.
func (l *Log) All(from uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		p, err := l.pass(from)
		if err != nil {
			yield(journal.Record{Number: from}, err)
			return
		}
		defer l.release()
		for i := range p.segments {
			if more, err := p.read(i, yield); err != nil {
				yield(journal.Record{Number: p.next}, fmt.Errorf("record %d: %w", p.next, err))
				return
			} else if !more {
				return
			}
		}
	}
}

// pass is one loop over records.
type pass struct {
	log       *Log
	segments  []uint64
	from, end uint64
	next      uint64 // number of the next record to read; it may be below from
}

// pass begins a loop, which release ends. No segment is removed during the loop.
func (l *Log) pass(from uint64) (*pass, error) {
	l.order.Lock()
	defer l.order.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	l.readers++
	p := &pass{log: l, from: max(from, l.first), end: l.next}
	if p.from >= p.end {
		return p, nil
	}
	i, found := slices.BinarySearch(l.segments, p.from)
	if !found {
		i = max(i, 1) - 1 // the segment before contains it
	}
	p.segments = slices.Clone(l.segments[i:])
	p.next = p.segments[0]
	return p, nil
}

// release ends a loop.
func (l *Log) release() {
	l.order.Lock()
	defer l.order.Unlock()
	if l.readers--; l.file != nil && !l.closed {
		_ = l.sweep() // after an error, the next Trim sweeps
	}
}

// read yields the records of a segment; more reports whether the loop continues.
func (p *pass) read(i int, yield func(journal.Record, error) bool) (more bool, err error) {
	end := p.end
	if i+1 < len(p.segments) {
		end = min(end, p.segments[i+1])
	}
	if p.next >= end {
		return p.next < p.end, nil
	}
	path := p.log.path(p.segments[i])
	data, err := p.log.options.disk.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("%w: %w", ErrGap, err)
	} else if err != nil {
		return false, err
	}
	s, err := readSegment(data, p.segments[i])
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	for f, ok := s.frame(); ok && p.next < end; f, ok = s.frame() {
		for number, value := range f.records() {
			if p.next = number + 1; number < p.from {
				continue
			}
			r, err := p.record(number, value)
			if !yield(r, err) || err != nil || p.next == p.end {
				return false, nil
			}
		}
	}
	switch {
	case p.next >= end:
		return true, nil
	case s.left() > 0:
		return false, fmt.Errorf("%w: %s cannot be read from byte %d on: restore the folder from a backup", journal.ErrDamaged,
			path, s.at)
	}
	return false, fmt.Errorf("%w: %d to %d", ErrGap, p.next, end-1)
}

// record decodes the record with a number.
func (p *pass) record(number uint64, value []byte) (r journal.Record, err error) {
	p.log.order.Lock()
	closed := p.log.closed
	p.log.order.Unlock()
	if closed {
		err = ErrClosed
	} else if r, err = journal.Decode(value); err != nil {
		err = fmt.Errorf("record %d: %w", number, err)
	}
	r.Number = number
	return r, err
}
