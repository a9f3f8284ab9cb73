package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
)

// testRequirements has the requirements files of tests, by the name of the folder for the packages.
var testRequirements = map[string]string{
	"test":    "kernels/requirements-test.txt",
	"browser": "kernels/requirements-browser.txt",
}

// pythonCommand returns a command that runs the Python of Jupyter with additional packages for tests. See
// kernels/conformance and kernels/browser.
func pythonCommand() *cobra.Command {
	var browser bool
	cmd := &cobra.Command{
		Use:    "python -- ARGUMENT...",
		Short:  "Run Python with the project's Jupyter and the packages for tests of kernels",
		Hidden: true,
		Args:   bad(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := setup(cmd.Context(), false)
			if err != nil {
				return err
			}
			name, what := "test", "installing packages for tests of kernels"
			if browser {
				name, what = "browser", "installing packages that control a browser (50 MB to download)"
			}
			it, err := k.testItem(name, testRequirements[name], what)
			if err != nil {
				return err
			}
			return exited(k.testPython(cmd.Context(), it, args))
		},
	}
	cmd.Flags().BoolVar(&browser, "browser", false, "use packages that control a browser instead")
	return cmd
}

// testItem returns a folder with the packages of a requirements file.
func (k kit) testItem(name, requirements, what string) (item, error) {
	pins, err := k.repo.read(requirements)
	return item{name: name, pins: string(pins), build: func(ctx context.Context, dir, _ string) error {
		return step(ctx, what, pip(ctx, k.python(), "install", "--no-deps", "--no-compile", "--target", dir, "-r",
			k.repo.path(requirements)), wheels(pins))
	}}, err
}

// testPython runs Python with an item's packages and returns its exit status.
func (k kit) testPython(ctx context.Context, it item, args []string) (int, error) {
	if err := k.install(ctx, []item{it}, nil); err != nil {
		return 0, err
	}
	env, err := k.jupyterEnv()
	if err != nil {
		return 0, err
	}
	return supervise(ctx, child{
		argv: append([]string{k.python()}, args...), env: mergeEnv(env, "PYTHONPATH="+k.store.dir(it),
			"PYTHONDONTWRITEBYTECODE=1"),
		stdout: os.Stdout, stderr: os.Stderr,
	})
}
