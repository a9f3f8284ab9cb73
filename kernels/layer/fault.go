package layer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// fault is the reason of a cell's failure, as Jupyter shows it.
type fault struct {
	Name  string   `json:"ename"`
	Value string   `json:"evalue"`
	Trace []string `json:"traceback"`
}

const (
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// newFault returns a fault; the lines of trace are shown below its name and value.
func newFault(name, value string, trace ...string) *fault {
	title := red + name + plain + ": " + value
	return &fault{Name: name, Value: value, Trace: append([]string{title}, trace...)}
}

// sources returns a line of an executed cell, by the number of the cell.
type sources func(cell, line int) (string, bool)

// showPlace returns a place in a traceback, with its source line below. VS Code turns the first line into a link if the
// line has exactly IPython's form.
func showPlace(p cells.Place, source sources) string {
	out := fmt.Sprintf("Cell In[%d], line %d", p.Cell, p.Line)
	if text, ok := source(p.Cell, p.Line); ok {
		out += "\n    " + strings.TrimSpace(text)
	}
	return out
}

// translated matches places in a translated text.
var translated = regexp.MustCompile(`cell \[(\d+)\], line (\d+)`)

// panicFault makes a fault from the translated text of a panic.
func panicFault(text string, source sources) *fault {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, wrapper.StackOverflow) {
		return overflowFault(text, source)
	}
	head, stack, _ := strings.Cut(text, "\n\ngoroutine ")
	head, _, _ = strings.Cut(head, "\n\nruntime stack:") // of the runtime alone
	name, value, found := strings.Cut(head, ": ")
	if !found {
		name, value = "panic", head
	}
	var trace []string
	if stack != "" {
		if m := translated.FindStringSubmatch(stack); m != nil {
			trace = append(trace, showPlace(newPlace(m[1], m[2]), source))
		}
		trace = append(trace, "", "goroutine "+ownFrames(stack))
	}
	value = strings.ReplaceAll(value, " [recovered, repanicked]", "") // Package testing panics again.
	return newFault(name, strings.TrimSuffix(value, " [recovered]"), trace...)
}

// ownFrames returns a stack without the frames in which package must, or the kernel's replacement of it, panics. A
// frame has two lines.
func ownFrames(stack string) string {
	var out []string
	lines := strings.Split(stack, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "github.com/janpfeifer/must.M") || strings.HasPrefix(lines[i], "main.kernelPanic(") {
			i++
			continue
		}
		out = append(out, lines[i])
	}
	return strings.Join(out, "\n")
}

// overflowFault makes the fault of a function that calls itself without end. Only the first place of its stack is
// shown.
func overflowFault(text string, source sources) *fault {
	limit, _, _ := strings.Cut(strings.TrimPrefix(text, wrapper.StackOverflow), "-byte")
	bytes, _ := strconv.Atoi(limit)
	var trace []string
	if m := translated.FindStringSubmatch(text); m != nil {
		trace = append(trace, showPlace(newPlace(m[1], m[2]), source))
	}
	return newFault("fatal error", fmt.Sprintf("stack overflow: recursive calls have filled a stack of %d MiB",
		bytes>>20), trace...)
}

// newPlace makes a place from digits.
func newPlace(cell, line string) (p cells.Place) {
	p.Cell, _ = strconv.Atoi(cell)
	p.Line, _ = strconv.Atoi(line)
	return p
}

// compileFault makes a fault from the errors of a cell.
func compileFault(wrong []cells.Complaint, source sources) *fault {
	shown := make([]string, len(wrong))
	first := ""
	for i, c := range wrong {
		title, more, _ := strings.Cut(c.Text, "\n")
		at := ""
		if c.Line > 0 {
			p := cells.Place{Cell: c.Cell, Line: c.Line}
			title, at = fmt.Sprintf("%v: %s", p, title), showPlace(p, source)
		}
		if i == 0 {
			first = title
		}
		if shown[i] = strings.Trim(at+"\n"+more, "\n"); len(wrong) > 1 {
			shown[i] = strings.Trim(at+"\n"+c.Text, "\n")
		}
	}
	if len(wrong) > 1 {
		return newFault("CompileError", fmt.Sprintf("%s (and %d more)", first, len(wrong)-1), shown...)
	}
	if shown[0] == "" {
		return newFault("CompileError", first)
	}
	return newFault("CompileError", first, strings.Split(shown[0], "\n")...)
}

// engineFault makes a fault from an error of GoNB, such as an error in a special line.
func engineFault(f fault) *fault {
	return newFault("Error", strings.TrimSpace(strings.TrimPrefix(f.Value, "executing special commands in cell: ")))
}

// statusFault makes a fault from the report of a wrapper, for all failures except panics.
func statusFault(r wrapper.Report, interrupted bool) *fault {
	value := r.Status
	if r.Command != "" {
		value += ": " + r.Command
	}
	switch {
	case interrupted || strings.HasPrefix(r.Status, "signal: interrupt"):
		return newFault("Interrupt", "the cell was interrupted")
	case r.Kind == wrapper.CellVerb:
		return newFault("ExitError", value)
	}
	return newFault("CommandError", value)
}

// verdict returns the reason of the cell's failure, or nil.
func (x *exchange) verdict(source sources) *fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch failed := x.stderr.Failed; {
	case failed != nil && x.stderr.Panics.Len() > 0:
		return panicFault(x.stderr.Panics.String(), source)
	case failed != nil:
		return statusFault(*failed, x.interrupted)
	case x.failure != nil:
		return engineFault(*x.failure)
	}
	return nil
}

func engineDied(err error) *fault {
	return newFault("KernelError", fmt.Sprintf("GoNB has ended and will be started again; %s: %v", lost, err))
}

// failed returns the content of a reply about a failure.
func failed(f *fault) map[string]any {
	return map[string]any{"status": "error", "ename": f.Name, "evalue": f.Value, "traceback": f.Trace}
}

// malformed returns the content of a reply to a request that lacks a field, or has a value of another type.
func malformed() map[string]any { return failed(newFault("KernelError", errMalformed.Error())) }
