package layer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestIsComplete(t *testing.T) {
	for _, c := range []struct{ code, status string }{
		{"", "complete"},
		{"%%\nfmt.Println(1)", "complete"},
		{"%% --flag x\nx := []int{1,\n2}", "complete"},
		{"%main\nx := 1", "complete"},
		{"func f() int { return 1 }", "complete"},
		{"import \"fmt\"\n\nvar x = 1\n%%\nfmt.Println(x)", "complete"},
		{"//gonb:%%\nfmt.Println(1)", "complete"},
		{"!ls -l", "complete"},
		{"!ls (", "complete"},
		{"%env A b\n!echo $A\n%%\nf()", "complete"},
		{"%%bash\nfor f in *; do", "complete"},
		{"%%writefile x.txt\n)", "complete"},
		{"%%\ns := `a\nb`", "complete"},
		{"x := 1", "complete"},
		{"var s = `\n%%\n!ls \\\n`", "complete"}, // These are not special lines.
		{"fmt.Println(1)", "complete"},
		{"import \"fmt\"\nfmt.Println(1)", "complete"},

		{"%%\nfor i := range 3 {", "incomplete"},
		{"%%\nfmt.Println(", "incomplete"},
		{"%%\nx := 1 +", "incomplete"},
		{"%%\ns := `a", "incomplete"},
		{"%%\n/* a", "incomplete"},
		{"func f() {", "incomplete"},
		{"type t struct {\n\ta int", "incomplete"},
		{"import (", "incomplete"},
		{"for i := range 3 {", "incomplete"},
		{"!ls \\", "incomplete"},

		{"func f() {}\nf()", "invalid"},
		{"%%\n}", "invalid"},
		{"%%\n)", "invalid"},
		{"%%\ns := \"a", "invalid"},
		{"%%\nx = = 1\ny := 2", "invalid"},
		{"func f() {}}", "invalid"},
	} {
		if got := complete(c.code); got.Status != c.status {
			t.Errorf("%q: %s, want %s", c.code, got.Status, c.status)
		}
	}
	if got := complete("%%\nfor {\n\tif a {"); got.Indent != "\t\t" {
		t.Errorf("two open braces: got indent %q, want two tabs", got.Indent)
	}
}

func TestHistory(t *testing.T) {
	var h history
	for i, code := range []string{"a := 1", "b", "a := 2", "b"} {
		h.add(i+1, code)
	}
	n := func(i int) *int { return &i }
	for _, c := range []struct {
		request historyRequest
		want    []int
	}{
		{historyRequest{Access: "tail", N: n(2)}, []int{3, 4}},
		{historyRequest{Access: "tail", N: n(9)}, []int{1, 2, 3, 4}},
		{historyRequest{Access: "tail"}, []int{1, 2, 3, 4}},
		{historyRequest{Access: "range", Session: 1, Start: 2, Stop: n(4)}, []int{2, 3}},
		{historyRequest{Access: "range", Start: 2}, []int{2, 3, 4}},
		{historyRequest{Access: "range", Session: 7, Start: 1}, nil},
		{historyRequest{Access: "search", Pattern: "a*"}, []int{1, 3}},
		{historyRequest{Access: "search", Pattern: "?"}, []int{2, 4}},
		{historyRequest{Access: "search", Pattern: "b", Unique: true}, []int{4}},
		{historyRequest{Access: "search", Pattern: "*", N: n(1)}, []int{4}},
		{historyRequest{Access: "search", Pattern: "a.*"}, nil},
	} {
		var got []int
		for _, row := range h.find(c.request) {
			got = append(got, row[1].(int))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: cells %v, want %v", c.request, got, c.want)
		}
	}
	row := h.find(historyRequest{Access: "tail", N: n(1), Output: true})[0]
	if want := []any{session, 4, []any{"b", nil}}; !reflect.DeepEqual(row, want) {
		t.Errorf("with output: %v, want %v", row, want)
	}
	if text, ok := h.line(3, 1); !ok || text != "a := 2" {
		t.Errorf("line 1 of cell 3: got %q, want a := 2", text)
	}
}

