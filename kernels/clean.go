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
		Short: "Remove the files that setup installed, and the programs that XLA compiled",
		Long: "Removes the files that setup installed, of every version, and the programs that XLA compiled. With --old, it only\n" +
			"removes the folders that this version does not use, which belong to earlier pins. A checkout with those pins makes\n" +
			"them again at its next setup.",
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
	cmd.Flags().BoolVar(&old, "old", false, "only remove folders that this version does not use")
	return cmd
}

// current returns the folders that this version uses. They need not exist.
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

// cleanCompiled removes the programs that XLA compiled, also if HYPER_COMPILE_CACHE selects another folder.
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

// made lists patterns of the files that setup makes in the store, in this and in earlier versions. hashed lists the
// patterns of folders whose name has a hash of pins. All other files belong to others and stay.
var (
	hashed = []string{"venv-*", "tools-*", "xla-*", "cuda-*", "warm-*", "launcher-*", "command-*", "test-*",
		"browser-*"}
	made = append(slices.Clone(hashed), "jupyter", "pjrt/pjrt_c_api_*_plugin.so", "nvidia", "plugins")
)

// clean removes the files that match the patterns, except used ones, and prints their names. The file of the lock
// stays, because another setup may wait for it.
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
	os.Remove(s.path("pjrt")) // This fails if the folder has other files, as it should.
	return nil
}

// remove removes a folder or a link of setup. A plugin or a library folder that is not a link was put there by hand,
// and stays.
func remove(path string) error {
	byHand := filepath.Base(filepath.Dir(path)) == "pjrt" || filepath.Base(path) == "nvidia"
	if _, err := os.Readlink(path); err != nil && byHand {
		say("kept %s: it is not a link, so setup has not made it; remove it yourself if you do not need it", path)
		return nil
	}
	say("removing %s", path)
	return os.RemoveAll(path)
}
