package durable

import (
	"os"
	"time"
)

// Sync returns when all records are on the disk, independent of Options.Sync.
func (l *Log) Sync() error {
	l.order.Lock()
	end, closed := l.next, l.closed
	l.order.Unlock()
	if closed {
		return ErrClosed
	}
	return l.wait(end)
}

// wait returns when the records before end are on the disk. Goroutines that wait at the same time share a sync: one of
// them syncs what all have written.
func (l *Log) wait(end uint64) error {
	l.order.Lock()
	defer l.order.Unlock()
	for l.safe < end {
		switch {
		case l.syncing:
			l.synced.Wait()
		case l.closed:
			return l.failed // Close could not make them safe
		default:
			if err := l.syncShared(); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncShared waits for Options.Delay, and then syncs all records written until then. The caller holds l.order, and no
// other goroutine syncs. syncShared releases l.order during the delay and the sync.
func (l *Log) syncShared() error {
	l.syncing = true
	if l.options.Delay > 0 {
		l.order.Unlock()
		time.Sleep(l.options.Delay)
		l.order.Lock()
	}
	to, f := l.next, l.file
	l.order.Unlock()
	err := f.Sync()
	l.order.Lock()
	l.syncing = false
	l.synced.Broadcast()
	return l.noteSync(to, err)
}

// flush syncs what is written. The caller holds l.order.
func (l *Log) flush() error { return l.noteSync(l.next, l.file.Sync()) }

// noteSync notes the result of a sync. If the sync failed, the program ends, because it is unknown what is on the disk,
// and a second sync may wrongly succeed. The caller holds l.order.
func (l *Log) noteSync(to uint64, err error) error {
	if err == nil {
		l.safe = max(l.safe, to)
		return nil
	}
	err = l.fail(err)
	if l.options.Exit != nil {
		l.options.Exit(err)
	}
	l.options.Log.Error("the disk failed to sync the log, and the program ends: start it again when the disk works",
		"error", err)
	os.Exit(1)
	return err
}