func TestSignatures(t *testing.T) {
	key := signer("secret")
	request := message{}.answer("s", "execute_request", map[string]any{"code": "x"})
	request.route, request.buffers = [][]byte{[]byte("client")}, [][]byte{{1, 2}}
	frames := key.encode(request)
	got, err := key.decode(frames)
	if err != nil || got.head != request.head || string(got.content) != `{"code":"x"}` ||
		!bytes.Equal(got.buffers[0], []byte{1, 2}) {
		t.Fatalf("decoded message: got %+v, error %v, want the encoded one", got, err)
	}
	if _, err := signer("other").decode(frames); !errors.Is(err, errSignature) {
		t.Errorf("another key: got error %v, want errSignature", err)
	}
	changed := slices.Clone(frames)
	changed[6] = []byte(`{"code":"y"}`)
	if _, err := key.decode(changed); !errors.Is(err, errSignature) {
		t.Errorf("changed content: got error %v, want errSignature", err)
	}
	if _, err := signer(nil).decode(signer(nil).encode(request)); err != nil {
		t.Errorf("no key: got error %v, want none", err)
	}
	for _, bad := range [][][]byte{nil, {delimiter}, frames[:5], {[]byte("a"), []byte("b")}} {
		if _, err := key.decode(bad); !errors.Is(err, errMalformed) {
			t.Errorf("%q: got error %v, want errMalformed", bad, err)
		}
	}
	reply := got.answer("s", "execute_reply", map[string]string{"status": "ok"})
	if reply.parent.ID != request.head.ID || string(reply.rawUp) != string(request.rawHead) {
		t.Errorf("parent of a reply: got %+v, want the request", reply.parent)
	}
}

