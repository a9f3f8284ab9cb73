package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// writeNotebook writes a notebook of code cells. A source that begins with < or # makes a Markdown cell.
func writeNotebook(t *testing.T, path string, sources ...string) {
	t.Helper()
	cells := []map[string]any{}
	for _, source := range sources {
		if strings.HasPrefix(source, "<") || strings.HasPrefix(source, "#") {
			cells = append(cells, map[string]any{"cell_type": "markdown", "source": source, "metadata": map[string]any{}})
			continue
		}
		cells = append(cells, map[string]any{"cell_type": "code", "source": source, "metadata": map[string]any{},
			"outputs": []any{}, "execution_count": nil})
	}
	data := must.M1(json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 4, "metadata": map[string]any{},
		"cells": cells}))
	must.M(os.WriteFile(path, data, 0o644))
}

func TestNotebooksOfGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ipynb")
	for _, about := range []string{"{}", `{"kernelspec": {"language": "Go"}}`, `{"language_info": {"name": "golang"}}`} {
		text := `{"nbformat": 4, "cells": [], "metadata": ` + about + `}`
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), checkNotebook(path)); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestRunRefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	good, text := filepath.Join(dir, "good.ipynb"), filepath.Join(dir, "text.ipynb")
	old, python := filepath.Join(dir, "old.ipynb"), filepath.Join(dir, "python.ipynb")
	sizes := filepath.Join(dir, "sizes.ipynb")
	writeNotebook(t, good, "%%\n")
	writeNotebook(t, sizes, "notebook.Choose(1, 2)")
	for path, content := range map[string]string{text: "no notebook", old: `{"nbformat": 3, "worksheets": []}`,
		python: `{"nbformat": 4, "cells": [], "metadata": {"language_info": {"name": "python"}}}`} {
		must.M(os.WriteFile(path, []byte(content), 0o644))
	}
	for _, c := range []struct{ args, want string }{
		{"run --inplace --out x " + good, "give one"},
		{"run --quick --full " + good, "give one"},
		{"run --timeout 1ms " + good, "too short"},
		{"run --timeout soon " + good, "invalid"},
		{"run --jobs 0 " + good, "at least 1"},
		{"run " + filepath.Join(dir, "missing.ipynb"), "no such file"},
		{"run " + text, "not a Jupyter notebook"},
		{"run --inplace " + sizes, "give --quick or --full"},
		{"run " + old, "old format 3"},
		{"run " + python, "a notebook of python"},
		{"run " + dir, "is a folder"},
		{"run --out x " + good + " " + filepath.Join(dir, ".", "..", filepath.Base(dir), "good.ipynb"), "same file"},
		{"lab notebook", "follow --"},
		{"setup everything", "unknown command"},
		{"install --prefix " + good, "not a folder"},
		{"install --everywhere", "unknown flag"},
		{"install here", "unknown command"},
		{"uninstall --prefix", "needs an argument"},
		{"new", "new takes one argument, DIR, and got 0; see `go run ./kernels new --help`"},
		{"run --quikc", "unknown flag: --quikc; see `go run ./kernels run --help`"},
		{"new " + dir, "not an empty folder"},
		{"new " + good, "not an empty folder"},
		{"new " + filepath.Join(dir, "fresh") + " --module /x", "cannot be called"},
		{"fly", "see `go run ./kernels --help`"},
		{"new a b", "see `go run ./kernels new --help`"},
	} {
		cmd := command()
		cmd.SetArgs(strings.Fields(c.args))
		err := cmd.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.args, err, c.want)
		}
		if got := status(err); got != 2 {
			t.Errorf("%s: exit status %d, want 2", c.args, got)
		}
	}
}

func TestRunTakesAllNotebooksInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[draft]")
	must.M(os.Mkdir(dir, 0o755))
	o := runOptions{timeout: time.Minute, jobs: 1}
	if _, err := o.notebooks(dir, nil); err == nil {
		t.Error("folder without a notebook: got no error")
	}
	for _, name := range []string{"02-b.ipynb", "01-a.ipynb", "notes.txt"} {
		writeNotebook(t, filepath.Join(dir, name))
	}
	list, err := o.notebooks(dir, nil)
	if err != nil || len(list) != 2 || filepath.Base(list[0]) != "01-a.ipynb" {
		t.Errorf("got notebooks %v, error %v, want 2", list, err)
	}
	for _, named := range [][]string{nil, list[:1]} { // --out must not replace notebooks
		o.out = dir + "/."
		if _, err := o.notebooks(dir, named); err == nil || !strings.Contains(err.Error(), "choose another folder") {
			t.Errorf("--out is the folder of the notebooks %v: got error %v", named, err)
		}
		o.out = t.TempDir()
		must.M1(o.notebooks(dir, named))
	}
}

func TestFaultShowsCellAndError(t *testing.T) {
	f := &fault{Cell: 3, Source: "%%\ncheck(3)\n", Error: "exit status 2",
		Output: "panic: \x1b[7m[[ Cell [2] ]]\x1b[0m main.go:7\n"}
	const want = "  cell 3:\n    | %%\n    | check(3)\n  its standard error:\n    panic: [[ Cell [2] ]]main.go:7\n  failed:\n    exit status 2\n"
	if got := f.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A notebook imports the checkout or the module that contains it, and lab opens the notebooks of that module.
func TestModuleIsFoundFromBelow(t *testing.T) {
	repo, dir := testCheckout(t), t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	must.M(os.MkdirAll(deep, 0o755))
	other := checkout("/elsewhere")
	check := func(from, folder, sees string) {
		t.Helper()
		m, err := findModule(from)
		if (folder == "") != (status(err) == 2) || err == nil && m.notebooks() != folder {
			t.Errorf("%s: notebooks in %q, %v; want %q", from, m.notebooks(), err, folder)
		}
		if got := other.around(from); got != sees {
			t.Errorf("%s: compiles against %s, want %s", from, got, sees)
		}
	}
	check(repo.path("kernels", "layer"), repo.path("notebooks"), string(repo))
	check(deep, "", string(other))
	const head = "module example.com/x\n"
	write(t, filepath.Join(dir, "go.mod"), head)
	check(deep, "", string(other))
	write(t, filepath.Join(dir, "go.mod"), head+"\nrequire "+modulePath+" v0.1.0\n")
	check(deep, dir, dir)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.M(os.WriteFile(path, []byte(text), 0o644))
}

func TestMergeEnv(t *testing.T) {
	got := mergeEnv([]string{"PATH=/bin", "PATHS=x", "HOME=/a"}, "PATH=/usr/bin", "NEW=1")
	if want := "PATHS=x HOME=/a PATH=/usr/bin NEW=1"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestWindowsIsRefused(t *testing.T) {
	err := runsOn("windows")
	var input inputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "WSL") {
		t.Error(err)
	}
	if err := errors.Join(runsOn("linux"), runsOn("darwin")); err != nil {
		t.Error(err)
	}
}
