package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// goTool is the Go toolchain that builds the kernel's programs and compiles cells.
type goTool struct {
	path    string
	version string // for example go1.26.5
	cache   string // folder of its build cache
	// settings are other variables that affect compilation, except flags.
	settings string
}

func findGo(ctx context.Context) (goTool, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return goTool{}, fmt.Errorf("no go in PATH, which is needed to compile cells: install Go from https://go.dev/dl")
	}
	names := []string{"GOVERSION", "GOCACHE", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "CC", "CGO_ENABLED",
		"CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS"}
	cmd := exec.CommandContext(ctx, path, append([]string{"env", "-json"}, names...)...)
	cmd.Env = goEnv()
	out, err := cmd.Output()
	if err != nil {
		return goTool{}, fmt.Errorf("%s env: %w", path, err)
	}
	env := map[string]string{}
	if err := json.Unmarshal(out, &env); err != nil {
		return goTool{}, fmt.Errorf("%s env: %w", path, err)
	}
	g := goTool{path: path, version: env["GOVERSION"], cache: env["GOCACHE"]}
	for _, name := range names[2:] {
		g.settings += fmt.Sprintf("%s=%q ", name, env[name])
	}
	return g, nil
}

// toolsFile pins kernelPrograms. Its name is not go.mod, because its folder would then be a separate module and not
// part of releases.
const toolsFile = "kernels/tools.mod"

// kernelPrograms lists GoNB, and the programs that it calls for imports and documentation.
var kernelPrograms = []string{
	"github.com/janpfeifer/gonb",
	"golang.org/x/tools/cmd/goimports",
	"golang.org/x/tools/gopls",
}

// toolsItem returns the folder with the kernel's programs.
func toolsItem(repo checkout, g goTool) (item, error) {
	pins, err := repo.read(toolsFile, "kernels/tools.sum")
	if err != nil {
		return item{}, err
	}
	build := func(ctx context.Context, dir, _ string) error {
		env := goEnv("GOFLAGS=-buildvcs=false -trimpath -modfile="+toolsFile, "CGO_ENABLED=0")
		return g.build(ctx, "the Go kernel (GoNB, goimports, gopls)", string(repo), dir, env, kernelPrograms...)
	}
	return item{name: "tools", pins: string(pins) + g.version, build: build}, nil
}

// build downloads the dependencies of packages and compiles the packages in the folder dir. Commands are written to the
// folder to; if to is "", they are not written.
func (g goTool) build(ctx context.Context, what, dir, to string, env []string, packages ...string) error {
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, g.path, append(args, packages...)...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	var list bytes.Buffer
	cmd := run("list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}")
	cmd.Stdout = &list
	modules := counter{unit: "modules", add: each("go: downloading ")}
	if err := step(ctx, "downloading the modules of "+what, cmd, modules); err != nil {
		return err
	}
	args := []string{"build", "-v"}
	if to != "" {
		args = append(args, "-o", to)
	}
	return step(ctx, "compiling "+what, run(args...), compiled(strings.Fields(list.String())))
}

// compiled counts packages that are being compiled: `go build -v` prints each when it begins.
func compiled(packages []string) counter {
	return counter{"packages", len(packages), func(done int, line string) int {
		if slices.Contains(packages, line) {
			done++
		}
		return done
	}}
}

// cellFlags returns GOFLAGS for cells. Linking takes most of a cell's time, and the internal linker without symbol
// tables halves it.
func cellFlags() string {
	if runtime.GOOS == "linux" {
		return "-buildvcs=false '-ldflags=-linkmode=internal -s -w'"
	}
	return "-buildvcs=false '-ldflags=-s -w'"
}