// TestPositions passes lines of standard error through the filter and the unfolder. Line 12 of the program is line 3 of
// cell 2.
func TestPositions(t *testing.T) {
	const dir = "/tmp/k/1/gonb_ab"
	for _, c := range []struct{ line, want string }{
		{"nothing\n", "nothing\n"},
		{"2026/11/21 10:00:00 main.go:12: a\n", "2026/11/21 10:00:00 cell [2], line 3: a\n"},
		{"10:00:00 " + dir + "/main.go:12:7: a\n", "10:00:00 cell [2], line 3:7: a\n"},
		{"10:00:00 main.go:40: a\n", "10:00:00 main.go:40: a\n"}, // A line that the kernel has added.
		{"a:b: domain.go:12: c\n", "a:b: domain.go:12: c\n"},
		{"a:b: /lib/main.go:12: c\n", "a:b: /lib/main.go:12: c\n"},
		{"{\"a\":\"\x1e\"}\x1e{}\n", "{\"a\":\"\x1e\"}\x1e{}\n"},
	} {
		var to strings.Builder
		f := newFilter(&to, dir, lines)
		f.Write([]byte(c.line))
		if rest := f.finish(true); rest != "" {
			t.Errorf("line %q: taken for a panic", c.line)
		}
		for line := range strings.Lines(to.String()) {
			if strings.Contains(line, "main.go:") {
				t.Errorf("line %q has a position that GoNB would see", line)
			}
		}
		if got := unfold(to.String()); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// lines holds the places of a program's lines.
var lines = append(make([][2]int, 11), [2]int{2, 3})

// unfold passes a text through the unfolder in small pieces.
func unfold(text string) string {
	var u unfolder
	var out strings.Builder
	for _, r := range text {
		out.WriteString(u.add(string(r)))
	}
	return out.String()
}

const stack = "panic: arm out of range: 7\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/g/main.go:12 +0x1d\n"

func TestPanic(t *testing.T) {
	var to strings.Builder
	f := newFilter(&to, "/tmp/g", lines)
	for _, b := range []byte("before\n" + stack) {
		f.Write([]byte{b})
	}
	panics := f.finish(true)
	if to.String() != "before\n" || panics == "" {
		t.Fatalf("got output %q and held panic %q, want \"before\" and a panic", to.String(), panics)
	}
	var u unfolder
	shown := u.add("before\n" + openText + panics + closeText + report{CellVerb, "exit status 2", ""}.String() + "after")
	if shown != "before\nafter" || u.failed == nil || *u.failed != (report{CellVerb, "exit status 2", ""}) {
		t.Fatalf("got output %q and failure %+v, want exit status 2", shown, u.failed)
	}
	x := exchange{stderr: u}
	source := func(cell, line int) (string, bool) { return "\tpull(7)", cell == 2 && line == 3 }
	got := x.verdict(source)
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

// A program may print text that looks like a panic, and continue.
func TestNoPanic(t *testing.T) {
	for name, end := range map[string]func(*filter){
		"succeeds":      func(f *filter) { f.finish(false) },
		"goes on":       func(f *filter) { f.late() },
		"has no stack":  func(f *filter) { f.finish(true) },
		"takes a while": func(*filter) { time.Sleep(panicDelay + 300*time.Millisecond) },
	} {
		var to safeBuilder
		f := newFilter(&to, "/tmp/g", lines)
		text := stack
		if name == "has no stack" {
			text = "panic: not at all\n"
		}
		f.Write([]byte(text))
		end(f)
		if got := unfold(to.String()); got != strings.ReplaceAll(text, "/tmp/g/main.go:12", "cell [2], line 3") {
			t.Errorf("program that %s: got %q", name, got)
		}
	}
}

// Incomplete lines of a program are shown while it runs: dots, and text that only looks like a panic.
func TestDots(t *testing.T) {
	for text, within := range map[string]time.Duration{".": 200 * time.Millisecond,
		"panic: no\n": panicDelay + 500*time.Millisecond} {
		var to safeBuilder
		f := newFilter(&to, "/tmp/g", lines)
		began := time.Now()
		for to.String() == "" && time.Since(began) < 5*time.Second {
			f.Write([]byte(text))
			time.Sleep(20 * time.Millisecond)
		}
		if d := time.Since(began); d > within {
			t.Errorf("%q, written every 20 ms, shows after %v", text, d)
		}
		f.finish(false)
	}
}

// safeBuilder is safe for concurrent use, because a timer writes to it.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestCompileError(t *testing.T) {
	source := func(cell, line int) (string, bool) { return "\tx := 1", cell == 5 }
	got := compileFault([]complaint{{5, 2, "declared and not used: x"}, {5, 3, "undefined: y"}}, source)
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

func TestRewrite(t *testing.T) {
	const run = "!'/k' shell "
	for _, c := range []struct{ code, want string }{
		{"%%\nx := 1", "%%\nx := 1"},
		{"!ls", run + "bHM"},
		{"//gonb:!ls", run + "bHM"},
		{"!*ls", "!*'/k' shell bHM"},
		{"!l\\\ns\n%%", run + "bCBz" + "\n\n%%"}, // "l s"; the number of lines does not change.
		{"!  \n% \nvar x int", "\n\nvar x int"},
		{"%kept --remove a", run + base64.RawURLEncoding.EncodeToString([]byte("'/k' kept --remove a"))},
		{"%keptother", "%keptother"},
		{"%%bash\n!ls", "%%script \"/k\" script bash\n!ls"},
		{"%%script python3 -u\nx", "%%script \"/k\" script python3 -u\nx"},
		{"%%bash -x\nls", "%%bash -x\nls"},
		{"%%writefile a\n!ls", "%%writefile a\n!ls"},
	} {
		if got := rewrite(c.code, "/k"); got != c.want {
			t.Errorf("%q: %q, want %q", c.code, got, c.want)
		}
	}
}

func TestComms(t *testing.T) {
	var c comms
	open := func(kind, id, target string) {
		c.note(message{}.answer("", kind, map[string]string{"comm_id": id, "target_name": target}))
	}
	open("comm_open", "1", "a")
	open("comm_open", "2", "b")
	open("comm_open", "3", "a")
	open("comm_close", "3", "")
	if got := c.open("a"); len(got) != 1 || got["1"]["target_name"] != "a" {
		t.Errorf("comms of target a: got %v, want one", got)
	}
	if got := c.open(""); len(got) != 2 {
		t.Errorf("all comms: got %v, want 2", got)
	}
}
