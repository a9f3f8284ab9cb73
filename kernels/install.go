package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// dataFolder returns the data folder of a Jupyter, which contains the kernels: of the environment with sys.prefix
// prefix, or of the user if prefix is "".
func dataFolder(prefix string) (string, error) {
	if prefix == "" {
		return userData()
	}
	dir, err := filepath.Abs(prefix)
	if err != nil {
		return "", badInput(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", badInput(fmt.Errorf("--prefix %s is not a folder", prefix))
	}
	return filepath.Join(dir, "share", "jupyter"), nil
}

func addPrefix(cmd *cobra.Command, prefix *string) {
	cmd.Flags().StringVar(prefix, "prefix", "",
		"the Jupyter of an environment: `DIR` is sys.prefix of its Python (default: this user's Jupyter and VS Code)")
}

// userData returns the data folder of the user's Jupyter, by the rules of jupyter_core.
func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

func installCommand() *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "install [--prefix DIR]",
		Short: "Add the Go kernel to your own Jupyter or VS Code",
		Long: "Runs setup, and adds the kernel to a Jupyter outside the project. The kernel uses this checkout. If XLA's CUDA\n" +
			"plugin works, a kernel that uses it by default is added, too.",
		Args: bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := dataFolder(prefix)
			if err != nil {
				return err
			}
			k, err := setup(cmd.Context(), false)
			if err != nil {
				return err
			}
			return k.installKernels(cmd.Context(), data)
		},
	}
	addPrefix(cmd, &prefix)
	return cmd
}

func uninstallCommand() *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "uninstall [--prefix DIR]",
		Short: "Remove the files that install has added",
		Args:  bad(cobra.NoArgs),
		RunE: func(_ *cobra.Command, _ []string) error {
			data, err := dataFolder(prefix)
			if err != nil {
				return err
			}
			m, err := readManifest(data)
			if errors.Is(err, errNotInstalled) {
				say("nothing to remove: install has written nothing below %s", data)
				return nil
			}
			if err != nil {
				return err
			}
			return m.remove()
		},
	}
	addPrefix(cmd, &prefix)
	return cmd
}

// installKernels removes the files of an earlier install, and writes the folders of the kernels.
func (k kit) installKernels(ctx context.Context, data string) error {
	old, err := readManifest(data)
	if err == nil {
		err = old.remove()
	}
	if err != nil && !errors.Is(err, errNotInstalled) {
		return err
	}
	g, err := findGo(ctx)
	if err != nil {
		return err
	}
	m := manifest{data: data, Files: map[string]string{}}
	for _, name := range kernelNames(ctx) {
		if err := k.installKernel(&m, name, g); err != nil {
			return errors.Join(fmt.Errorf("cannot install the kernel: %w", err), m.remove())
		}
	}
	if err := k.installLabExtensions(&m); err != nil {
		return errors.Join(fmt.Errorf("cannot install the kernel's extension of JupyterLab: %w", err), m.remove())
	}
	return m.write()
}

// installLabExtensions copies the extension's files. A page can only load them from below Jupyter's folders, unlike a
// kernel's files.
func (k kit) installLabExtensions(m *manifest) error {
	files := os.DirFS(k.repo.path(labExtensions))
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return m.add(filepath.Join("labextensions", filepath.FromSlash(name)), data)
	})
}

func (k kit) installKernel(m *manifest, name string, g goTool) error {
	files, err := k.specFiles(name, g)
	if err != nil {
		return err
	}
	for file, data := range files {
		if err := m.add(filepath.Join("kernels", name, file), data); err != nil {
			return err
		}
	}
	say("installed %s in %s", k.spec(name, g).Name, filepath.Join(m.data, "kernels", name))
	return nil
}
