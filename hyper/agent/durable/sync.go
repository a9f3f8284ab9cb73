package durable

import (
	"os"
	"time"
)

// Sync returns when all records are on the disk, whatever Options.Sync says.
func (l *Log) Sync() error {
	l.order.Lock()
	end, closed := l.next, l.closed
	l.order.Unlock()
	if closed {
		return ErrClosed
	}
	return l.wait(end)
}

// wait returns when the records before end are on the disk. Those who wait at the same time share a sync: one of them
// syncs what all have written.
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
			if err := l.share(); err != nil {
				return err
			}
		}
	}
	return nil
}

// share makes safe what is written until a sync begins, after Options.Delay. The caller holds l.order, which share lets
// go meanwhile, and nobody syncs.
func (l *Log) share() error {
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
	return l.settled(to, err)
}

// flush makes safe what is written. The caller holds l.order.
func (l *Log) flush() error { return l.settled(l.next, l.file.Sync()) }

// settled notes what a sync has made safe. Where it failed the program ends: what is on the disk is then not known, and
// a second sync may wrongly say that all is well. The caller holds l.order.
func (l *Log) settled(to uint64, err error) error {
	if err == nil {
		l.safe = max(l.safe, to)
		return nil
	}
	err = l.fail(err)
	if l.options.exit != nil {
		l.options.exit(err.Error())
	}
	l.options.Log.Error("the disk failed to make the log safe, and the program ends: start it again when the disk is well",
		"error", err)
	os.Exit(1)
	return err
}
