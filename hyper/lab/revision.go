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

// archived is the commit in sources that git exported or an image was made of, and a placeholder in a checkout.
//
//go:embed revision.txt
var archived string

// revision tells which sources of this module the program was built from, and whether they had changes that are in no
// commit. The first that knows says it: what Go wrote into the program; the version at which another module requires
// this one; revision.txt; the checkout with the sources, as long as none of them is newer than the program. Else it is
// [Unknown]. It is certain when the program itself says it, whatever becomes of the sources.
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
	return Unknown, false, false
}

// sources is the folder of this module that the program was compiled from, or "" when that is gone or may have changed.
var sources = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0) // ROOT/hyper/lab/revision.go
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if program, err := os.Executable(); err != nil || !isFresh(root, program) {
		return ""
	}
	return root
})

// required is the version of a dependency, with the path of what replaces it: from what Go wrote into the program,
// which is nothing in tests; else from the sources' go.mod.
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
	return Unknown
}

// version is a module's, with the path of what replaces it.
func version(m *debug.Module) string {
	if m.Replace != nil {
		return m.Replace.Path + "@" + m.Replace.Version
	}
	return m.Version
}

// stamped is the revision in what Go wrote into a program, or "". The commit there is of the program's own module.
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

// released is the version of a module that came from a release, or "" for one in a folder.
func released(m *debug.Module) string {
	switch {
	case m.Replace != nil && strings.HasPrefix(m.Replace.Version, "v"):
		return version(m)
	case m.Replace == nil && strings.HasPrefix(m.Version, "v"):
		return m.Version
	}
	return ""
}

// isCommit tells whether a text is the hash of a commit, and no placeholder.
func isCommit(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) >= 20
}

// isFresh tells whether the sources that decide results, in the module's folder, are no newer than the program.
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
// results differ from it. It is "" when the folder is not the top of a working tree, or git is not there.
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
	for line := range strings.Lines(changes) { // two letters, a blank and the path
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

// git runs git in a folder, for seconds at most. It writes nothing, and ignores a repository named by the environment.
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

// buildHash is that of the program's file, or "" where it cannot be read.
func buildHash() string {
	f, err := os.Open("/proc/self/exe") // also when the file was replaced meanwhile
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
