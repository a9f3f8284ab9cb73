package layer

import (
	"fmt"
	"slices"
	"strings"
)

// own carries out the special lines that the kernel handles itself, and removes them from a cell.
func (k *kernel) own(x *exchange, c *cell) *fault {
	say := func(text string) {
		if !x.silent {
			k.publish(x.request, "stream", map[string]string{"name": "stdout", "text": text})
		}
	}
	for i, line := range c.commands {
		words := strings.Fields(strings.TrimPrefix(line, "%"))
		if len(line) < 2 || line[0] != '%' || len(words) == 0 {
			continue
		}
		switch word := words[0]; word {
		case "ls", "list":
			say(k.memory.list())
		case "rm", "remove":
			if missing := k.memory.remove(words[1:]); len(missing) > 0 {
				return newFault("Error", "no cell declares "+strings.Join(missing, ", ")+": %ls lists what they declare")
			}
		case "help":
			say(help)
		case "with_inputs": // All programs can ask for input.
		case "reset":
			if len(words) == 1 {
				k.memory = memory{}
				say("All declarations are removed.\n")
			}
			c.commands[i] = "%reset go.mod"
			continue
		case "test":
			if len(words) == 1 {
				c.commands[i] = "%test " + strings.Join(c.testArguments(), " ")
			}
			continue
		case "with_password":
			x.ask(true) // GoNB asks.
			continue
		case KeptVerb, HyperVerb:
			continue
		default:
			if !slices.Contains(magics, "%"+word) {
				return newFault("Error", fmt.Sprintf("unknown line %%%s in line %d: %%help lists what there is", word, i+1))
			}
			continue
		}
		c.commands[i] = ""
	}
	return nil
}

// testArguments returns the arguments of a test program that run the tests and benchmarks of a cell.
func (c cell) testArguments() []string {
	args := []string{"-test.v"}
	var names []string
	bench := false
	for _, d := range c.decls {
		name := d.Names[0]
		isBench := strings.HasPrefix(name, "Benchmark") && strings.Contains(d.Text, "func Benchmark")
		isTest := strings.HasPrefix(name, "Test") && name != "TestMain" && strings.Contains(d.Text, "func Test")
		if isBench || isTest {
			names = append(names, "^"+name+"$")
		}
		bench = bench || isBench
	}
	if bench {
		args = append(args, "-test.bench=.")
	}
	if len(names) > 0 {
		args = append(args, "-test.run="+strings.Join(names, "|"))
	}
	return args
}

const help = `A cell is a Go program. It can use all declarations of earlier cells: functions, types, constants, variables
and imports. If several cells declare a name, the cell that runs last wins. Values end with a cell; notebook.Keep keeps
values that take long to compute.

A cell that only has statements runs them, and shows the value of its last expression. In a cell that also has
declarations, a line %% must separate the declarations from the statements.

  %% [ARGUMENT...]       the statements that follow are the program; package flag reads the arguments
  %exec FUNCTION [ARG..] the program calls the function
  %test [FLAG...]        runs the tests and benchmarks of the cell
  %ls, %rm NAME..., %reset   lists, removes and forgets declarations
  %kept [--remove NAME]  lists and removes the values that notebook.Keep has kept
  %hyper COMMAND...      the hyper command
  %env NAME VALUE, %cd FOLDER, %goflags FLAG..., %capture FILE, %track FOLDER, %version
  %with_password         the next ! command may ask for a password
  !COMMAND               a command of the shell; !*COMMAND in the folder of the program, such as !*go get PACKAGE
  %%bash, %%sh, %%script PROGRAM, %%writefile FILE   as the first line: the rest of the cell is not Go

Tab completes, Shift-Tab shows documentation.
`
