package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// someCommit is the hash of a commit.
const someCommit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// What Go wrote into a program names this module's commit only if the program belongs to this module. Otherwise the
// version that the program requires is used.
func TestStampedRevision(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: someCommit}, {Key: "vcs.modified", Value: "true"}}
	module := func(path, version string) *debug.Module { return &debug.Module{Path: path, Version: version} }
	replaced := func(path, version string) *debug.Module {
		return &debug.Module{Path: modulePath, Version: "v1.0.0", Replace: module(path, version)}
	}
	for name, c := range map[string]struct {
		info     debug.BuildInfo
		want     string
		modified bool
	}{
		"built in the checkout": {debug.BuildInfo{Main: *module(modulePath, "(devel)"), Settings: vcs}, someCommit,
			true},
		"built without a stamp": {debug.BuildInfo{Main: *module(modulePath, "(devel)")}, "", false},
		"installed":             {debug.BuildInfo{Main: *module(modulePath, "v1.2.3")}, "v1.2.3", false},
		"required": {debug.BuildInfo{Main: *module("example.com/a", "(devel)"), Settings: vcs,
			Deps: []*debug.Module{module(modulePath, "v1.2.3")}}, "v1.2.3", false},
		"replaced by a folder": {debug.BuildInfo{Main: *module("example.com/a", ""), Settings: vcs,
			Deps: []*debug.Module{replaced("../hypermodels", "")}}, "", false},
		"replaced by a fork": {debug.BuildInfo{Main: *module("example.com/a", ""),
			Deps: []*debug.Module{replaced("example.com/fork", "v2.0.0")}}, "example.com/fork@v2.0.0", false},
		"a cell, in a workspace": {debug.BuildInfo{Main: *module("gonb_1", "(devel)"), Settings: vcs,
			Deps: []*debug.Module{module(modulePath, "(devel)")}}, "", false},
		"a program that lacks it": {debug.BuildInfo{Main: *module("example.com/a", ""), Settings: vcs}, "",
			false},
		"of a test, which says nothing": {debug.BuildInfo{}, "", false},
	} {
		if got, modified := stamped(&c.info); got != c.want || modified != c.modified {
			t.Errorf("%s: %q, modified %v, want %q, %v", name, got, modified, c.want, c.modified)
		}
	}
}

// A checkout's commit is the commit of git. It is modified if sources that decide results are modified. A program that
// is older than a source does not report a commit.
func TestCheckedOutRevision(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		must.M(saved.WriteFile(filepath.Join(root, path), []byte(text)))
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := git(root, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c",
			"commit.gpgsign=false"}, args...)...)
		if err != nil {
			t.Fatal(args, err)
		}
		return out
	}
	for path, text := range map[string]string{"go.mod": "module a", "go.sum": "", "hyper/a.go": "package a",
		"hyper/a_test.go": "package a", "notebooks/a.ipynb": "{}"} {
		write(path, text)
	}
	if name, _ := checkedOut(root); name != "" {
		t.Errorf("a folder without a repository has revision %q", name)
	}
	run("init", "-q")
	run("add", "-A")
	run("commit", "-q", "-m", "a")
	head := run("rev-parse", "HEAD")
	t.Setenv("GIT_DIR", "/nowhere") // as in a hook
	check := func(what string, want bool) {
		t.Helper()
		if name, modified := checkedOut(root); name != head || modified != want {
			t.Errorf("%s: %q, modified %v, want %q, %v", what, name, modified, head, want)
		}
	}
	check("clean", false)
	write("notebooks/a.ipynb", "{1}")
	write("hyper/a_test.go", "package a // changed")
	write("hyper/new_test.go", "package a")
	check("a notebook and tests", false)
	write("hyper/dir/b.go", "package b")
	check("a new source", true)
	must.M(os.RemoveAll(filepath.Join(root, "hyper", "dir")))
	write("go.sum", "x")
	check("other dependencies", true)
	write("go.sum", "")
	check("clean again", false)
	must.M(os.Remove(filepath.Join(root, "hyper", "a.go")))
	check("a source less", true)
	write("hyper/a.go", "package a")
	if name, _ := checkedOut(filepath.Join(root, "hyper")); name != "" {
		t.Errorf("a folder in another repository has revision %q", name)
	}

	program := filepath.Join(t.TempDir(), "program")
	must.M(os.WriteFile(program, nil, 0o600))
	later := func(path string, by time.Duration) {
		t.Helper()
		at := time.Now().Add(by)
		must.M(os.Chtimes(path, at, at))
	}
	later(program, time.Hour)
	later(filepath.Join(root, "hyper", "a_test.go"), 2*time.Hour)
	if !isFresh(root, program) {
		t.Error("a program built after its sources is not fresh")
	}
	later(filepath.Join(root, "hyper", "a.go"), 2*time.Hour)
	if isFresh(root, program) || isFresh(filepath.Join(root, "hyper"), program) ||
		isFresh(root, filepath.Join(root, "none")) {
		t.Error("a program that is older than a source, has no sources, or does not exist is fresh")
	}
}

// revision.txt is a placeholder in a checkout. git replaces the placeholder in exported sources.
func TestArchivedRevision(t *testing.T) {
	if text := strings.TrimSpace(archived); text != "$Format:%H$" && !isCommit(text) {
		t.Errorf("revision.txt has %q", text)
	}
	for text, want := range map[string]bool{someCommit: true, "$Format:%H$": false, "": false, "unknown": false,
		someCommit + "-dirty": false, "abc": false} {
		if isCommit(text) != want {
			t.Errorf("%q is a commit: %v, want %v", text, !want, want)
		}
	}
}
