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
