package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

const modulePath = "github.com/hypermodels/hypermodels"

// checkout is the root folder of this project's files: a clone of the repository, or a release in Go's module cache.
type checkout string

// module is a Go module that is this project or requires it.
type module struct {
	dir string
	own bool // whether it is this project itself
}

var errNoModule = errors.New("not inside a checkout of " + modulePath + ", nor inside a module that requires it")

// findModule returns the nearest module, in dir or in a folder above it, that is or requires this project.
func findModule(dir string) (module, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return module{}, err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
		if own := strings.Contains(string(text), "module "+modulePath+"\n"); own || strings.Contains(string(text), modulePath+" v") {
			return module{dir, own}, nil
		}
		if dir == filepath.Dir(dir) {
			return module{}, badInput(fmt.Errorf("%s is %w: start it from the repository's folder, or make a project by `kernels new`", start, errNoModule))
		}
	}
}

// files returns this project's files for the module: the module itself, or the version that it requires.
func (m module) files() (checkout, error) {
	if m.own {
		return checkout(m.dir), nil
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	cmd.Dir, cmd.Env = m.dir, goEnv()
	out, err := cmd.Output()
	if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
		return checkout(dir), nil
	}
	return "", badInput(fmt.Errorf("%s requires %s, which is missing: run `go mod download` in it", m.dir, modulePath))
}

// notebooks returns the folder that lab opens, and in which run finds notebooks.
func (m module) notebooks() string {
	if m.own {
		return filepath.Join(m.dir, "notebooks")
	}
	return m.dir
}

// here returns the module around the working folder, and this project's files.
func here() (module, checkout, error) {
	m, err := findModule(".")
	if err != nil {
		return m, "", err
	}
	files, err := m.files()
	return m, files, err
}

// releaseVersion returns the release from which this program was compiled by `go run .../kernels@VERSION`.
func releaseVersion() (version string, ok bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || !strings.HasPrefix(info.Main.Version, "v") {
		return "", false
	}
	return info.Main.Version, true
}

// anywhere is like here. Outside all modules it returns the release from which this program was compiled, in Go's
// module cache.
func anywhere() (module, checkout, error) {
	m, files, err := here()
	version, ok := releaseVersion()
	if err == nil || !errors.Is(err, errNoModule) || !ok {
		return m, files, err
	}
	cmd := exec.Command("go", "mod", "download", "-json", modulePath+"@"+version)
	cmd.Env = goEnv()
	out, err := cmd.Output()
	var release struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &release)
	}
	if err != nil || release.Dir == "" {
		return module{}, "", fmt.Errorf("the files of %s@%s are missing: %w", modulePath, version, err)
	}
	return module{dir: release.Dir, own: true}, checkout(release.Dir), nil
}

// path returns the path of a project file, given relative to the project's root.
func (c checkout) path(parts ...string) string {
	return filepath.Join(append([]string{string(c)}, parts...)...)
}

// read returns the concatenated contents of files.
func (c checkout) read(names ...string) ([]byte, error) {
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(c.path(filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("the checkout is not complete: %w", err)
		}
		all = append(all, data...)
	}
	return all, nil
}
