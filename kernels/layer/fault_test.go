package layer

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

func TestFaultOfPanic(t *testing.T) {
	const text = "panic: arm out of range: 7 [recovered, repanicked]\n\ngoroutine 1 [running]:\nmain.main()\n\tcell [2], line 3 +0x1d\n"
	source := func(cell, line int) (string, bool) { return "\tpull(7)", cell == 2 && line == 3 }
	got := panicFault(text, source)
	if got.Name != "panic" || got.Value != "arm out of range: 7" {
		t.Errorf("got error %s: %s, want the panic", got.Name, got.Value)
	}
	trace := strings.Join(got.Trace, "\n")
	for _, want := range []string{"Cell In[2], line 3\n    pull(7)\n", "main.main()\n\tcell [2], line 3 +0x1d"} {
		if !strings.Contains(trace, want) {
			t.Errorf("got no %q in the traceback\n%s", want, trace)
		}
	}
}

// A deferred function that panics with more words does not lose them.
func TestFaultOfASecondPanic(t *testing.T) {
	got := panicFault("panic: a [recovered]\n\tpanic: while reading: a\n\ngoroutine 1 [running]:\n", nil)
	if !strings.Contains(got.Value, "while reading") {
		t.Errorf("got error %s, want both panics", got.Value)
	}
}

func TestFaultOfTheRuntime(t *testing.T) {
	got := panicFault("fatal error: out of memory\n\nruntime stack:\nruntime.throw()\n\ngoroutine 1 [running]:\nmain.main()\n", nil)
	if got.Name != "fatal error" || got.Value != "out of memory" {
		t.Errorf("got error %s: %q, want no stack", got.Name, got.Value)
	}
}

func TestCompileError(t *testing.T) {
	source := func(cell, line int) (string, bool) { return "\tx := 1", cell == 5 }
	got := compileFault([]cells.Complaint{{Cell: 5, Line: 2, Text: "declared and not used: x"},
		{Cell: 5, Line: 3, Text: "undefined: y"}}, source)
	want := fault{"CompileError", "cell [5], line 2: declared and not used: x (and 1 more)", []string{
		red + "CompileError" + plain + ": cell [5], line 2: declared and not used: x (and 1 more)",
		"Cell In[5], line 2\n    x := 1\ndeclared and not used: x", "Cell In[5], line 3\n    x := 1\nundefined: y"}}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got\n%q\nwant\n%q", *got, want)
	}
	if got := engineFault(fault{Value: "executing special commands in cell: %cd takes one argument"}); got.Name != "Error" || got.Value != "%cd takes one argument" {
		t.Errorf("error of GoNB: got %+v", got)
	}
}
