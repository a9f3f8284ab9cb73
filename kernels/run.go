package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// runOptions holds the flags of run.
type runOptions struct {
	inplace     bool
	out         string
	jobs        int
	timeout     time.Duration
	quick, full bool
}

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [NOTEBOOK...]",
		Short: "Execute notebooks, and fail if a cell fails",
		Long: "Executes notebooks from their first cell to their last, each with its own kernel and in its own folder. Without\n" +
			"arguments it executes all notebooks of the checkout or project. After a notebook's last cell it runs the\n" +
			"answers of the exercises. The files do not change unless --inplace is given. The exit status is 1 if a cell\n" +
			"fails or an answer is wrong.",
		RunE: func(cmd *cobra.Command, args []string) error {
			home, _, err := here()
			if err != nil {
				return err
			}
			list, err := o.notebooks(home.notebooks(), args)
			if err == nil {
				err = o.checkSize(list)
			}
			if err != nil {
				return badInput(err)
			}
			k, err := setup(cmd.Context(), false)
			if err != nil {
				return err
			}
			return k.run(cmd.Context(), list, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.inplace, "inplace", false, "write the outputs into a notebook if all its cells succeed")
	f.StringVar(&o.out, "out", "", "write executed copies into this folder")
	f.IntVar(&o.jobs, "jobs", min(2, runtime.NumCPU()),
		"number of notebooks that run at the same time; compiling a cell uses one core")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "maximum time for one cell")
	f.BoolVar(&o.quick, "quick", false, "run small experiments: HYPER_PROFILE=quick in the cells (the default)")
	f.BoolVar(&o.full, "full", false, "run the paper's experiments: HYPER_PROFILE=full in the cells")
	return cmd
}

// notebooks checks the options and the named notebooks. Without names it returns the notebooks of a folder.
func (o runOptions) notebooks(folder string, named []string) ([]string, error) {
	switch {
	case o.inplace && o.out != "":
		return nil, errors.New("--inplace and --out select two places for the outputs: give one")
	case o.quick && o.full:
		return nil, errors.New("--quick and --full cannot be combined: give one")
	case o.timeout < time.Second:
		return nil, fmt.Errorf("--timeout %v is too short: give a second or more, such as 10m", o.timeout)
	case o.jobs < 1:
		return nil, fmt.Errorf("--jobs %d: give at least 1", o.jobs)
	}
	if len(named) == 0 {
		list, err := fs.Glob(os.DirFS(folder), "*.ipynb")
		for i, name := range list {
			list[i] = filepath.Join(folder, name)
		}
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("no notebook in %s: name one", folder)
		}
		return list, cmp.Or(err, o.checkOut(list))
	}
	seen := map[string]string{}
	for _, name := range named {
		if err := checkNotebook(name); err != nil {
			return nil, err
		}
		base := filepath.Base(name)
		if other, twice := seen[base]; twice && o.out != "" {
			return nil, fmt.Errorf("%s and %s would be written to the same file in %s: run them one at a time", other,
				name, o.out)
		}
		seen[base] = name
	}
	return named, o.checkOut(named)
}

// checkOut returns an error if --out would replace a notebook.
func (o runOptions) checkOut(notebooks []string) error {
	out, err := os.Stat(o.out)
	if o.out == "" || err != nil {
		return nil
	}
	for _, path := range notebooks {
		if dir, err := os.Stat(filepath.Dir(path)); err == nil && os.SameFile(out, dir) {
			return fmt.Errorf("--out %s is the folder of %s: choose another folder, or give --inplace", o.out, path)
		}
	}
	return nil
}

// checkSize returns an error if outputs would be written into a notebook whose text may be about the other size.
func (o runOptions) checkSize(notebooks []string) error {
	for _, path := range notebooks {
		text, err := os.ReadFile(path)
		if err == nil && o.inplace && !o.quick && !o.full && bytes.Contains(text, []byte("notebook.Choose(")) {
			return fmt.Errorf("%s has outputs that depend on the size (notebook.Choose): give --quick or --full", path)
		}
	}
	return nil
}

// profile returns the size of the cells' experiments.
func (o runOptions) profile() string {
	if o.full {
		return "full"
	}
	return "quick"
}

// run executes the notebooks, several at the same time, and prints a line for each when it ends.
func (k kit) run(ctx context.Context, notebooks []string, o runOptions) error {
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o755); err != nil {
			return badInput(err)
		}
	}
	var printing sync.Mutex
	failed := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs)
	for _, path := range notebooks {
		group.Go(func() error {
			began := time.Now()
			fault, err := k.runNotebook(ctx, path, o)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			printing.Lock()
			defer printing.Unlock()
			verdict := "ok  "
			if fault != nil {
				verdict = "FAIL"
				failed++
			}
			fmt.Printf("%s %s  %.1f s\n", verdict, short(path), time.Since(began).Seconds())
			if fault != nil {
				fmt.Print(fault)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d notebooks failed", failed, len(notebooks))
	}
	return nil
}

// short returns a path relative to the working folder.
func short(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	return rel
}
