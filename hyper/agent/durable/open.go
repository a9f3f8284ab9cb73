package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Open opens the log in a folder, or creates it. A record that was being written when a process or machine stopped is
// in the log completely or not at all. The error wraps ErrLocked if another process writes the log. It wraps
// journal.ErrDamaged if records of the last file that had reached the disk cannot be read, and os.ErrNotExist if
// ReadOnly is set and there is no log. [Log.All] reports damage in the other files.
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

// open finds the end of the log, and begins a segment there. It changes no existing data.
func (l *Log) open() (err error) {
	disk := l.options.disk
	if !l.options.ReadOnly {
		if err = disk.MkdirAll(l.dir); err != nil {
			return err
		}
		if l.lock, err = disk.Lock(filepath.Join(l.dir, "LOCK")); errors.Is(err, ErrLocked) {
			return fmt.Errorf("%w: stop it, or give another folder", err)
		} else if err != nil {
			return err
		}
	}
	names, err := disk.List(l.dir)
	if err != nil {
		return err
	}
	l.segments = segmentsOf(names)
	if err := l.findEnd(); err != nil || l.options.ReadOnly {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	return errors.Join(disk.Sync(filepath.Dir(l.dir)), l.sweep())
}

// findEnd reads the last segment, sets the numbers of the first and the next record, and syncs the segment.
func (l *Log) findEnd() error {
	if len(l.segments) == 0 {
		if l.options.ReadOnly {
			return fmt.Errorf("there is no log in this folder: %w", os.ErrNotExist)
		}
		return nil
	}
	l.first = l.segments[0]
	last := l.segments[len(l.segments)-1]
	path := l.path(last)
	data, err := l.options.disk.Read(path)
	if err != nil {
		return err
	}
	s, err := readSegment(data, last)
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
		l.next = max(l.next, number) // All returns the error of a record that cannot be read
		l.safe = l.next
		return nil
	case damaged:
		return fmt.Errorf("record %d: %w: %s cannot be read from byte %d on, although it had been safe on the disk: "+
			"restore the folder from a backup", s.next, journal.ErrDamaged, path, s.at)
	case s.left() > 0:
		l.options.Log.Warn("the end of the log cannot be read, and is dropped: it was torn when the program or the machine "+
			"stopped, before it was acknowledged, or it was damaged since", "bytes", s.left(), "file", path)
	}
	return l.options.disk.Sync(path)
}

// path returns the path of the segment with a number.
func (l *Log) path(number uint64) string { return filepath.Join(l.dir, fileOf(number)) }

// begin begins a segment at the next record. All earlier records must be safe.
func (l *Log) begin() error {
	disk, path := l.options.disk, filepath.Join(l.dir, unfinished)
	f, err := disk.Create(path)
	if err != nil {
		return err
	}
	l.buffer = frame{l.next, l.next, markBody(l.first)}.append(append(l.buffer[:0], magic...))
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
	if n := len(l.segments); n == 0 || l.segments[n-1] != l.next { // a segment without records is replaced
		l.segments = append(l.segments, l.next)
	}
	return nil
}

// sweep removes the segments whose records Trim has dropped, unless a loop reads. The caller holds l.order.
func (l *Log) sweep() error {
	for l.readers == 0 && len(l.segments) > 1 && l.segments[1] <= l.first {
		if err := l.options.disk.Remove(l.path(l.segments[0])); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		l.segments = l.segments[1:]
	}
	return nil
}
