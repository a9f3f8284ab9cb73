package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer"
)

// hyperCommand is what %hyper runs in a cell: the hyper command of the project that the notebook's cells compile
// against.
func hyperCommand() *cobra.Command {
	return &cobra.Command{
		Use:                layer.HyperVerb + " [ARGUMENT...]",
		Short:              "Run the hyper command in a cell (%hyper)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := hyperProgram(cmd.Context())
			if err != nil {
				return err
			}
			return syscall.Exec(program, append([]string{"hyper"}, args...), os.Environ())
		},
	}
}

// hyperProgram finds the command, or compiles it.
func hyperProgram(ctx context.Context) (string, error) {
	repo := checkout(os.Getenv(checkoutVar)) // The notebook may lie elsewhere.
	if repo == "" {
		var err error
		if _, repo, err = here(); err != nil {
			return "", err
		}
	}
	notebooks, err := notebookDir()
	if err != nil {
		return "", err
	}
	g, err := findGo(ctx)
	if err != nil {
		return "", err
	}
	s, err := openStore()
	if err != nil {
		return "", err
	}
	for _, dir := range []string{repo.around(notebooks), string(repo)} { // A module may lack what the command alone needs.
		var program string
		if program, err = s.program(ctx, g, dir, modulePath+"/hyper/cmd/hyper"); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("the hyper command does not compile: %w", err)
}

// keptPrograms is how many compiled programs the store keeps, the latest: each has tens of megabytes.
const keptPrograms = 3

// program is a program of a module, compiled as cells are. The store keeps it, and it is found again while its sources
// are the same. In a store that is only read, as in an image, what is not there is compiled into the temporary folder.
func (s store) program(ctx context.Context, g goTool, module, pkg string) (string, error) {
	pins, err := g.sources(ctx, module, pkg)
	if err != nil {
		return "", err
	}
	it := item{name: "command", pins: pins, build: func(ctx context.Context, dir, _ string) error {
		_, err := g.inModule(ctx, module, "build", "-o", dir+string(filepath.Separator), pkg)
		return err
	}}
	name := filepath.Base(pkg)
	if s.has(it) {
		return filepath.Join(s.dir(it), name), nil
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return filepath.Join(os.TempDir(), name), it.build(ctx, os.TempDir(), "")
	}
	defer unlock()
	if err := s.ensure(ctx, it); err != nil {
		return "", err
	}
	return filepath.Join(s.dir(it), name), s.keepLatest(it.name+"-*", keptPrograms)
}

// keepLatest removes all but the latest n folders of a pattern.
func (s store) keepLatest(pattern string, n int) error {
	folders, err := filepath.Glob(s.path(pattern))
	if err != nil {
		return err
	}
	made := map[string]int64{}
	for _, f := range folders {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		made[f] = info.ModTime().UnixNano()
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(made[b], made[a]) })
	for _, f := range folders[min(n, len(folders)):] {
		if err := os.RemoveAll(f); err != nil {
			return err
		}
	}
	return nil
}

// inModule runs the Go command in a module's folder as cells are compiled, and returns what it prints.
func (g goTool) inModule(ctx context.Context, module string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir, cmd.Env = module, goEnv("GOFLAGS="+cellFlags())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, said.Bytes())
	}
	return out, nil
}

// sources tells all that a program depends on: Go's settings, the packages of the module cache, in which nothing
// changes, by their versions, and those of local modules by their files.
func (g goTool) sources(ctx context.Context, module, pkg string) (string, error) {
	list, err := g.inModule(ctx, module, "list", "-deps",
		"-json=ImportPath,Dir,Standard,Module,GoFiles,CgoFiles,CFiles,HFiles,SFiles,EmbedFiles", pkg)
	if err != nil {
		return "", err
	}
	pins := &strings.Builder{}
	fmt.Fprintln(pins, g.version, g.settings, cellFlags())
	for d := json.NewDecoder(bytes.NewReader(list)); d.More(); {
		var p struct {
			ImportPath, Dir                                       string
			Standard                                              bool
			GoFiles, CgoFiles, CFiles, HFiles, SFiles, EmbedFiles []string
			Module                                                *goModule
		}
		if err := d.Decode(&p); err != nil {
			return "", err
		}
		if p.Standard || p.Module == nil {
			continue
		}
		version := p.Module.pinned()
		fmt.Fprintln(pins, p.ImportPath, version)
		if version != "" {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.SFiles, p.EmbedFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(pins, "%s %x\n", file, sha256.Sum256(text))
		}
	}
	return pins.String(), nil
}

// goModule is a module as `go list` tells of it.
type goModule struct {
	Path, Version string
	Replace       *goModule
}

// pinned is the module's version in the module cache, "" for a folder of the user's own.
func (m goModule) pinned() string {
	if m.Replace != nil {
		m = *m.Replace
	}
	if m.Version == "" {
		return ""
	}
	return m.Path + "@" + m.Version
}
