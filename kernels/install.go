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

// installOptions say which Jupyter is meant.
type installOptions struct {
	user   bool
	prefix string
}

func (o *installOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.user, "user", false, "for this user: every Jupyter and VS Code finds it (the default)")
	cmd.Flags().StringVar(&o.prefix, "prefix", "",
		"for the Jupyter of an environment: `DIR` is what its Python calls sys.prefix")
}

// data is Jupyter's folder for kernels and the like.
func (o *installOptions) data() (string, error) {
	switch {
	case o.user && o.prefix != "":
		return "", badInput(errors.New("--user and --prefix are two places for the kernel: give one"))
	case o.prefix != "":
		prefix, err := filepath.Abs(o.prefix)
		if err != nil {
			return "", badInput(err)
		}
		if info, err := os.Stat(prefix); err != nil || !info.IsDir() {
			return "", badInput(fmt.Errorf("--prefix %s is not a folder", o.prefix))
		}
		return filepath.Join(prefix, "share", "jupyter"), nil
	}
	return userData()
}

// userData is the folder of the user's own kernels, as jupyter_core finds it.
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
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install [--user | --prefix DIR]",
		Short: "Add the Go kernel to your own Jupyter or VS Code",
		Long: "Does what setup does, and adds the kernel to a Jupyter that is not the project's. The kernel goes on using this\n" +
			"checkout. Where XLA's CUDA plugin loads, a kernel that uses it by default is added too.",
		Args: bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := o.data()
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
	o.flags(cmd)
	return cmd
}

func uninstallCommand() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "uninstall [--user | --prefix DIR]",
		Short: "Remove what install has added",
		Args:  bad(cobra.NoArgs),
		RunE: func(_ *cobra.Command, _ []string) error {
			data, err := o.data()
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
	o.flags(cmd)
	return cmd
}

// installKernels writes the kernels' folders, after removing what an earlier install wrote.
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

// installLabExtensions copies the files: other than a kernel's, a page gets them from below Jupyter's folders only.
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
