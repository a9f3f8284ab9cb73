package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer"
	"github.com/hypermodels/hypermodels/kernels/layer/build"
)

// kernelCommand returns the command that Jupyter starts, through kernels/go-hypermodels/start.sh.
func kernelCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "kernel CONNECTION-FILE",
		Short:  "Run the Go kernel (started by Jupyter)",
		Hidden: true,
		Args:   bad(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			connection, err := filepath.Abs(args[0])
			if err != nil {
				return badInput(err)
			}
			code, err := runKernel(cmd.Context(), connection)
			if err != nil {
				err = explain(cmd.Context(), connection, err)
			}
			if errors.Is(err, context.Canceled) { // Jupyter has ended the kernel.
				return nil
			}
			return exited(code, err)
		},
	}
}

// runKernel runs GoNB behind the layer for one notebook, with its own temporary folder, until Jupyter stops it.
func runKernel(ctx context.Context, connection string) (int, error) {
	k, g, err := installed(ctx)
	if err != nil {
		return 0, err
	}
	dir, err := notebookDir()
	if err != nil {
		return 0, err
	}
	tmp, err := shortDir("hyper-kernel-")
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	argv := []string{self, layerVerb, "--connection", connection, "--dir", tmp, "--", filepath.Join(k.tools, "gonb")}
	argv = append(argv, layer.GoNBArguments(k.repo.around(dir), tmp)...)
	return supervise(ctx, child{argv: argv, env: k.kernelEnv(g, tmp), dir: dir, remove: tmp,
		stdout: os.Stdout, stderr: os.Stderr})
}

// checkoutVar is the environment variable with the folder of this project's files, for programs that a cell starts.
const checkoutVar = "HYPERMODELS_CHECKOUT"

// startDirVar is the environment variable with the folder in which Jupyter started the kernel: the notebook's folder.
const startDirVar = "HYPERMODELS_NOTEBOOK_DIR"

func notebookDir() (string, error) {
	if dir := os.Getenv(startDirVar); dir != "" {
		return dir, nil
	}
	return os.Getwd()
}

// installed returns the files that setup has prepared. It makes nothing.
func installed(ctx context.Context) (kit, goTool, error) {
	_, repo, err := here()
	if err != nil {
		return kit{}, goTool{}, err
	}
	s, err := openStore()
	if err != nil {
		return kit{}, goTool{}, err
	}
	g, err := findGo(ctx)
	if err != nil {
		return kit{}, goTool{}, err
	}
	tools, err := toolsItem(repo, g)
	if err != nil {
		return kit{}, goTool{}, err
	}
	if !s.has(tools) {
		return kit{}, goTool{}, fmt.Errorf("the Go kernel is not installed: run `go run ./kernels setup` in %s", repo)
	}
	return kit{repo: repo, store: s, tools: s.dir(tools)}, g, nil
}

// kernelEnv returns the environment of GoNB and of cells: cells import the checkout, link quickly, and do not use the
// network.
func (k kit) kernelEnv(g goTool, tmp string) []string {
	path := []string{build.ScriptDir(tmp), k.tools, filepath.Dir(g.path), os.Getenv("PATH")}
	return goEnv(
		"PATH="+strings.Join(path, string(filepath.ListSeparator)),
		"HYPERMODELS_GO="+g.path,
		checkoutVar+"="+string(k.repo),
		"GOFLAGS="+cellFlags(),
		"GOWORK=", // GoNB's workspace, not a workspace of the user.
		"GOMLX_NO_AUTO_INSTALL=1",
		"TMPDIR="+tmp,
		"GOTMPDIR="+tmp,
	)
}
