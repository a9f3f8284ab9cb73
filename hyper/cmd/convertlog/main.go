// Convertlog converts the log of hyper serve that an earlier version wrote, in Pebble, to the log that package durable
// keeps:
//
//	go run ./hyper/cmd/convertlog hyper-agent/log
//
// The records keep their numbers, so that the agent's file goes on from them. The log that there was remains beside the
// new one, as FOLDER.old. It is a program of its own, so that the command compiles no Pebble.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./hyper/cmd/convertlog FOLDER, with the folder of a log, as hyper-agent/log")
		os.Exit(2)
	}
	n, err := convert(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "convertlog:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d records; the log before is in %s\n", os.Args[1], n, before(os.Args[1]))
}

// before is where the log of a folder remains.
func before(dir string) string { return filepath.Clean(dir) + ".old" }

// convert makes a new log of the one in a folder, compares the two, and puts the new one in its place. It returns the
// number of records. After an error the folder is as it was; where a second rename failed, the error says so.
func convert(dir string) (n int, err error) {
	old, made := before(dir), filepath.Clean(dir)+".converting"
	if found, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*")); err != nil || len(found) == 0 {
		return 0, errors.Join(fmt.Errorf("%s has no log of a version before: name the folder of one, as hyper-agent/log",
			dir), err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		return 0, errors.Join(fmt.Errorf("%s is there already: move it away", old), err)
	}
	db, err := pebble.Open(dir, &pebble.Options{ReadOnly: true, Logger: quiet{}})
	if err != nil {
		return 0, fmt.Errorf("opening %s, whose server must have ended: %w", dir, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := os.RemoveAll(made); err != nil { // of a conversion that was interrupted
		return 0, err
	}
	if err := durable.Write(made, records(db)); err != nil {
		return 0, fmt.Errorf("converting %s: %w", dir, err)
	}
	if n, err = compared(made, records(db)); err != nil {
		return 0, fmt.Errorf("comparing %s and %s: %w", made, dir, err)
	}
	if err := os.Rename(dir, old); err != nil {
		return 0, err
	}
	if err := os.Rename(made, dir); err != nil {
		return 0, errors.Join(err, os.Rename(old, dir))
	}
	return n, nil
}

// records reads the records of a database. A key of it is the letter r and the record's number, big-endian.
func records(db *pebble.DB) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		i, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{'r'}, UpperBound: []byte{'s'}})
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		for i.First(); i.Valid() && err == nil; i.Next() {
			if len(i.Key()) != 9 {
				err = fmt.Errorf("key %q: want 9 bytes", i.Key())
				break
			}
			number := binary.BigEndian.Uint64(i.Key()[1:])
			var r journal.Record
			if r, err = journal.Decode(i.Value()); err != nil {
				err = fmt.Errorf("record %d: %w", number, err)
				break
			}
			if r.Number = number; !yield(r, nil) {
				_ = i.Close()
				return
			}
		}
		if err = errors.Join(err, i.Close()); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

// compared returns the number of records of a log, which must be the same as others.
func compared(dir string, others iter.Seq2[journal.Record, error]) (n int, err error) {
	l, err := durable.Open(dir, durable.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	next, stop := iter.Pull2(l.All(0))
	defer stop()
	for r, err := range others {
		if err != nil {
			return n, err
		}
		same, err, ok := next()
		if err != nil || !ok || !reflect.DeepEqual(r, same) {
			return n, errors.Join(fmt.Errorf("record %d differs", r.Number), err)
		}
		n++
	}
	if r, _, ok := next(); ok {
		return n, fmt.Errorf("record %d is in the first alone", r.Number)
	}
	return n, nil
}

// quiet passes on Pebble's errors alone.
type quiet struct{}

func (quiet) Infof(string, ...any) {}

func (quiet) Errorf(format string, args ...any) { slog.Error(fmt.Sprintf(format, args...)) }

func (quiet) Fatalf(format string, args ...any) {
	slog.Error(fmt.Sprintf(format, args...))
	os.Exit(1)
}
