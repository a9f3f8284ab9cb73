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

// RunBuild replaces the Go command when GoNB compiles the program of a cell, by `go build -o FILE` or `go test -c -o
// FILE` in the program's folder. The first argument is the kernel's folder; the other arguments are Go's. RunBuild
// returns the exit status. If the kernel has written a program of its own, RunBuild compiles that instead of GoNB's
// program, see [builder.cell]. FILE becomes a wrapper around the compiled program.
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
		err = b.wrap(nil, nil)
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
func (b builder) cell(p program) error {
	b.notebook = os.Getenv("GONB_DIR")
	if err := b.join(p, b.notebook); err != nil {
		return err
	}
	b.source = filepath.Join(b.dir(), "main.go")
	if p.Test {
		os.Remove(b.source)
		b.source = filepath.Join(b.dir(), "main_test.go")
	}
	result, places, err := p.build(b)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(b.kernel, builtFile), result); err != nil {
		return err
	}
	if !result.Runs {
		return os.WriteFile(b.out, []byte("#!/bin/sh\nexit 0\n"), 0o700)
	}
	return b.wrap(places, result.Notes)
}

// Names of the files by which the kernel and the build of a cell communicate, in the kernel's folder.
const (
	programFile = "program.json"
	builtFile   = "built.json"
)

// submit writes a program for the next build in the kernel's folder, and removes the result of the build before. If p is
// nil, GoNB's program is compiled.
func submit(dir string, p *program) error {
	file := filepath.Join(dir, programFile)
	if err := errors.Join(lower(file), lower(filepath.Join(dir, builtFile))); err != nil || p == nil {
		return err
	}
	return writeJSON(file, p)
}

// result returns the result of building the submitted program. ok is false if there was no build.
func result(dir string) (b built, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, builtFile))
	return b, err == nil && json.Unmarshal(text, &b) == nil
}

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

// built is the result of building a program.
type built struct {
	Kept       bool           // the declarations are correct and are remembered
	Runs       bool           // there is a program to run
	Aside      map[int]string // why declarations do not compile with the cell, by index in program.Decls
	Complaints []complaint    // about the cell
	Notes      []string       // messages to the user, shown first
}

// compiler compiles the file of a program.
type compiler interface {
	// find returns the imports that the file needs, as they are written in a file.
	find(text string) ([]string, error)
	// compile returns the error output of the Go command, and an error if the file does not compile.
	compile(text string) ([]byte, error)
}

// build compiles the largest part of a program that compiles: it leaves out declarations of earlier cells that do not
// compile with the cell. It returns the place of each line of the compiled file. An error of the cell is a complaint of
// the result; the error that build returns is of another kind.
func (p program) build(with compiler) (built, []place, error) {
	c := choice{without: map[int]bool{}, show: p.Body.To > 0}
	aside := map[int]string{}
	for i, d := range p.Decls {
		if d.Aside != "" && !d.Back {
			c.without[i], aside[i] = true, d.Aside
		}
	}
	idle := map[int]bool{} // imports that this program does not need; goimports does not recognise them
	for {
		own := choice{without: union(c.without, idle), show: c.show, unused: c.unused}
		needed, err := with.find(p.compose(own).text)
		if err != nil {
			return built{}, nil, err
		}
		found, more := p.imports(own, needed)
		own.without, own.imports = union(own.without, more), found
		file := p.compose(own)
		said, err := with.compile(file.text)
		if err == nil {
			return p.noted(built{Kept: true, Runs: true, Aside: aside}), file.places, nil
		}
		r := p.judge(file, string(said))
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
		return p.noted(built{Kept: !r.own, Aside: aside, Complaints: r.complaints}), file.places, nil
	}
}

// noted returns a result with messages to the user about it.
func (p program) noted(b built) built {
	b.Notes = p.notes(b)
	return b
}

func union(a, b map[int]bool) map[int]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// compile compiles a file. If it fails for a reason other than a compiler error, the output is the text of that error.
func (b builder) compile(text string) ([]byte, error) {
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

// ruling is the interpretation of a compiler's error output.
type ruling struct {
	complaints []complaint    // about the cell
	own        bool           // a complaint is about a declaration of the cell itself, or about an unknown place
	aside      map[int]string // why declarations of earlier cells do not compile, by index
	unused     []int          // imports that are not needed
	noValue    bool           // the last expression has no value to show
	idle       []string       // variables of a bare body that are not used
}

// tooMany is the last line of the compiler's output if there are more errors.
const tooMany = "too many errors"

// Patterns of the compiler's error output: a line about a position, and kinds of errors.
var (
	aboutLine = regexp.MustCompile(`^(?:\S*/)?main(?:_test)?\.go:(\d+)(?::\d+)?: (.*)$`)
	notUsed   = regexp.MustCompile(`imported (?:as \S+ )?and not used`)
	idleName  = regexp.MustCompile(`^declared and not used: (\w+)$`)
	notAValue = regexp.MustCompile(`\(no value\) used as value|is not an expression|used as value|multiple-value`)
)

// judge interprets the compiler's error output.
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

// wrap moves the program behind a wrapper. Files next to the program tell the wrapper, for each line of the program,
// the cell and the line that it comes from, and which notes to show first.
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

// running is what the wrapper of a cell's program reads about the program.
type running struct {
	Lines [][2]int // the cell, and the line of the cell, for each line of the file
	Notes []string
}
