package durable

import (
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// disk is what a log asks of a file system. Tests have others, whose writes fail, or which lose what was not synced.
type disk interface {
	MkdirAll(dir string) error
	List(dir string) (names []string, err error)
	Read(path string) ([]byte, error)
	Create(path string) (file, error) // an empty file, also where there was one
	Rename(from, to string) error
	Remove(path string) error
	Sync(path string) error // of a file that nobody writes, or of a folder: its names
	Lock(path string) (io.Closer, error)
}

// file is a file that grows.
type file interface {
	io.WriteCloser
	Sync() error
}

// errLocked says that another process, or another part of this one, holds a lock.
var errLocked = errors.New("another process has it, or another part of this one: its lock is held")

// machine is the disk of the machine.
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

func (machine) Sync(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	how := os.O_RDWR
	if info.IsDir() {
		if runtime.GOOS == "windows" {
			return nil // it syncs no folders
		}
		how = os.O_RDONLY
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// locked locks a file, which stays there: two processes that lock and remove one file may hold two.
func locked(path string) (io.Closer, error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = errLocked
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
