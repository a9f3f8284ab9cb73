package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

const opensVerb = "opens"

// opensCommand returns a command that tries to open a backend. It is a separate process, because a plugin may need
// memory or crash the process.
func opensCommand() *cobra.Command {
	return &cobra.Command{
		Use:    opensVerb + " BACKEND",
		Short:  "Open a backend; the exit status says whether it works",
		Hidden: true,
		Args:   bad(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := backend.Open(args[0])
			return err
		},
	}
}

// cudaLoads reports whether XLA's CUDA plugin works on this machine.
func cudaLoads(ctx context.Context) bool {
	if backend.Check(backend.XLACUDA) != nil {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, self, opensVerb, backend.XLACUDA).Run() == nil
}

// kernelNames returns the names of the kernels for this machine.
func kernelNames(ctx context.Context) []string {
	if cudaLoads(ctx) {
		return []string{kernelName, cudaKernelName}
	}
	return []string{kernelName}
}

// offerCUDA shows the CUDA kernel in the project's JupyterLab, or hides it. JupyterLab finds the other kernel in the
// checkout.
func (k kit) offerCUDA(names []string, g goTool) error {
	dir := k.store.path("jupyter", "data", "kernels", cudaKernelName)
	if err := os.RemoveAll(dir); err != nil || len(names) < 2 {
		return err
	}
	files, err := k.specFiles(cudaKernelName, g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
