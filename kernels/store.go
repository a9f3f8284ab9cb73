package main

import (
	"context"
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

// store is the folder that setup fills: backend.Home. Each part that takes long to make has a folder whose name ends in
// a hash of its pins. Changed pins give a new folder, and an existing folder is found at once.
type store string

// openStore returns the store as an absolute path. The store need not exist. If it exists, only its user and the system
// can write to it, because programs in it are run.
func openStore() (store, error) {
	home := backend.Home()
	if home == "" {
		return "", errors.New("there is no home folder for the installation: set HOME, or set HYPERMODELS_HOME to a folder")
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", err
	}
	return store(home), store(home).private()
}

// private returns an error if another user owns the store or can write to it. A store of the system that all users can
// read, as in an image, is allowed. It makes the user's own store inaccessible to all others.
func (s store) private() error {
	info, err := os.Stat(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const remedy = "set HYPERMODELS_HOME to a folder that you own"
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
	name string // first part of the folder's name
	pins string // all that the folder's content depends on
	// build fills the empty folder dir, which is renamed to final afterwards.
	build func(ctx context.Context, dir, final string) error
}

// dir returns the item's folder, which need not exist.
func (s store) dir(it item) string {
	return s.path(it.name + "-" + digest([]byte(it.pins))[:12])
}

// has reports whether the item exists. A folder with its final name is complete.
func (s store) has(it item) bool {
	info, err := os.Stat(s.dir(it))
	return err == nil && info.IsDir()
}

// partial is a part of the names of folders that are being built. No other folders have it, so that an interrupted
// build is not taken for a complete folder. The next setup removes them.
const partial = ".partial-"

// ensure makes the item if it does not exist. The store must be locked.
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
	if err := os.Chmod(dir, 0o755); err != nil { // With MkdirTemp's 0700 other users could not read a shared store.
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

// errLater is the error of a build that has failed, has reported its error, and is tried again by the next setup.
var errLater = errors.New("not done yet")

// lock waits for other setups to end, creates the store, and removes the remains of an interrupted setup. It returns
// the function that unlocks. The lock ends with the process that holds it.
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

// link makes a symbolic link, and replaces an older one atomically. The link is relative, so that the store can be
// moved or mounted elsewhere.
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
