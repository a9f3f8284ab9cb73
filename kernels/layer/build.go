package layer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RunBuild is the Go command where GoNB compiles the program of a cell, by `go build -o FILE` or `go test -c -o FILE`
// in the program's folder: the first argument is the kernel's folder of plans, the others are Go's. Where the kernel has
// left a program of its own, that is compiled in place of GoNB's, see [builder.cell]. The program is put behind a
// wrapper, which ends up as FILE. Where nothing but the cell has changed, the compiler and the linker are run without
// the Go command, see [plan].
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
	if p, err := readProgram(filepath.Dir(b.plans)); err == nil {
		if err := b.cell(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	said, err := b.run()
	os.Stderr.Write(said)
	if err == nil {
		err = b.wrap(nil, nil)
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

// cell compiles the program that the kernel has left for GoNB's. What came of it is left for the kernel, and GoNB gets
// something to run in each case, so that the kernel alone speaks of what does not compile.
func (b builder) cell(p program) error {
	dir := filepath.Dir(b.plans)
	if err := b.join(p, os.Getenv("GONB_DIR")); err != nil {
		return err
	}
	result, text, err := b.compile(p, os.Getenv("GONB_DIR"))
	if err != nil {
		return err
	}
	result.Notes = p.notes(result)
	if err := writeJSON(filepath.Join(dir, builtFile), result); err != nil {
		return err
	}
	if !result.Runs {
		return os.WriteFile(b.out, []byte("#!/bin/sh\nexit 0\n"), 0o700)
	}
	return b.wrap(text.places, result.Notes)
}

// Files by which the kernel and the build of a cell speak, in the kernel's folder.
const (
	programFile = "program.json"
	builtFile   = "built.json"
)

func readProgram(dir string) (p program, err error) {
	text, err := os.ReadFile(filepath.Join(dir, programFile))
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

func writeJSON(file string, v any) error { return os.WriteFile(file, mustJSON(v), 0o600) }

// builder compiles one cell.
type builder struct {
	program string   // this one
	plans   string   // the kernel's folder of plans
	args    []string // Go's
	out     string   // where GoNB expects the program
}

func (b builder) dir() string { return filepath.Dir(b.out) }

// run compiles a program that GoNB has made, and returns what the Go command said.
func (b builder) run() ([]byte, error) {
	os.Remove(b.out) // The wrapper of the cell before.
	plain := slices.Equal(b.args, []string{"build", "-o", b.out})
	if plain && b.byPlan() == nil {
		return nil, nil
	}
	return b.goBuild(plain)
}

// built is what came of the build of a program.
type built struct {
	Kept       bool           // the declarations are right: they are kept
	Runs       bool           // there is a program to run
	Aside      map[int]string // declarations that do not compile with the cell, and why
	Complaints []complaint    // about the cell
	Notes      []string       // for the user, before anything else
}

// compile compiles the program of a cell.
func (b builder) compile(p program, dir string) (built, composition, error) {
	file := filepath.Join(b.dir(), "main.go")
	if p.Test {
		os.Remove(file)
		file = filepath.Join(b.dir(), "main_test.go")
	}
	return p.settle(func(c choice) ([]string, map[int]bool, error) { return b.find(p, c, file) },
		func(text string) ([]byte, error) { return b.attempt(file, text, dir) })
}

// settle finds the program that compiles. A declaration of an earlier cell that does not compile with it is left out.
// imports says which imports a choice lacks, and which it does not need; try compiles a text, and returns what the
// compiler said.
func (p program) settle(imports func(choice) ([]string, map[int]bool, error), try func(string) ([]byte, error)) (
	built, composition, error) {
	c := choice{without: map[int]bool{}, show: p.Body.To > 0}
	aside := map[int]string{}
	for i, d := range p.Decls {
		if d.Aside != "" && !d.Back {
			c.without[i], aside[i] = true, d.Aside
		}
	}
	idle := map[int]bool{} // imports that this program does not need, and that goimports does not know of
	for {
		own := choice{without: union(c.without, idle), show: c.show, unused: c.unused}
		found, more, err := imports(own)
		if err != nil {
			return built{}, composition{}, err
		}
		own.without, own.imports = union(own.without, more), found
		text := p.compose(own)
		said, err := try(text.text)
		if err == nil {
			return built{Kept: true, Runs: true, Aside: aside}, text, nil
		}
		r := p.judge(text, string(said))
		again := c.show && r.noValue || len(r.idle)+len(r.unused)+len(r.aside) > 0
		c.show, c.unused = c.show && !r.noValue, append(c.unused, r.idle...)
		for _, i := range r.unused {
			idle[i] = true
		}
		for i, why := range r.aside {
			c.without[i], aside[i] = true, why
			if was := p.Decls[i].Aside; was != "" {
				aside[i] = was
			}
		}
		if again {
			continue
		}
		if len(r.complaints) == 0 {
			r.complaints, r.own = []complaint{{Text: strings.TrimSpace(string(said))}}, true
		}
		return built{Kept: !r.own, Aside: aside, Complaints: r.complaints}, text, nil
	}
}

func union(a, b map[int]bool) map[int]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// attempt compiles a file. An error that is none of compilation is told as what the Go command said.
func (b builder) attempt(file, text, dir string) ([]byte, error) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return []byte(err.Error()), err
	}
	undo, err := b.embed(text, dir)
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

// ruling is what the compiler's words mean for a program.
type ruling struct {
	complaints []complaint    // about the cell
	own        bool           // one of them is about a declaration of the cell's own, or nobody knows of what
	aside      map[int]string // declarations of earlier cells that do not compile
	unused     []int          // imports that are not needed
	noValue    bool           // the last expression has no value to show
	idle       []string       // variables of a bare body that nothing uses
}

// tooMany is the last of the compiler's words where there are more.
const tooMany = "too many errors"

// The compiler's words: a line about a place, and some kinds of it.
var (
	aboutLine = regexp.MustCompile(`^(?:\S*/)?main(?:_test)?\.go:(\d+)(?::\d+)?: (.*)$`)
	notUsed   = regexp.MustCompile(`imported (?:as \S+ )?and not used`)
	idleName  = regexp.MustCompile(`^declared and not used: (\w+)$`)
	notAValue = regexp.MustCompile(`\(no value\) used as value|is not an expression|used as value|multiple-value`)
)

// judge reads the compiler's words.
func (p program) judge(c composition, said string) (r ruling) {
	r.aside = map[int]string{}
	var last *complaint
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		m := aboutLine.FindStringSubmatch(line)
		if m == nil {
			if last != nil && strings.HasPrefix(line, "\t") {
				last.Text += "\n" + line
			} else if line != "" && !strings.HasPrefix(line, "# ") && line != tooMany {
				r.complaints, r.own = append(r.complaints, complaint{Text: line}), true
			}
			continue
		}
		last = nil
		number, _ := strconv.Atoi(m[1])
		at, i := c.at(number)
		switch text := m[2]; {
		case text == tooMany:
		case i >= 0 && p.Decls[i].Spec != "" && notUsed.MatchString(text):
			r.unused = append(r.unused, i)
		case i >= 0 && i < p.Own:
			if r.aside[i] == "" {
				r.aside[i] = text
			}
		default:
			if m := idleName.FindStringSubmatch(text); m != nil && i < 0 && p.Body.Bare && slices.Contains(p.Body.Short, m[1]) {
				r.idle = append(r.idle, m[1])
				continue
			}
			r.noValue = r.noValue || i < 0 && notAValue.MatchString(text)
			r.complaints = append(r.complaints, complaint{at.cell, at.line, text})
			last, r.own = &r.complaints[len(r.complaints)-1], r.own || i >= 0 || at.cell == 0
		}
	}
	return r
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

// wrap puts the program behind its wrapper, which finds the places of the program's lines, and what to tell the user
// first, in files beside it.
func (b builder) wrap(places []place, notes []string) error {
	lines := make([][2]int, len(places))
	for i, p := range places {
		lines[i] = [2]int{p.cell, p.line}
	}
	if err := errors.Join(os.Rename(b.out, b.out+".cell"), writeJSON(b.out+".cell.run", running{lines, notes})); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s \"$@\"\n", quote(b.program), CellVerb, quote(b.out+".cell"))
	return os.WriteFile(b.out, []byte(script), 0o700)
}

// running is what the wrapper of a cell's program knows of it.
type running struct {
	Lines [][2]int // of each line of its file the cell, and the line there
	Notes []string
}
