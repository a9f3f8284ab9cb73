package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// hyperCommand returns the command of %hyper in a cell. It runs the hyper command of the project that the cells import.
func hyperCommand() *cobra.Command {
	return &cobra.Command{
		Use:                cells.HyperVerb + " [ARGUMENT...]",
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

// hyperProgram returns the path of the command, which it compiles if necessary.
func hyperProgram(ctx context.Context) (string, error) {
	repo := checkout(os.Getenv(checkoutVar)) // The notebook may be in another folder.
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
	for _, dir := range []string{repo.around(notebooks), string(repo)} { // A module may lack dependencies.
		var program string
		if program, err = s.program(ctx, g, dir, modulePath+"/hyper/cmd/hyper"); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("the hyper command does not compile: %w", err)
}

// keptPrograms is the number of compiled programs that the store keeps, the latest ones. Each has tens of megabytes.
const keptPrograms = 3

// program returns the path of a module's program, compiled with the settings of cells. The store keeps the program as
// long as its sources do not change. If the store is read-only, as in an image, a missing program is compiled into the
// temporary folder.
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
	all, err := filepath.Glob(s.path(it.name + "-*"))
	slices.SortFunc(all, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, old := range all[min(keptPrograms, len(all)):] {
		err = errors.Join(err, os.RemoveAll(old))
	}
	return filepath.Join(s.dir(it), name), err
}

// modified returns the time at which a file was changed last.
func modified(path string) (at time.Time) {
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	return at
}

// inModule runs the Go command in a module's folder with the settings of cells, and returns its output.
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

// sources returns a text that changes when the program may change. It has Go's settings, the versions of packages in
// the module cache, which do not change, and the hashes of the files of local modules.
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

// goModule is a module in the output of `go list`.
type goModule struct {
	Path, Version string
	Replace       *goModule
}

// pinned returns the module's version in the module cache, or "" for a local folder.
func (m goModule) pinned() string {
	if m.Replace != nil {
		m = *m.Replace
	}
	if m.Version == "" {
		return ""
	}
	return m.Path + "@" + m.Version
}
