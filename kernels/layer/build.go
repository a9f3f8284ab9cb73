package layer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// RunBuild is the Go command where GoNB compiles the program of a cell, by `go build -o FILE` or `go test -c -o FILE`
// in the program's folder: the first argument is the kernel's folder of plans, the others are Go's. The program is put
// behind a wrapper, which ends up as FILE. Imports that it does not need are taken out, see [prune], and where nothing
// but the cell has changed, the compiler and the linker are run without the Go command, see [plan].
func RunBuild(argv []string) int {
	at := slices.Index(argv, "-o")
	if at < 0 || at+1 >= len(argv) {
		return 2
	}
	program, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	b := builder{program: program, plans: argv[0], args: argv[1:], out: argv[at+1]}
	said, err := b.run()
	os.Stderr.Write(said)
	if err == nil {
		err = b.wrap()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit): // What the Go command says of itself has been written.
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// builder compiles one cell.
type builder struct {
	program string   // this one
	plans   string   // the kernel's folder of plans
	args    []string // Go's
	out     string   // where GoNB expects the program
}

func (b builder) dir() string { return filepath.Dir(b.out) }

// run compiles, and returns what the Go command said.
func (b builder) run() ([]byte, error) {
	os.Remove(b.out) // The wrapper of the cell before.
	for {
		plain := slices.Equal(b.args, []string{"build", "-o", b.out})
		if plain && b.byPlan() == nil {
			return nil, nil
		}
		said, err := b.goBuild(plain)
		if err == nil || !prune(b.dir(), said) {
			return said, err
		}
	}
}

// byPlan compiles without the Go command. An error means that the Go command has to, and has no other meaning.
func (b builder) byPlan() error {
	text, err := os.ReadFile(filepath.Join(b.dir(), "main.go"))
	if err != nil {
		return err
	}
	p, err := readPlan(b.planFile(text))
	if err != nil {
		return err
	}
	return p.carryOut(b.dir(), b.out)
}

// goBuild compiles by the Go command, and makes a plan of what the command does if it may.
func (b builder) goBuild(plain bool) ([]byte, error) {
	args := b.args
	var make *planning
	if text, err := os.ReadFile(filepath.Join(b.dir(), "main.go")); plain && err == nil {
		make = b.beginPlan(text)
	}
	if make != nil {
		args = append([]string{"build", "-toolexec=" + make.toolexec(b.program)}, b.args[1:]...)
	}
	var said bytes.Buffer
	cmd := goCommand(b.dir(), args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, &said
	err := cmd.Run()
	if make != nil {
		make.end(err == nil)
	}
	return said.Bytes(), err
}

// goCommand is the real one.
func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv("HYPERMODELS_GO"), args...)
	cmd.Dir = dir
	return cmd
}

// wrap puts the program behind its wrapper.
func (b builder) wrap() error {
	if err := os.Rename(b.out, b.out+".cell"); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s \"$@\"\n", quote(b.program), CellVerb, quote(b.out+".cell"))
	return os.WriteFile(b.out, []byte(script), 0o700)
}
