package lab

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

const modulePath = "github.com/hypermodels/hypermodels"

// archived is a commit if git exported the sources or an image was made from them. In a checkout it is a placeholder.
//
//go:embed revision.txt
var archived string

// revision returns the revision of this module's sources from which the program was built, and whether the sources had
// changes that are in no commit. It uses the first of these sources of information that has an answer: what Go wrote
// into the program; the version at which another module requires this one; revision.txt; the checkout that holds the
// sources, if no source is newer than the program. Otherwise the name is "unknown". certain is true if the program
// itself contains the answer, so that later changes of the sources do not matter.
func revision() (name string, modified, certain bool) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if name, modified = stamped(info); name != "" {
			return name, modified, true
		}
	}
	if commit := strings.TrimSpace(archived); isCommit(commit) {
		return commit, false, true
	}
	if root := sources(); root != "" {
		if name, modified = checkedOut(root); name != "" {
			return name, modified, false
		}
	}
	return unknown, false, false
}

// sources returns the folder of this module from which the program was compiled. It returns "" if the folder is gone or
// may have changed.
var sources = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0) // ROOT/hyper/lab/revision.go
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if program, err := os.Executable(); err != nil || !isFresh(root, program) {
		return ""
	}
	return root
})

// required returns the version of a dependency, with the path of its replacement if it has one. It reads what Go wrote
// into the program, which is nothing in tests, and otherwise the go.mod of the sources. It returns "unknown" if neither
// has the answer.
func required(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path }); at >= 0 {
			return version(info.Deps[at])
		}
	}
	if root := sources(); root != "" {
		text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(words) > 1 && words[0] == path {
				return words[1]
			}
		}
	}
	return unknown
}

// version returns the version of a module, with the path of its replacement if it has one.
func version(m *debug.Module) string {
	if m.Replace != nil {
		return m.Replace.Path + "@" + m.Replace.Version
	}
	return m.Version
}

// stamped returns the revision that Go wrote into a program, or "". The commit that Go records belongs to the program's
// main module.
func stamped(info *debug.BuildInfo) (name string, modified bool) {
	if info.Main.Path == modulePath {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				name = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
		if name == "" {
			name = released(&info.Main)
		}
		return name, modified
	}
	at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == modulePath })
	if at < 0 {
		return "", false
	}
	return released(info.Deps[at]), false
}

// released returns the version of a module that came from a release, or "" for a module in a folder.
func released(m *debug.Module) string {
	switch {
	case m.Replace != nil && strings.HasPrefix(m.Replace.Version, "v"):
		return version(m)
	case m.Replace == nil && strings.HasPrefix(m.Version, "v"):
		return m.Version
	}
	return ""
}

// isCommit reports whether a text is the hash of a commit and not a placeholder.
func isCommit(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) >= 20
}

// isFresh reports whether the program is at least as new as all sources in the module's folder that decide results.
func isFresh(root, program string) bool {
	built, err := os.Stat(program)
	if err != nil {
		return false
	}
	fresh := true
	for _, part := range []string{"go.mod", "go.sum", "hyper"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || part == "hyper" && !isSource(path) {
				return err
			}
			info, err := d.Info()
			fresh = fresh && err == nil && !info.ModTime().After(built.ModTime())
			return err
		})
		fresh = fresh && err == nil
	}
	return fresh
}

func isSource(path string) bool {
	code := slices.Contains([]string{".go", ".c", ".h", ".s"}, filepath.Ext(path))
	return code && !strings.HasSuffix(path, "_test.go")
}

// checkedOut asks git for the commit that is checked out in the module's folder, and whether sources that decide
// results differ from it. The name is "" if the folder is not the top of a working tree, or if git is not installed.
func checkedOut(root string) (name string, modified bool) {
	top, err := git(root, "rev-parse", "--show-toplevel", "HEAD")
	lines := strings.Split(top, "\n")
	if err != nil || len(lines) < 2 || !sameFolder(lines[0], root) || !isCommit(lines[1]) {
		return "", false
	}
	changes, err := git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "--",
		"go.mod", "go.sum", "hyper")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(changes) { // each line is two letters, a space and the path
		path := strings.Trim(strings.TrimSpace(line[min(3, len(line)):]), `"`)
		modified = modified || isSource(path) || path == "go.mod" || path == "go.sum"
	}
	return lines[1], modified
}

func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// git runs git in a folder, for at most 5 seconds. The command must not write to the repository. git ignores a
// repository that the environment names.
func git(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(own, "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), err
}

// buildHash returns the hash of the program's file, or "" if the file cannot be read.
func buildHash() string {
	f, err := os.Open("/proc/self/exe") // works even if the file was replaced in the meantime
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return ""
		}
		if f, err = os.Open(path); err != nil {
			return ""
		}
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
