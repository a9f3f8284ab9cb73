package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove what setup installed, and what XLA compiled",
		Args:  bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := openStore()
			if err != nil {
				return err
			}
			if err := cleanCompiled(); err != nil {
				return err
			}
			return s.clean(cmd.Context())
		},
	}
}

// cleanCompiled removes what XLA compiled, wherever HYPER_COMPILE_CACHE puts it.
func cleanCompiled() error {
	cleared, err := backend.ClearCompileCache()
	if cleared {
		say("removing the programs in %s", backend.CompileCacheDir())
	}
	if err != nil {
		return fmt.Errorf("clearing the compile cache: %w", err)
	}
	return nil
}

// made are the patterns of what setup makes in the store, of this version and of earlier ones. Anything else there is
// somebody else's and stays.
var made = []string{"venv-*", "tools-*", "xla-*", "cuda-*", "warm-*", "test-*", "browser-*", "jupyter", "pjrt/pjrt_c_api_*_plugin.so", "nvidia", "plugins"}

// clean removes what setup made and says what, then the folders that this leaves empty.
func (s store) clean(ctx context.Context) error {
	if _, err := os.Stat(string(s)); errors.Is(err, fs.ErrNotExist) {
		say("nothing to remove: there is no %s", s)
		return nil
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, pattern := range made {
		names, err := fs.Glob(os.DirFS(string(s)), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := remove(s.path(filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	os.Remove(s.path(lockName))
	os.Remove(s.path("pjrt"))
	os.Remove(string(s)) // Fails, as it should, when something else is in there.
	return nil
}

// remove removes a folder or a link of setup's. A plugin or a library folder that is not a link was put there by hand.
func remove(path string) error {
	byHand := filepath.Base(filepath.Dir(path)) == "pjrt" || filepath.Base(path) == "nvidia"
	if _, err := os.Readlink(path); err != nil && byHand {
		say("kept %s: it is no link of setup's", path)
		return nil
	}
	say("removing %s", path)
	return os.RemoveAll(path)
}
