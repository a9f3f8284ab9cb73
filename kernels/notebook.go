package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/internal/tail"
)

//go:embed execute.py
var executeScript string

// fault is a cell that failed, as execute.py reports it.
type fault struct {
	Cell   int    // number of the cell in the notebook, from 1, including text cells
	Source string // source code of the cell
	Error  string // error of the cell
	Output string // output of the cell on standard error
}

// terminalCodes matches the colours in errors and in output.
var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;]*m *")

// String returns the cell and its error, indented.
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

// checkNotebook returns an error if a file is not a notebook of Go cells.
func checkNotebook(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: give its notebooks, such as %s", path, filepath.Join(path, "*.ipynb"))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var nb struct {
		Cells    []json.RawMessage
		Format   int `json:"nbformat"`
		Metadata struct {
			Kernel struct{ Language string } `json:"kernelspec"`
			About  struct{ Name string }     `json:"language_info"`
		}
	}
	err = json.Unmarshal(data, &nb)
	switch language := cmp.Or(nb.Metadata.Kernel.Language, nb.Metadata.About.Name); {
	case err == nil && nb.Format > 0 && nb.Format < 4:
		return fmt.Errorf("%s has the old format %d: open it in JupyterLab and save it", path, nb.Format)
	case err != nil || nb.Cells == nil || nb.Format < 4:
		return fmt.Errorf("%s is not a Jupyter notebook", path)
	case !slices.Contains([]string{"", "go", "golang"}, strings.ToLower(language)):
		return fmt.Errorf("%s is a notebook of %s: open it in JupyterLab and choose a kernel of Go", path, language)
	}
	return nil
}

// execution is the report of execute.py.
type execution struct {
	Notebook string // the notebook including its outputs
	Failure  *fault // nil if all cells succeeded
}

// runNotebook executes one notebook, and writes its outputs where the options say. A failing cell gives a fault. An
// error means that the notebook could not be run.
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

// execute runs execute.py with its own folder for Jupyter's runtime files.
func (k kit) execute(ctx context.Context, path string, o runOptions) (execution, error) {
	env, err := k.jupyterEnv()
	if err != nil {
		return execution{}, err
	}
	tmp, err := runtimeDir()
	if err != nil {
		return execution{}, err
	}
	// The script is a file, and not an argument of -c, so that Python does not look for modules in the working folder.
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
	report = report[bytes.LastIndexByte(report, '\n')+1:] // The kernel may have printed something before.
	var done execution
	if err := json.Unmarshal(report, &done); err != nil {
		return execution{}, fmt.Errorf("no result from nbclient:\n%s", stderr.String())
	}
	return done, nil
}

// replaceFile replaces a file atomically.
func replaceFile(path, text string) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
