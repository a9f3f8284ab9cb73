// Package project has the templates of `kernels new`, and tests the projects that are made from them.
package project

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// goIn runs the go command in a folder and returns its output.
func goIn(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s failed: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

const modulePath = "github.com/hypermodels/hypermodels"

// A new project's tests pass, and its notebook runs, with the commands of its README.
func TestNewProject(t *testing.T) {
	if testing.Short() {
		t.Skip("needs what `kernels setup` installs")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "My shop-2")
	goIn(t, checkout(t), nil, "run", "./kernels", "new", dir, "--module", "example.com/shops/my-shop.v2")
	goIn(t, dir, nil, "test", "./...")
	if out := goIn(t, dir, nil, "tool", "kernels", "run"); !strings.Contains(out, "ok   explore.ipynb") {
		t.Errorf("run did not execute the notebook:\n%s", out)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("folders left: %v, want one", left)
	}
}

// A new project has hyper as a tool, and may import the agent's log. This holds before and after `go mod tidy`, and if
// the tool has been removed and is added again by editing go.mod or by `go get`. It needs no modules outside the module
// cache.
func TestToolsOfNewProject(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the hyper command in a module of its own")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shop")
	goIn(t, checkout(t), nil, "run", "./kernels", "new", dir)
	works := func() {
		t.Helper()
		goIn(t, dir, nil, "build", "./...")
		if out := goIn(t, dir, nil, "tool", "hyper", "list", "parts"); !strings.Contains(out, "bayesian-linear") {
			t.Errorf("go tool hyper list printed\n%s", out)
		}
	}
	write(t, filepath.Join(dir, "log.go"), `package shop

import (
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
)

// OpenAgent returns the agent in a folder, which loses no data.
func OpenAgent(dir string, items int) (*agent.Agent, error) {
	log, err := durable.Open(filepath.Join(dir, "log"), durable.Options{})
	if err != nil {
		return nil, err
	}
	return agent.Open(agent.Config{}.Arms(items), filepath.Join(dir, "file"), log)
}
`)
	works()
	goIn(t, dir, nil, "mod", "tidy")
	works()
	files := func() string {
		text := ""
		for _, name := range []string{"go.mod", "go.sum"} {
			one := must.M1(os.ReadFile(filepath.Join(dir, name)))
			text += string(one)
		}
		return text
	}
	tidied, hyper, offline := files(), modulePath+"/hyper/cmd/hyper", []string{"GOPROXY=off", "GOSUMDB=off"}
	for _, add := range [][]string{{"mod", "edit", "-tool=" + hyper}, {"get", "-tool", hyper}} {
		goIn(t, dir, offline, "mod", "edit", "-droptool="+hyper)
		goIn(t, dir, offline, "mod", "tidy")
		if less := files(); len(less) >= len(tidied) {
			t.Errorf("the number of modules is the same without the tool:\n%s", less)
		}
		goIn(t, dir, offline, add...)
		goIn(t, dir, offline, "mod", "tidy")
		if again := files(); again != tidied {
			t.Errorf("go %s and go mod tidy gave\n%s\nwant\n%s", strings.Join(add, " "), again, tidied)
		}
	}
}

