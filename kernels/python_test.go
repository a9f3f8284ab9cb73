package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// TestFilesOfTheFolderAreNoPartOfPython runs the Python commands of setup, lab and run in a folder whose files have the
// names of Python's modules. None of these files is imported.
func TestFilesOfTheFolderAreNoPartOfPython(t *testing.T) {
	run := testprogram.Build(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for _, name := range []string{"queue", "random", "json", "venv", "ensurepip", "pip", "nbformat", "nbclient",
		"jupyterlab", "compileall"} {
		trap := "open('" + ran + "', 'a').write(__name__ + '\\n')\n"
		must.M(os.WriteFile(filepath.Join(dir, name+".py"), []byte(trap), 0o644))
	}
	writeNotebook(t, filepath.Join(dir, "one.ipynb"), "%%\n")
	checkout := string(testCheckout(t))
	if out, code := result(t, run, "setup"); code != 0 {
		t.Fatal(out)
	}
	k := kit{repo: testCheckout(t)}
	t.Chdir(dir)
	py := must.M1(findPython(t.Context()))
	venv := must.M1(venvItem(k.repo, py))
	k.store = must.M1(openStore())
	k.venv = k.store.dir(venv)
	lab := k.jupyterLab()
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(t.Context(), lab[0], append(lab[1:], "--version")...),
		exec.CommandContext(t.Context(), run, "run", filepath.Join(dir, "one.ipynb")),
		pip(t.Context(), k.python(), "download", "--help"),
		fromRoot(t.Context(), py.path, "-m", "venv", "--without-pip", filepath.Join(dir, "venv-of-it")),
	} {
		if cmd.Args[0] == run {
			cmd.Dir = checkout
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v failed: %v\n%s", cmd.Args, err, out)
		}
	}
	if names, err := os.ReadFile(ran); err == nil {
		t.Errorf("Python ran these files of the folder:\n%s", names)
	}
}
