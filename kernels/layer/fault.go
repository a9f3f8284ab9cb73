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

// show is a place in a traceback, with its source below. VS Code makes a link of its line, which must look as IPython's
// does and have nothing else.
func (p place) show(source sources) string {
	out := fmt.Sprintf("Cell In[%d], line %d", p.cell, p.line)
	if text, ok := source(p.cell, p.line); ok {
		out += "\n    " + strings.TrimSpace(text)
	}
	return out
}

// translate puts cells and lines for positions in main.go. The engine's number of a cell is lower than the kernel's by
// shift.
func translate(text string, shift int) string {
	return annotated.ReplaceAllStringFunc(text, func(found string) string {
		m := annotated.FindStringSubmatch(found)
		p := newPlace(m[1], m[2])
		if p.line == 0 || p.cell <= 0 {
			return m[3]
		}
		p.cell += shift
		return p.String()
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
		if m := translated.FindStringSubmatch(stack); m != nil {
			trace = append(trace, newPlace(m[1], m[2]).show(source))
		}
		trace = append(trace, "", "goroutine "+stack)
	}
	return newFault(name, strings.TrimSuffix(value, " [recovered]"), trace...)
}

// newPlace is a place by digits.
func newPlace(cell, line string) (p place) {
	p.cell, _ = strconv.Atoi(cell)
	p.line, _ = strconv.Atoi(line)
	return p
}

// engineFault makes a fault of GoNB's own: mostly, of what the compiler says.
func engineFault(f fault, shift int, source sources) *fault {
	var first string
	var shown, said []string // of each complaint
	for i, line := range strings.Split(f.Value, "\n") {
		m := complaint.FindStringSubmatch(line)
		if m == nil {
			if n := len(said); n > 0 && strings.HasPrefix(line, "\t") { // Such as what a call has, and what it wants.
				said[n-1] += "\n" + line
			}
			continue
		}
		title, at := m[3], ""
		if i < len(f.Trace) {
			if found := inCell.FindStringSubmatch(f.Trace[i]); found != nil {
				if p := newPlace(found[1], found[2]); p.cell > 0 && p.line > 0 {
					p.cell += shift
					title, at = fmt.Sprintf("%v: %s", p, m[3]), p.show(source)
				}
			}
		}
		if first == "" {
			first = title
		}
		shown, said = append(shown, at), append(said, m[3])
	}
	switch {
	case len(said) > 1:
		for i := range said {
			said[i] = strings.TrimSpace(shown[i] + "\n" + said[i])
		}
		return newFault("CompileError", fmt.Sprintf("%s (and %d more)", first, len(said)-1), said...)
	case len(said) == 1:
		_, more, _ := strings.Cut(said[0], "\n")
		var trace []string
		if text := strings.Trim(shown[0]+"\n"+more, "\n"); text != "" {
			trace = strings.Split(text, "\n")
		}
		return newFault("CompileError", first, trace...)
	}
	return newFault("Error", strings.TrimSpace(f.Value))
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
