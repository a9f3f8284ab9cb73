package durable

import (
	"errors"
	"io"
	"os"

	"github.com/gofrs/flock"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// disk is the interface of a log to a file system. Tests implement it with disks whose writes fail, or which lose
// writes that were not synced.
type disk interface {
	MkdirAll(dir string) error
	List(dir string) (names []string, err error)
	Read(path string) ([]byte, error)
	Create(path string) (file, error) // creates an empty file, or truncates an existing one
	Rename(from, to string) error
	Remove(path string) error
	Sync(path string) error // syncs a file that nobody writes, or the names in a folder
	Lock(path string) (io.Closer, error)
}

// file is a file that is written at its end.
type file interface {
	io.WriteCloser
	Sync() error
}

// ErrLocked means that another process, or another part of this one, writes the log.
var ErrLocked = errors.New("another process, or another part of this one, uses this folder and holds its lock")

// machine is the file system of the operating system.
type machine struct{}

func (machine) MkdirAll(dir string) error           { return os.MkdirAll(dir, 0o700) }
func (machine) Read(path string) ([]byte, error)    { return os.ReadFile(path) }
func (machine) Rename(from, to string) error        { return os.Rename(from, to) }
func (machine) Remove(path string) error            { return os.Remove(path) }
func (machine) Lock(path string) (io.Closer, error) { return locked(path) }

func (machine) List(dir string) (names []string, err error) {
	all, err := os.ReadDir(dir)
	for _, one := range all {
		names = append(names, one.Name())
	}
	return names, err
}

func (machine) Create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (machine) Sync(path string) error { return saved.Sync(path) }

// locked locks a file. The file is never removed: if processes removed the file that they lock, two could hold the
// lock.
func locked(path string) (io.Closer, error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
