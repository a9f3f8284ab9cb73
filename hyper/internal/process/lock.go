package process

import (
	"errors"

	"github.com/gofrs/flock"
)

// ErrLocked means that another process, or another part of this one, holds a lock.
var ErrLocked = errors.New("another process")

// Lock holds a lock until unlock is called or this process ends. The file of the lock stays, because two processes
// could hold it if a process removed it.
func Lock(path string) (unlock func(), err error) {
	l := flock.New(path)
	alone, err := l.TryLock()
	if err == nil && !alone {
		err = ErrLocked
	}
	return func() { _ = l.Unlock() }, err
}
