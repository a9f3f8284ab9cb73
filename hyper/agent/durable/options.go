package durable

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Sync defines when a record is on the disk.
type Sync int

const (
	// Each syncs every record before Append's wait returns; calls that wait at the same time share a sync.
	Each Sync = iota + 1
	// Grouped is Each with a delay: a sync waits for Options.Delay, so that more records share it.
	Grouped
	// None does not wait. A loss of power loses the records that the operating system has not written to the disk
	// yet; the end of the program, even by kill -9, loses none.
	None
)

func (s Sync) String() string { return enum.Word(s, "each", "grouped", "none") }

// Options configure a log. Zero values mean defaults.
type Options struct {
	Sync  Sync          // 0 means Each
	Delay time.Duration // delay of a sync with Grouped; 0 means 2 ms
	// ReadOnly opens a log for reading, while another process may write it. The log then has the records that it had
	// when it was opened.
	ReadOnly bool
	Log      *slog.Logger // nil means slog.Default()
	// Exit is called, with the error, if the disk fails to sync a record: it is then unknown what is on the disk. Exit
	// must not return. nil logs the error and ends the program with status 1.
	Exit func(error)

	disk    disk // nil means the file system
	segment int  // size in bytes at which a segment is full; 0 means 16 MiB
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