// A release needs no checkout: it makes a project, installs its kernel, and runs a notebook with itself. The release is
// this checkout, packed like a module of Go's proxies. The notebook imports little, because its packages are compiled
// for this test alone; `new` has found the other packages of the project.
func TestReleaseNeedsNoCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("needs what `kernels setup` installs")
	}
	t.Parallel()
	// One version for each checkout: go compiles its unchanged packages once.
	hash := fnv.New64a()
	hash.Write([]byte(checkout(t)))
	version := fmt.Sprintf("v0.0.0-test.x%x", hash.Sum64())
	// Go keeps an index of a version's files, which would lack the files that the checkout has got since.
	env := append(release(t, version), "GONOSUMDB="+modulePath, "GOFLAGS=-modcacherw", "GODEBUG=goindex=0")
	outside := t.TempDir()
	goIn(t, outside, env, "run", modulePath+"/kernels@"+version, "new", "shop")
	dir := filepath.Join(outside, "shop")
	if mod, _ := os.ReadFile(filepath.Join(dir, "go.mod")); strings.Contains(string(mod), "replace") ||
		!strings.Contains(string(mod), version) {
		t.Errorf("go.mod must require only version %s:\n%s", version, mod)
	}
	write(t, filepath.Join(dir, "version.ipynb"), `{"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [
		{"cell_type": "code", "source": "fmt.Println(hyper.Version)", "metadata": {}, "outputs": [], "execution_count": null}]}`)
	if out := goIn(t, dir, env, "tool", "kernels", "run", "version.ipynb"); !strings.Contains(out, "ok   version.ipynb") {
		t.Errorf("run did not execute the notebook:\n%s", out)
	}

	// The kernel for the user's own Jupyter, with notebooks in any folder.
	prefix := t.TempDir()
	goIn(t, outside, env, "run", modulePath+"/kernels@"+version, "install", "--prefix", prefix)
	script := filepath.Join(t.TempDir(), "own.py")
	write(t, script, ownJupyter)
	if out := goIn(t, dir, env, "tool", "kernels", "python", "--", script, prefix, outside); !strings.Contains(out, "version 0.") {
		t.Errorf("the installed kernel did not run a cell:\n%s", out)
	}
	goIn(t, outside, env, "run", modulePath+"/kernels@"+version, "uninstall", "--prefix", prefix)
	if left, _ := filepath.Glob(filepath.Join(prefix, "share", "jupyter", "kernels", "*")); len(left) > 0 {
		t.Errorf("kernels left: %v, want none", left)
	}
}

// ownJupyter runs a Jupyter that only knows the kernel of this project below a prefix.
const ownJupyter = `
import os, sys
prefix, folder = sys.argv[1:]
for name in list(os.environ):
    if name.startswith(("JUPYTER", "HYPERMODELS_KERNELS")):
        del os.environ[name]
os.environ["JUPYTER_PATH"] = os.path.join(prefix, "share", "jupyter")
from jupyter_client.manager import start_new_kernel
km, kc = start_new_kernel(kernel_name="go-hypermodels", startup_timeout=120, cwd=folder)
try:
    reply = kc.execute_interactive('%%\nfmt.Println("version", hyper.Version)', timeout=120)
    assert reply["content"]["status"] == "ok", reply["content"]
finally:
    kc.stop_channels()
    km.shutdown_kernel()
`

// release offers the checkout's files, as listed by git, as a version of this module. It returns variables with which
// the go command finds the version. The files that the go command stores are removed at the end.
func release(t *testing.T, version string) []string {
	t.Helper()
	repo, proxy := checkout(t), t.TempDir()
	folder := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	must.M(os.MkdirAll(folder, 0o755))
	mod := must.M1(os.ReadFile(filepath.Join(repo, "go.mod")))
	write(t, filepath.Join(folder, "list"), version+"\n")
	write(t, filepath.Join(folder, version+".mod"), string(mod))
	write(t, filepath.Join(folder, version+".info"), fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`,
		version))
	f := must.M1(os.Create(filepath.Join(folder, version+".zip")))
	must.M(errors.Join(pack(f, repo, modulePath+"@"+version+"/"), f.Close()))
	cache := strings.TrimSpace(goIn(t, repo, nil, "env", "GOMODCACHE"))
	forget := func() {
		os.RemoveAll(filepath.Join(cache, filepath.FromSlash(modulePath)+"@"+version))
		kept, _ := filepath.Glob(filepath.Join(cache, "cache", "download", filepath.FromSlash(modulePath), "@v", version+"*"))
		for _, file := range kept {
			os.Remove(file)
		}
	}
	forget() // what a test that was killed has left
	t.Cleanup(forget)
	others := strings.TrimSpace(goIn(t, repo, nil, "env", "GOPROXY"))
	return []string{"GOPROXY=file://" + filepath.ToSlash(proxy) + "," + others}
}

// pack writes the checkout's files into an archive.
func pack(f *os.File, repo, prefix string) error {
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = repo
	names, err := list.Output()
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSpace(name)
		data, err := os.ReadFile(filepath.Join(repo, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		entry, err2 := w.Create(prefix + name)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return w.Close()
}

func checkout(t *testing.T) string {
	t.Helper()
	return must.M1(filepath.Abs(filepath.Join("..", "..")))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.M(os.WriteFile(path, []byte(text), 0o644))
}
