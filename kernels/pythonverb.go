package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
)

const testRequirements = "kernels/requirements-test.txt"

// pythonCommand gives tests the Python that runs Jupyter, with what tests a kernel. See kernels/conformance.
func pythonCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "python -- ARGUMENT...",
		Short:  "Run Python with the project's Jupyter and the packages that test kernels",
		Hidden: true,
		Args:   bad(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := setup(cmd.Context(), false)
			if err != nil {
				return err
			}
			code, err := k.testPython(cmd.Context(), args)
			if err == nil && code != 0 {
				return exitError(code)
			}
			return err
		},
	}
}

// testPython runs Python and returns its exit status.
func (k kit) testPython(ctx context.Context, args []string) (int, error) {
	pins, err := k.repo.read(testRequirements)
	if err != nil {
		return 0, err
	}
	it := item{name: "test", pins: string(pins), build: func(ctx context.Context, dir, _ string) error {
		return step(ctx, "installing what tests kernels", pip(ctx, k.python(), "install", "--no-deps", "--no-compile", "--target", dir,
			"-r", k.repo.path(testRequirements)))
	}}
	if err := k.install(ctx, []item{it}, nil); err != nil {
		return 0, err
	}
	env, err := k.jupyterEnv()
	if err != nil {
		return 0, err
	}
	return supervise(ctx, child{
		argv: append([]string{k.python()}, args...), env: mergeEnv(env, "PYTHONPATH="+k.store.dir(it), "PYTHONDONTWRITEBYTECODE=1"),
		stdout: os.Stdout, stderr: os.Stderr,
	})
}
