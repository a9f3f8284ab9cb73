package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/internal/tail"
)

// python is an interpreter that can make a virtual environment.
type python struct {
	path string // path of the program
	id   string // version and home, on which a virtual environment depends
}

// findPython returns $HYPERMODELS_PYTHON, or python3 in PATH.
func findPython(ctx context.Context) (python, error) {
	name := cmp.Or(os.Getenv("HYPERMODELS_PYTHON"), "python3")
	path, err := exec.LookPath(name)
	if err != nil {
		return python{}, fmt.Errorf("no %s in PATH: install Python 3.10 or later (Debian: apt install python3-venv), or set HYPERMODELS_PYTHON to a Python", name)
	}
	const probe = `import sys, venv, ensurepip; print("%d.%d.%d %s" % (*sys.version_info[:3], sys.base_prefix)); sys.exit(sys.version_info < (3, 10))`
	cmd := fromRoot(ctx, path, "-c", probe)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	id := strings.TrimSpace(string(out))
	switch {
	case err == nil:
		return python{path, id}, nil
	case ctx.Err() != nil:
		return python{}, ctx.Err()
	case id != "":
		return python{}, fmt.Errorf("%s is Python %s: install 3.10 or later, or set HYPERMODELS_PYTHON to such a Python", path, id)
	case strings.Contains(complaint.String(), "No module named"):
		return python{}, fmt.Errorf("%s comes without its venv module: install it (Debian: apt install python3-venv), or set HYPERMODELS_PYTHON to another Python", path)
	}
	return python{}, fmt.Errorf("%s does not run (%w): %s", path, err, strings.TrimSpace(complaint.String()))
}

const requirementsFile = "kernels/requirements.txt"

// venvItem returns the Python environment with JupyterLab.
func venvItem(repo checkout, py python) (item, error) {
	pins, err := repo.read(requirementsFile)
	if err != nil {
		return item{}, err
	}
	build := func(ctx context.Context, dir, final string) error {
		title := fmt.Sprintf("making a Python environment from %s (%s)", py.path, py.id)
		if err := step(ctx, title, fromRoot(ctx, py.path, "-m", "venv", dir), counter{}); err != nil {
			return err
		}
		install := pip(ctx, venvPython(dir), "install", "--no-compile", "-r", repo.path(filepath.FromSlash(requirementsFile)))
		if err := step(ctx, "installing JupyterLab (60 MB to download)", install, wheels(pins)); err != nil {
			return err
		}
		// Compiled modules have the path of their source: use the final path.
		compile := fromRoot(ctx, venvPython(dir), "-m", "compileall", "-q", "-j", "0", "-s", dir, "-p", final,
			filepath.Join(dir, "lib"))
		if err := step(ctx, "compiling JupyterLab's modules", compile, counter{}); err != nil && ctx.Err() == nil {
			say("some Python modules were not compiled in advance, which only costs time: %s", lastLine([]byte(err.Error())))
		}
		return relocate(dir, final)
	}
	return item{name: "venv", pins: string(pins) + py.id, build: build}, nil
}

func venvPython(venv string) string { return filepath.Join(venv, "bin", "python") }

// fromRoot returns a command of Python with -m or -c. With these, Python first looks for modules in the working folder.
// The command starts in the root folder, so that a queue.py among the user's files is not imported.
func fromRoot(ctx context.Context, python string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Dir = "/"
	return cmd
}

// pip returns a pip command that only installs packages that a requirements file pins by hash. It accepts no source
// packages, because their build would run code.
func pip(ctx context.Context, python, verb string, args ...string) *exec.Cmd {
	args = append([]string{"-m", "pip", verb, "--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check",
		"--no-input", "--progress-bar", "off"}, args...)
	return fromRoot(ctx, python, args...)
}

// pinned matches the first line of a package in a requirements file.
var pinned = regexp.MustCompile(`(?m)^[A-Za-z0-9][^#\n]*==`)

// wheels counts the packages of a requirements file that pip collects.
func wheels(pins []byte) counter {
	total := len(pinned.FindAll(pins, -1))
	if total < 2 {
		return counter{} // pip's latest line says more: the size of the only package.
	}
	return counter{"packages", total, each("Collecting ", "Ignoring ")}
}

// relocate replaces the folder's old name by the new name in a virtual environment's scripts and settings.
func relocate(dir, final string) error {
	change := func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(dir)) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(text, []byte(dir), []byte(final)), info.Mode())
	}
	if err := filepath.WalkDir(filepath.Join(dir, "bin"), change); err != nil {
		return err
	}
	config := filepath.Join(dir, "pyvenv.cfg")
	info, err := os.Stat(config)
	if err != nil {
		return err
	}
	return change(config, fs.FileInfoToDirEntry(info), nil)
}

func lastLine(out []byte) string {
	var t tail.Buffer
	t.Write(out)
	return t.Line()
}
