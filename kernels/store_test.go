package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func testItem(pins string, build func(dir string) error) item {
	return item{name: "thing", pins: pins, build: func(_ context.Context, dir, _ string) error { return build(dir) }}
}

func writeWhole(dir string) error { return os.WriteFile(filepath.Join(dir, "whole"), nil, 0o644) }

func lockStore(t *testing.T, s store) {
	t.Helper()
	unlock := must.M1(s.lock(t.Context()))
	t.Cleanup(unlock)
}

func TestEnsureBuildsOnceForSetOfPins(t *testing.T) {
	s := store(t.TempDir())
	lockStore(t, s)
	built := 0
	build := func(dir string) error { built++; return writeWhole(dir) }
	for _, pins := range []string{"a==1", "a==1", "a==2", "a==1"} {
		it := testItem(pins, build)
		must.M(s.ensure(t.Context(), it))
		if _, err := os.Stat(filepath.Join(s.dir(it), "whole")); err != nil {
			t.Errorf("pins %q: got error %v, want a complete folder", pins, err)
		}
	}
	if built != 2 {
		t.Errorf("built %d times for two sets of pins, want 2", built)
	}
}

func TestFailedBuildIsNotTakenForWhole(t *testing.T) {
	s := store(t.TempDir())
	lockStore(t, s)
	broken := errors.New("no network")
	it := testItem("a==1", func(dir string) error { return errors.Join(writeWhole(dir), broken) })
	if err := s.ensure(t.Context(), it); !errors.Is(err, broken) {
		t.Fatalf("ensure: %v, want %v", err, broken)
	}
	if s.has(it) {
		t.Error("the folder of a failed build exists")
	}
	later := testItem("a==1", func(string) error { return fmt.Errorf("no room on the disk: %w", errLater) })
	if err := s.ensure(t.Context(), later); err != nil || s.has(later) {
		t.Errorf("build that was put off: got error %v, folder exists: %v", err, s.has(later))
	}
	if err := s.ensure(t.Context(), testItem("a==1", writeWhole)); err != nil || !s.has(it) {
		t.Errorf("build after a failed one: got error %v, want none", err)
	}
}

func TestLockRemovesWhatAKilledSetupLeft(t *testing.T) {
	s := store(t.TempDir())
	half := s.path("venv-0123456789ab" + partial + "42")
	must.M(os.MkdirAll(filepath.Join(half, "bin"), 0o755))
	lockStore(t, s)
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s still exists (error %v)", half, err)
	}
}

func TestConcurrentSetupsBuildOneAfterTheOther(t *testing.T) {
	s := store(t.TempDir())
	var inside, built atomic.Int32
	it := testItem("a==1", func(dir string) error {
		if inside.Add(1) != 1 {
			t.Error("two builds ran at the same time")
		}
		time.Sleep(20 * time.Millisecond)
		inside.Add(-1)
		built.Add(1)
		return writeWhole(dir)
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			unlock, err := s.lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if err := s.ensure(t.Context(), it); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := built.Load(); n != 1 {
		t.Errorf("built %d times, want once", n)
	}
}

func TestLinkIsRelativeAndReplaced(t *testing.T) {
	s := store(t.TempDir())
	for _, folder := range []string{"xla-1", "xla-2"} {
		target := s.path(folder, "plugin.so")
		must.M(os.MkdirAll(s.path(folder), 0o755))
		must.M(os.WriteFile(target, []byte(folder), 0o644))
		must.M(link(target, s.path("pjrt", "plugin.so")))
		if got, err := os.ReadFile(s.path("pjrt", "plugin.so")); err != nil || string(got) != folder {
			t.Errorf("through the link: %q, %v; want %q", got, err, folder)
		}
	}
	if to, _ := os.Readlink(s.path("pjrt", "plugin.so")); filepath.IsAbs(to) {
		t.Errorf("the link is absolute, want a relative one: %s", to)
	}
}

func TestCleanRemovesOnlyWhatSetupMade(t *testing.T) {
	s := store(t.TempDir())
	for _, name := range []string{"venv-1/bin", "tools-1", "jupyter/config", "results", "pjrt", "nvidia"} {
		must.M(os.MkdirAll(s.path(filepath.FromSlash(name)), 0o755))
	}
	byHand := s.path("pjrt", "pjrt_c_api_cuda_plugin.so")
	must.M(os.WriteFile(byHand, nil, 0o644))
	must.M(link(s.path("xla-1", "x.so"), s.path("pjrt", "pjrt_c_api_cpu_plugin.so")))
	must.M(s.clean(t.Context(), hashed, []string{s.path("venv-1")}))
	for name, there := range map[string]bool{"venv-1": true, "tools-1": false, "jupyter": true} {
		if _, err := os.Stat(s.path(name)); (err == nil) != there {
			t.Errorf("after clean --old: %s: got error %v", name, err)
		}
	}
	must.M(s.clean(t.Context(), made, nil))
	var left []string
	entries, _ := os.ReadDir(string(s))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != lockName+" nvidia pjrt results" {
		t.Errorf("files left: got %s", got)
	}
	if _, err := os.Stat(byHand); err != nil {
		t.Error("a plugin that setup did not make was removed")
	}
}

// A store to which other users could have written is refused, with advice. The user's own store is made inaccessible to
// others.
func TestStoreIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	t.Setenv("HYPERMODELS_HOME", dir)
	s := must.M1(openStore())
	lockStore(t, s)
	mode := func() os.FileMode {
		info := must.M1(os.Stat(dir))
		return info.Mode().Perm()
	}
	if mode() != 0o700 {
		t.Errorf("new store: got mode %o, want 0700", mode())
	}
	must.M(os.Chmod(dir, 0o775))
	if _, err := openStore(); err == nil || !strings.Contains(err.Error(), "HYPERMODELS_HOME") {
		t.Errorf("store that a group can write: got error %v, want one about HYPERMODELS_HOME", err)
	}
	must.M(os.Chmod(dir, 0o755))
	if _, err := openStore(); err != nil {
		t.Errorf("store that all can read: got error %v, want none", err)
	}
	if os.Geteuid() != 0 {
		if mode() != 0o700 {
			t.Errorf("the user's own store still has mode %o", mode())
		}
		return
	}
	must.M(os.Chown(dir, 12345, -1))
	if _, err := openStore(); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("store of another user: got error %v, want one that says so", err)
	}
}

// Without a home folder there is no store. A folder with a well-known name among the temporary files would be unsafe.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "HYPERMODELS_HOME"} {
		t.Setenv(name, "")
	}
	if s, err := openStore(); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without HOME: got store %q, error %v, want one about HOME", s, err)
	}
	if dir := backend.CompileCacheDir(); dir != "" {
		t.Errorf("without HOME: got the compile cache %s, want none", dir)
	}
	for _, dir := range backend.PluginDirs() {
		if !filepath.IsAbs(dir) {
			t.Errorf("plugins are searched for in %s, want an absolute path", dir)
		}
	}
}
