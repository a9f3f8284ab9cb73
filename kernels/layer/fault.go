package layer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// fault is why a cell failed, as Jupyter shows it.
type fault struct {
	Name  string   `json:"ename"`
	Value string   `json:"evalue"`
	Trace []string `json:"traceback"`
}

const (
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// newFault is a fault with lines to show below its name and value.
func newFault(name, value string, trace ...string) *fault {
	title := red + name + plain + ": " + value
	return &fault{Name: name, Value: value, Trace: append([]string{title}, trace...)}
}

// sources finds a line of a cell that was executed, by the cell's number.
type sources func(cell, line int) (string, bool)

// place is a line of a cell.
type place struct{ cell, line int }

func (p place) String() string { return fmt.Sprintf("cell [%d], line %d", p.cell, p.line) }

// translate puts cells and lines for positions in main.go. The engine's number of a cell is lower than the kernel's by
// shift.
func translate(text string, shift int) string {
	return annotated.ReplaceAllStringFunc(text, func(found string) string {
		m := annotated.FindStringSubmatch(found)
		cell, _ := strconv.Atoi(m[1])
		line, _ := strconv.Atoi(m[2])
		if line == 0 || cell <= 0 {
			return m[3]
		}
		return place{cell + shift, line}.String()
	})
}

// translated finds places in a translated text.
var translated = regexp.MustCompile(`cell \[(\d+)\], line (\d+)`)

// panicFault makes a fault of the translated text of a panic.
func panicFault(text string, source sources) *fault {
	text = strings.TrimSpace(text)
	head, stack, _ := strings.Cut(text, "\n\ngoroutine ")
	name, value, found := strings.Cut(head, ": ")
	if !found {
		name, value = "panic", head
	}
	var trace []string
	if stack != "" {
		if m := translated.FindString(stack); m != "" {
			trace = append(trace, at(m, source))
		}
		trace = append(trace, "", "goroutine "+stack)
	}
	return newFault(name, strings.TrimSuffix(value, " [recovered]"), trace...)
}

// at shows a place with its source.
func at(where string, source sources) string {
	m := translated.FindStringSubmatch(where)
	cell, _ := strconv.Atoi(m[1])
	line, _ := strconv.Atoi(m[2])
	if text, ok := source(cell, line); ok {
		return fmt.Sprintf("%s:\n    %s", where, strings.TrimSpace(text))
	}
	return where
}

// engineFault makes a fault of GoNB's own: mostly, of what the compiler says.
func engineFault(f fault, shift int, source sources) *fault {
	var trace []string
	first := ""
	for i, line := range strings.Split(f.Value, "\n") {
		m := complaint.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		said := m[3]
		if i < len(f.Trace) {
			said = locate(f.Trace[i], m[3], shift, source)
		}
		if first == "" {
			first, _, _ = strings.Cut(said, "\n")
		}
		trace = append(trace, said)
	}
	switch {
	case len(trace) > 1:
		return newFault("CompileError", fmt.Sprintf("%s (and %d more)", first, len(trace)-1), trace...)
	case len(trace) == 1:
		return newFault("CompileError", first, strings.Split(trace[0], "\n")[1:]...)
	}
	return newFault("Error", strings.TrimSpace(f.Value))
}

// locate puts the cell's line before what the compiler says of it, and the line's text below.
func locate(trace, said string, shift int, source sources) string {
	m := inCell.FindStringSubmatch(trace)
	if m == nil {
		return said
	}
	cell, _ := strconv.Atoi(m[1])
	line, _ := strconv.Atoi(m[2])
	if cell <= 0 || line <= 0 {
		return said
	}
	where := place{cell + shift, line}
	out := fmt.Sprintf("%v: %s", where, said)
	if text, ok := source(where.cell, where.line); ok {
		out += "\n    " + strings.TrimSpace(text)
	}
	return out
}

// statusFault makes a fault of what a wrapper reports, of anything but a panic.
func statusFault(r report, interrupted bool) *fault {
	value := r.status
	if r.command != "" {
		value += ": " + r.command
	}
	switch {
	case interrupted || strings.HasPrefix(r.status, "signal: interrupt"):
		return newFault("Interrupt", "the cell was interrupted")
	case r.kind == CellVerb:
		return newFault("ExitError", value)
	}
	return newFault("CommandError", value)
}
