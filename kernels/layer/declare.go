package layer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/build"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// prepare splits a cell of Go into the lines that GoNB carries out and the program that is compiled instead of GoNB's.
// The program is nil if there is none. prepare also returns the declarations to remember if the program compiles.
func (k *kernel) prepare(x *exchange, code string) (string, *cells.Program, []cells.Decl, *fault) {
	var about struct {
		Deleted []string `json:"deletedCells"`
	}
	_ = json.Unmarshal(x.request.metadata, &about)
	k.memory.Forget(about.Deleted)
	c, wrong := cells.Parse(code)
	for i := range wrong {
		wrong[i].Cell = k.count
	}
	if wrong != nil {
		return "", nil, nil, compileFault(wrong, k.history.line)
	}
	if f := k.carryOut(x, &c); f != nil {
		return "", nil, nil, f
	}
	form := wrapper.RewriteLines(strings.Join(c.SpecialLines, "\n"), k.config.Program)
	if c.Empty && !c.Test {
		return form, nil, nil, nil
	}
	p, all := k.memory.Program(c, k.count, cellOf(x.request))
	switch {
	case c.Wasm:
		return p.CellText(form, c.ProgramLine), nil, nil, nil
	case c.Test:
		return form, &p, all, nil
	case c.ProgramLine == "":
		c.ProgramLine = "%%"
	}
	return form + "\n" + c.ProgramLine + "\n_ = 0", &p, all, nil // GoNB runs nothing if it finds no Go.
}

// lacking matches errors about a name that is not declared, and about a type that lacks a method.
var lacking = regexp.MustCompile(strings.ReplaceAll(`^undefined: (NAME)|\(type \*?(NAME) has no field or method (NAME)`,
	"NAME", `[\p{L}_][\p{L}\p{Nd}_]*`))

// learn reads the result of building a program, and returns the errors of the cell, or nil.
func (k *kernel) learn(x *exchange, p *cells.Program, all []cells.Decl) *fault {
	if p == nil {
		return nil
	}
	b, ok := build.Result(k.config.Dir)
	if !ok {
		return nil // GoNB reports the reason.
	}
	for i, c := range b.Complaints {
		if m := lacking.FindStringSubmatch(c.Text); m != nil {
			name := m[1] // also of a variable of an earlier cell, where a package has its name
			if m[2] != "" {
				name = m[2] + "." + m[3]
			}
			if hint := k.memory.Hint(name); hint != "" {
				b.Complaints[i].Text += "\n" + hint
			}
		}
		if strings.HasSuffix(c.Text, "is not used") && p.Body.At(c.Line) != "" {
			b.Complaints[i].Text += "\nto show a value, print it, or write it last in a cell without a line %%"
		}
	}
	if b.Remember {
		k.memory.Keep(*p, all, b)
	}
	x.mu.Lock()
	interrupted := x.interrupted
	x.mu.Unlock()
	switch {
	case len(b.Complaints) == 0:
		return nil
	case interrupted:
		return newFault("Interrupt", "the cell was interrupted")
	}
	if b.Remember && !x.silent {
		for _, note := range b.Notes {
			k.publish(x.request, "stream", map[string]string{"name": "stderr", "text": note + "\n"})
		}
	}
	return compileFault(b.Complaints, k.history.line)
}

// carryOut carries out the special lines that the kernel handles itself, and removes them from a cell.
func (k *kernel) carryOut(x *exchange, c *cells.Cell) *fault {
	for i, line := range c.SpecialLines {
		words := strings.Fields(strings.TrimPrefix(line, "%"))
		if len(line) < 2 || line[0] != '%' || len(words) == 0 {
			continue
		}
		switch word := words[0]; word {
		case "ls", "list":
			k.say(x, k.memory.List())
		case "rm", "remove":
			if len(words) == 1 {
				return newFault("Error", line+" needs the names of declarations: %ls lists them")
			}
			if missing := k.memory.Remove(words[1:]); len(missing) > 0 {
				return newFault("Error", "no cell declares "+strings.Join(missing, ", ")+": %ls lists what they declare")
			}
		case "help":
			k.say(x, help)
		case "with_inputs": // All programs can ask for input.
		case "reset":
			switch {
			case len(words) == 1:
				k.memory = cells.Memory{}
				k.say(x, "All declarations are removed.\n")
			case words[1] != "go.mod":
				return newFault("Error", "%reset takes no name: %rm removes declarations by name")
			}
			line = "%reset go.mod"
		case "test":
			if len(words) == 1 {
				line = "%test " + strings.Join(c.TestArguments(), " ")
			}
		case "with_password":
			x.ask(true) // GoNB asks.
		default:
			if !slices.Contains(cells.LineMagics, "%"+word) {
				return newFault("Error", fmt.Sprintf("unknown special line %%%s in line %d: %%help lists the special lines",
					word, i+1))
			}
		}
		if slices.Contains(kernelLines, words[0]) {
			line = ""
		}
		c.SpecialLines[i] = line
	}
	return nil
}

// say publishes a text of the kernel as an output of a cell.
func (k *kernel) say(x *exchange, text string) {
	if !x.silent {
		k.publish(x.request, "stream", map[string]string{"name": "stdout", "text": text})
	}
}

// kernelLines lists the special lines that only the kernel carries out.
var kernelLines = []string{"ls", "list", "rm", "remove", "help", "with_inputs"}

const help = `A cell is a Go program. It can use all declarations of earlier cells: functions, types, constants, variables
and imports. If several cells declare a name, the cell that runs last wins. Values end with a cell; cache.Cache keeps
values that take long to compute.

A cell that only has statements runs them, and shows the value of its last expression. In a cell that also has
declarations, a line %% must separate the declarations from the statements.

  %% [ARGUMENT...]       the statements that follow are the program; package flag reads the arguments
  %exec FUNCTION [ARG..] the program calls the function
  %test [FLAG...]        runs the tests, examples and benchmarks of the cell
  %ls, %rm NAME..., %reset   lists, removes and forgets declarations
  %hyper COMMAND...      the hyper command
  %env NAME VALUE, %cd FOLDER, %goflags FLAG..., %capture FILE, %track FOLDER, %version
  %with_password         the next ! command may ask for a password
  !COMMAND               a command of the shell; !*COMMAND in the folder of the program, such as !*go get PACKAGE
  %%bash, %%sh, %%script PROGRAM, %%writefile FILE   as the first line: the rest of the cell is not Go

Tab completes, Shift-Tab shows documentation.
`
