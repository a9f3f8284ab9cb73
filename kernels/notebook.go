package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/internal/tail"
)

//go:embed execute.py
var executeScript string

// fault is a cell that failed, as execute.py reports it.
type fault struct {
	Cell   int    // its place in the notebook, from 1, prose cells counted
	Source string // what it says
	Error  string // what went wrong
	Output string // what it printed to standard error
}

// terminalCodes are the colours of errors and of what cells print.
var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;]*m *")

// String shows the cell and what went wrong, indented.
func (f *fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  cell %d:\n%s", f.Cell, indent(f.Source, "    | "))
	if out := strings.TrimSpace(terminalCodes.ReplaceAllString(f.Output, "")); out != "" {
		fmt.Fprintf(&b, "  its standard error:\n%s", indent(out, "    "))
	}
	fmt.Fprintf(&b, "  failed:\n%s", indent(terminalCodes.ReplaceAllString(f.Error, ""), "    "))
	return b.String()
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
}

// checkNotebook tells what keeps a file from being run as a notebook.
func checkNotebook(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var nb struct {
		Cells  []json.RawMessage
		Format int `json:"nbformat"`
	}
	if err := json.Unmarshal(data, &nb); err != nil || nb.Cells == nil || nb.Format < 4 {
		return fmt.Errorf("%s is not a Jupyter notebook of format 4", path)
	}
	return nil
}

// execution is what execute.py reports.
type execution struct {
	Notebook string // the notebook with its outputs
	Failure  *fault // nil when all cells succeeded
}

// runNotebook executes one notebook and writes its outputs where they are wanted. A failing cell is a fault; an error
// means that it could not be run.
func (k kit) runNotebook(ctx context.Context, path string, o runOptions) (*fault, error) {
	if err := checkNotebook(path); err != nil {
		return nil, err
	}
	done, err := k.execute(ctx, path, o)
	if err != nil {
		return nil, err
	}
	switch {
	case o.inplace && done.Failure == nil:
		err = replaceFile(path, done.Notebook)
	case o.out != "":
		err = replaceFile(filepath.Join(o.out, filepath.Base(path)), done.Notebook)
	}
	return done.Failure, err
}

// execute runs execute.py, with a folder of its own for Jupyter's run-time files.
func (k kit) execute(ctx context.Context, path string, o runOptions) (execution, error) {
	env, err := k.jupyterEnv()
	if err != nil {
		return execution{}, err
	}
	tmp, err := runtimeDir()
	if err != nil {
		return execution{}, err
	}
	// As a file, and not by -c, it does not look for Python's modules in the working folder.
	script := filepath.Join(tmp, "execute.py")
	if err := os.WriteFile(script, []byte(executeScript), 0o600); err != nil {
		return execution{}, err
	}
	var stdout bytes.Buffer
	var stderr tail.Buffer
	code, err := supervise(ctx, child{
		argv:   []string{k.python(), script, kernelName, path, fmt.Sprintf("%.0f", o.timeout.Seconds())},
		env:    mergeEnv(env, "HYPER_PROFILE="+o.profile(), "JUPYTER_RUNTIME_DIR="+tmp),
		remove: tmp,
		stdout: &stdout, stderr: &stderr,
	})
	switch {
	case err != nil:
		return execution{}, err
	case code != 0:
		return execution{}, fmt.Errorf("nbclient ended with status %d: %s", code, stderr.String())
	}
	report := bytes.TrimSpace(stdout.Bytes())
	report = report[bytes.LastIndexByte(report, '\n')+1:] // The kernel may have printed before it.
	var done execution
	if err := json.Unmarshal(report, &done); err != nil {
		return execution{}, fmt.Errorf("no result from nbclient:\n%s", stderr.String())
	}
	return done, nil
}

// replaceFile writes a file in one step.
func replaceFile(path, text string) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
