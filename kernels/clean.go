package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func cleanCommand() *cobra.Command {
	var old bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what setup installed, and what XLA compiled",
		Long: "Removes what setup installed, of every version, and what XLA compiled. With --old, it removes what this version\n" +
			"does not use: the folders of earlier pins. A checkout that still has those pins makes them again at its next setup.",
		Args: bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := openStore()
			if err != nil {
				return err
			}
			if old {
				used, err := current(cmd.Context(), s)
				if err != nil {
					return err
				}
				return s.clean(cmd.Context(), hashed, used)
			}
			if err := cleanCompiled(); err != nil {
				return err
			}
			return s.clean(cmd.Context(), made, nil)
		},
	}
	cmd.Flags().BoolVar(&old, "old", false, "only what this version does not use")
	return cmd
}

// current are the folders that this version uses, there or not.
func current(ctx context.Context, s store) (used []string, err error) {
	k, items, plugins, err := wanted(ctx, s, true)
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		items = append(items, p.item)
	}
	for name, requirements := range testRequirements {
		it, err := k.testItem(name, requirements, "")
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	for _, it := range items {
		used = append(used, s.dir(it))
	}
	return used, nil
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

// made are the patterns of what setup makes in the store, of this version and of earlier ones; hashed are those of
// folders with a hash of pins. Anything else there is somebody else's and stays.
var (
	hashed = []string{"venv-*", "tools-*", "xla-*", "cuda-*", "warm-*", "launcher-*", "command-*", "test-*",
		"browser-*"}
	made = append(slices.Clone(hashed), "jupyter", "pjrt/pjrt_c_api_*_plugin.so", "nvidia", "plugins")
)

// clean removes what setup made, by patterns, and says what, then the folders that this leaves empty. The lock's file
// stays: another setup may be waiting for it.
func (s store) clean(ctx context.Context, patterns, used []string) error {
	if _, err := os.Stat(string(s)); errors.Is(err, fs.ErrNotExist) {
		say("nothing to remove: there is no %s", s)
		return nil
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(string(s)), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			path := s.path(filepath.FromSlash(name))
			if slices.Contains(used, path) {
				continue
			}
			if err := remove(path); err != nil {
				return err
			}
		}
	}
	os.Remove(s.path("pjrt")) // Fails, as it should, when something else is in there.
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
