package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func labCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab [-- JUPYTER-ARGUMENT...]",
		Short: "Open JupyterLab with the notebooks of the checkout, or of your project",
		Example: "  go run ./kernels lab\n" +
			"  go run ./kernels lab -- --no-browser --port 9999",
		Args: bad(onlyAfterDash),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, _, err := here(); err != nil {
				return err
			}
			k, err := setup(cmd.Context(), false)
			if err != nil {
				return err
			}
			return k.lab(cmd.Context(), args)
		},
	}
}

// onlyAfterDash accepts arguments for another program only after "--".
func onlyAfterDash(cmd *cobra.Command, args []string) error {
	before := cmd.ArgsLenAtDash()
	if before < 0 {
		before = len(args)
	}
	if before > 0 {
		return fmt.Errorf("unexpected argument %q: Jupyter's arguments follow --", args[0])
	}
	return nil
}

// jupyterLab returns the command line of JupyterLab, which shows its working folder. It is a script and does not use
// -m, so that Python does not look for modules in that folder: a queue.py among the notebooks must not be imported.
func (k kit) jupyterLab() []string {
	return []string{k.python(), filepath.Join(filepath.Dir(k.python()), "jupyter-lab")}
}

// lab runs JupyterLab until it ends or ctx ends.
func (k kit) lab(ctx context.Context, args []string) error {
	env, err := k.jupyterEnv()
	if err != nil {
		return err
	}
	g, err := findGo(ctx)
	if err != nil {
		return err
	}
	names := kernelNames(ctx)
	if err := k.offerCUDA(names, g); err != nil {
		return err
	}
	notebooks := k.home.notebooks()
	if err := os.MkdirAll(notebooks, 0o755); err != nil {
		return err
	}
	runtime, err := runtimeDir()
	if err != nil {
		return err
	}
	config, err := k.configureLSP(runtime, notebooks)
	if err != nil {
		return err
	}
	if other := os.Getenv("JUPYTER_CONFIG_PATH"); other != "" {
		config += string(filepath.ListSeparator) + other
	}
	code, err := supervise(ctx, child{argv: append(k.labArguments(names), args...),
		env: mergeEnv(env, "JUPYTER_RUNTIME_DIR="+runtime, "JUPYTER_CONFIG_PATH="+config),
		dir: notebooks, remove: runtime, stdout: os.Stdout, stderr: os.Stderr})
	if errors.Is(err, context.Canceled) {
		say("JupyterLab has stopped")
		return nil
	}
	return exited(code, err)
}

// labArguments returns the command line of a JupyterLab that offers these kernels.
func (k kit) labArguments(names []string) []string {
	argv := append(k.jupyterLab(),
		"--KernelManager.transport=ipc",
		// Only the project's kernels. The Python that runs Jupyter has no packages for a notebook.
		"--KernelSpecManager.allowed_kernelspecs={'"+strings.Join(names, "','")+"'}",
		"--LabApp.extra_labextensions_path="+k.repo.path(labExtensions),
		"--LabApp.extension_manager=readonly", // The other manager asks the package index for extensions.
		"--KernelSpecManager.ensure_native_kernel=False",
		// The menu has no exports that need TeX, Chromium or Qt.
		"--PDFExporter.enabled=False", "--WebPDFExporter.enabled=False",
		"--QtPDFExporter.enabled=False", "--QtPNGExporter.enabled=False",
		"--MappingKernelManager.default_kernel_name="+kernelName,
	)
	if os.Geteuid() == 0 {
		argv = append(argv, "--allow-root") // For containers. Jupyter listens only on localhost.
	}
	return argv
}
