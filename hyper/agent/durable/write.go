package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// together is the number of records that Write appends at once.
const together = 1000

// Write writes records to a new log in a folder that does not exist yet. The records keep their numbers; they may be
// all records of another log, or a part. When Write returns, the records are on the disk. The error is an error of
// reading the records, or says that numbers are missing between them, or that the folder exists. After an error the
// folder is as it was before.
func Write(dir string, records iter.Seq2[journal.Record, error]) (err error) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s exists already: name a folder that does not exist", dir), err)
	}
	var l *Log
	var some []journal.Record
	add := func() error {
		if l == nil {
			o := Options{Sync: None}
			if len(some) > 0 {
				o.from = some[0].Number
			}
			if l, err = Open(dir, o); err != nil {
				return err
			}
		}
		_, _, err := l.Append(some...)
		some = some[:0]
		return err
	}
	defer func() {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	next := uint64(0)
	for r, err := range records {
		if err == nil && next > 0 && r.Number != next {
			err = fmt.Errorf("%w: %d to %d", ErrGap, next, r.Number-1)
		}
		if some, next = append(some, r), r.Number+1; err == nil && len(some) == together {
			err = add()
		}
		if err != nil {
			return err
		}
	}
	return add()
}
