// Package build compiles the programs of cells, in place of GoNB. It finds their imports by goimports, adds the
// notebook's module to their workspace, and copies the files that they embed.
//
// GoNB runs a command named go to compile a cell. It finds a script, see [WriteScripts], which calls [Run] in a new
// process. The kernel hands over a program by [Submit] before, and reads the outcome by [Result] afterwards.
package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// The verbs of this package: see [Run] and [RunImports].
const (
	Verb        = "build"
	ImportsVerb = "imports"
)

// Run replaces the Go command when GoNB compiles the program of a cell, by `go build -o FILE` or `go test -c -o FILE`
// in the program's folder. The first argument is the kernel's folder; the other arguments are Go's. Run returns the
// exit status. If the kernel has submitted a program of its own, Run compiles that instead of GoNB's program. FILE
// becomes a wrapper around the compiled program.
func Run(argv []string) int {
	at := slices.Index(argv, "-o")
	if at < 0 || at+1 >= len(argv) {
		return 2
	}
	program, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	b := builder{program: program, kernel: argv[0], args: argv[1:], out: argv[at+1]}
	if p, err := readProgram(b.kernel); err == nil {
		if err := b.cell(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	said, err := b.run()
	os.Stderr.Write(said)
	if err == nil {
		err = wrapper.Install(b.out, b.program, wrapper.About{})
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit): // The error output of the Go command has been written.
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// cell compiles the program that the kernel has written instead of GoNB's. It writes the result to a file for the
// kernel. GoNB always gets a program to run, so that only the kernel reports errors of compilation.
func (b builder) cell(p cells.Program) error {
	b.notebook = os.Getenv("GONB_DIR")
	if err := b.join(p, b.notebook); err != nil {
		return err
	}
	b.source = filepath.Join(b.dir(), "main.go")
	if p.Test {
		os.Remove(b.source)
		b.source = filepath.Join(b.dir(), "main_test.go")
	}
	result, places, err := p.Build(b)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(b.kernel, builtFile), result); err != nil {
		return err
	}
	if !result.Runs {
		return os.WriteFile(b.out, []byte("#!/bin/sh\nexit 0\n"), 0o700)
	}
	return wrapper.Install(b.out, b.program, wrapper.About{Lines: places, Notes: result.Notes})
}

// Names of the files by which the kernel and the build of a cell communicate, in the kernel's folder.
const (
	programFile = "program.json"
	builtFile   = "built.json"
)

// Submit writes a program for the next build in the kernel's folder, and removes the result of the build before. If p
// is nil, GoNB's program is compiled.
func Submit(dir string, p *cells.Program) error {
	file := filepath.Join(dir, programFile)
	for _, old := range []string{file, filepath.Join(dir, builtFile)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if p == nil {
		return nil
	}
	return writeJSON(file, p)
}

// Result returns the result of building the submitted program. ok is false if there was no build.
func Result(dir string) (b cells.BuildResult, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, builtFile))
	return b, err == nil && json.Unmarshal(text, &b) == nil
}

func readProgram(dir string) (p cells.Program, err error) {
	text, err := os.ReadFile(filepath.Join(dir, programFile))
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

func writeJSON(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// builder compiles one cell.
type builder struct {
	program string   // the program with the verbs
	kernel  string   // the kernel's folder
	args    []string // the arguments of the Go command
	out     string   // where GoNB expects the program

	notebook string // the notebook's folder
	source   string // the file of the program that the kernel has written
}

func (b builder) dir() string { return filepath.Dir(b.out) }

// run compiles the program that GoNB has made, and returns the error output of the Go command.
func (b builder) run() ([]byte, error) {
	os.Remove(b.out) // The wrapper of the previous cell.
	var said bytes.Buffer
	cmd := exec.Command(os.Getenv("HYPERMODELS_GO"), b.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir(), os.Stdout, &said
	err := cmd.Run()
	return said.Bytes(), err
}

// Compile compiles a file. If it fails for a reason other than a compiler error, the output is the text of that error.
func (b builder) Compile(text string) ([]byte, error) {
	if err := os.WriteFile(b.source, []byte(text), 0o600); err != nil {
		return []byte(err.Error()), err
	}
	undo, err := b.embed(text, b.notebook)
	defer undo()
	if err != nil {
		return []byte(err.Error()), err
	}
	said, err := b.run()
	if err != nil && len(said) == 0 {
		said = []byte(err.Error())
	}
	return said, err
}
