// Package compiled keeps programs that XLA compiled in a folder, so that other processes need not compile them again.
//
// The files contain native code. Therefore the folder must belong to the user and be closed to others, files are
// written completely or not at all, and a file is used only if it has the right owner, the right key and a correct
// checksum.
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

// Cache is a folder of compiled programs, which many processes may use at the same time. Its methods are safe for
// concurrent use.
type Cache struct {
	Dir   string
	Limit int64         // limit in bytes; above it, the programs that were not used for the longest time are removed
	Wait  time.Duration // time that Lock waits for another process that compiles the same program

	replaced atomic.Int64
}

// Open returns the cache in a folder, and makes the folder if it does not exist. The error says why the folder cannot
// be trusted or written.
func Open(dir string, limit int64, wait time.Duration) (*Cache, error) {
	if err := MakeFolder(dir); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	if !owned(info) {
		return nil, fmt.Errorf("%s belongs to another user", dir)
	}
	// An older version may have made the folder: close it to other users.
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

// MakeFolder makes a folder that only this user can use, unless the folder exists. Parent folders that it makes are
// open to others.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Get returns the program with a key. It ignores a file that is damaged, has another key, or could have been written by
// another user; Put replaces such a file.
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
	_ = os.Chtimes(c.path(key), now, now) // records the time of the last use, for evict
	return program, true
}

// Replaced returns the number of files that Get found but did not trust.
func (c *Cache) Replaced() int64 { return c.replaced.Load() }

// Put stores a program atomically, and removes old programs if the cache is too large.
func (c *Cache) Put(key Key, program []byte) error {
	if err := WriteFile(c.path(key), encoded(key, program)); err != nil {
		return err
	}
	c.evict()
	return nil
}

// WriteFile writes a file that only this user can read, completely or not at all.
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

// Lock waits until no other process or goroutine holds the lock of the key, but at most c.Wait. waited reports whether
// it had to wait. The lock of a process that dies becomes free.
func (c *Cache) Lock(key Key) (unlock func(), waited bool) {
	l := flock.New(c.path(key)+lockSuffix, flock.SetPermissions(0o600))
	locked, err := l.TryLock()
	if !locked && err == nil {
		waited = true
		ctx, cancel := context.WithTimeout(context.Background(), c.Wait)
		defer cancel()
		locked, _ = l.TryLockContext(ctx, 10*time.Millisecond)
	}
	// Without the lock the program is only compiled twice. Therefore the lock file may be removed, although a process
	// that opens it just before may then hold the lock together with a later process.
	return func() {
		if locked {
			_ = os.Remove(l.Path())
		}
		_ = l.Close()
	}, waited
}

// Remove removes a program that turned out to be useless.
func (c *Cache) Remove(key Key) {
	c.replaced.Add(1)
	_ = os.Remove(c.path(key))
}

func (c *Cache) path(key Key) string { return filepath.Join(c.Dir, key.String()) }
