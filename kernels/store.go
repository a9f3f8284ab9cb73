package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// store is the folder that setup fills: backend.Home. Everything in it that takes long to make lies in a folder whose
// name ends in a hash of its pins, so a change of pins makes a new folder and an unchanged one is found at once.
type store string

// openStore returns the store, as an absolute path. It may not exist yet. If it does, nobody but its user and the
// system can have put anything there: programs of it are run.
func openStore() (store, error) {
	home := backend.Home()
	if home == "" {
		return "", errors.New("there is no home folder to install anything in: set HOME, or HYPERMODELS_HOME to a folder of your own")
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", err
	}
	return store(home), store(home).private()
}

// private reports a store that another user owns or can write. One of the system's that all can read, as in an image,
// is fine. The user's own is closed to all others.
func (s store) private() error {
	info, err := os.Stat(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const remedy = "set HYPERMODELS_HOME to a folder of your own"
	owner, known := ownerOf(info)
	switch mode := info.Mode(); {
	case !mode.IsDir():
		return fmt.Errorf("%s is not a folder: %s", s, remedy)
	case known && owner != os.Geteuid() && owner != 0:
		return fmt.Errorf("%s belongs to another user, who could change the programs in it: %s", s, remedy)
	case mode.Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by other users, who could change the programs in it: remove it, or %s", s,
			remedy)
	case known && owner != 0 && mode.Perm()&0o055 != 0:
		return os.Chmod(string(s), 0o700)
	}
	return nil
}

func (s store) path(parts ...string) string {
	return filepath.Join(append([]string{string(s)}, parts...)...)
}

// item is a folder of the store.
type item struct {
	name string // what it is, the first part of the folder's name
	pins string // everything that its content depends on
	// build fills an empty folder. When it returns, the folder is renamed from dir to final.
	build func(ctx context.Context, dir, final string) error
}

// dir is the item's folder, there or not.
func (s store) dir(it item) string {
	sum := sha256.Sum256([]byte(it.pins))
	return s.path(it.name + "-" + hex.EncodeToString(sum[:])[:12])
}

// has tells whether the item is there. A folder under its final name is whole.
func (s store) has(it item) bool {
	info, err := os.Stat(s.dir(it))
	return err == nil && info.IsDir()
}

// partial is in the names of folders being built. Nothing else ever uses them, so that an interrupted build is not
// mistaken for a whole one; the next setup removes them.
const partial = ".partial-"

// ensure makes the item if it is not there. The store must be locked.
func (s store) ensure(ctx context.Context, it item) error {
	if s.has(it) {
		return nil
	}
	final := s.dir(it)
	dir, err := os.MkdirTemp(string(s), filepath.Base(final)+partial)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp's 0700 would shut out other users of a shared store.
		return err
	}
	switch err := it.build(ctx, dir, final); {
	case errors.Is(err, errLater):
		return nil
	case err != nil:
		return err
	}
	return os.Rename(dir, final)
}

// errLater is that of a build which failed and was told of, and which the next setup tries again.
var errLater = errors.New("not done yet")

// lock waits for other setups to end, creates the store, removes what an interrupted setup left, and returns the
// function that unlocks. The lock dies with the process that holds it.
func (s store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the project's folder: %w; set HYPERMODELS_HOME to a folder that can be written", err)
	}
	l := flock.New(s.path(lockName))
	locked, err := l.TryLock()
	if err == nil && !locked {
		say("waiting for another setup in %s to end", s)
		_, err = l.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", s, err)
	}
	if err := s.sweep(); err != nil {
		l.Unlock()
		return nil, err
	}
	return func() { l.Unlock() }, nil
}

const lockName = ".setup.lock"

// sweep removes the folders of interrupted builds.
func (s store) sweep() error {
	entries, err := os.ReadDir(string(s))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), partial) {
			if err := os.RemoveAll(s.path(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// link makes a symbolic link, replacing an older one in one step. The link is relative, so that the store can be moved
// or mounted elsewhere.
func link(target, at string) error {
	rel, err := filepath.Rel(filepath.Dir(at), target)
	if err != nil {
		return err
	}
	if old, err := os.Readlink(at); err == nil && old == rel {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s%s%d", at, partial, os.Getpid())
	if err := os.Symlink(rel, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, at)
}
