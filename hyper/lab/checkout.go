package lab

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

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
