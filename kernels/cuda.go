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

// opensCommand tries a backend, in a process of its own: a plugin may take memory, or the process down.
func opensCommand() *cobra.Command {
	return &cobra.Command{
		Use:    opensVerb + " BACKEND",
		Short:  "Tell by the exit status whether a backend opens",
		Hidden: true,
		Args:   bad(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := backend.Open(args[0])
			return err
		},
	}
}

// cudaLoads tells whether XLA's CUDA plugin works on this machine.
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

// kernelNames are the kernels to offer on this machine.
func kernelNames(ctx context.Context) []string {
	if cudaLoads(ctx) {
		return []string{kernelName, cudaKernelName}
	}
	return []string{kernelName}
}

// offerCUDA shows the CUDA kernel to the project's own JupyterLab, or hides it. The other kernel is found in the
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
