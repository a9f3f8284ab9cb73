// Package compiled keeps what XLA compiled in a folder, so that another process need not compile it again.
//
// Native code comes out of these files. So the folder must be the user's own and closed to others, files are written
// whole or not at all, and a file is used only if it has the right owner, the right key and an intact checksum.
package compiled

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// Cache is a folder of compiled programs, which many processes may use at once. Its methods are safe for concurrent
// use.
type Cache struct {
	Dir   string
	Limit int64         // bytes; above it, the programs that were not used for the longest time are removed
	Wait  time.Duration // how long Lock waits for another process that compiles the same program

	replaced atomic.Int64
}

// Open returns the cache in a folder, which is made if need be. The error says why the folder cannot be trusted, or
// not be written.
func Open(dir string, limit int64, wait time.Duration) (*Cache, error) {
	if err := MakeFolder(dir); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	if !own(info) {
		return nil, fmt.Errorf("%s belongs to another user", dir)
	}
	// It may be older than our care: nobody else may look into it, or put files there.
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return nil, err
		}
	}
	probe, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return nil, err
	}
	return &Cache{Dir: dir, Limit: limit, Wait: wait}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// MakeFolder makes a folder for this user alone unless it is there, below folders that others may use as well.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Get returns the program with a key. A file that is damaged, that has another key in it, or that others could have
// written is no program: Put replaces it.
func (c *Cache) Get(key Key) (program []byte, ok bool) {
	program, err := read(c.path(key), key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		c.replaced.Add(1)
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(c.path(key), now, now) // the time of its last use, for evict
	return program, true
}

// Replaced counts the files that Get found and did not trust.
func (c *Cache) Replaced() int64 { return c.replaced.Load() }

// Put stores a program, atomically, and makes room for it.
func (c *Cache) Put(key Key, program []byte) error {
	if err := WriteFile(c.path(key), encoded(key, program)); err != nil {
		return err
	}
	c.evict()
	return nil
}

// WriteFile writes a file for this user alone, whole or not at all.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinished) // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Lock waits until no other process, and no other goroutine, holds the lock of the key, or until the cache's time for
// waiting is over. It says whether it had to wait. The lock of a process that dies is free.
func (c *Cache) Lock(key Key) (unlock func(), waited bool) {
	l := flock.New(c.path(key)+lockSuffix, flock.SetPermissions(0o600))
	locked, err := l.TryLock()
	if !locked && err == nil {
		waited = true
		ctx, cancel := context.WithTimeout(context.Background(), c.Wait)
		defer cancel()
		locked, _ = l.TryLockContext(ctx, 10*time.Millisecond)
	}
	// Without the lock the program is compiled twice, and nothing worse. So the file need not stay, though a process
	// that opens it just before it goes will hold the lock beside one that comes later.
	return func() {
		if locked {
			_ = os.Remove(l.Path())
		}
		_ = l.Close()
	}, waited
}

// Remove takes a program out that turned out to be of no use.
func (c *Cache) Remove(key Key) {
	c.replaced.Add(1)
	_ = os.Remove(c.path(key))
}

func (c *Cache) path(key Key) string { return filepath.Join(c.Dir, key.String()) }
