package gopls

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"github.com/sourcegraph/jsonrpc2"
)

// A notebook's text is split into cells, and each cell is a file. Two blank lines within a cell do not split it.
func TestPieces(t *testing.T) {
	cells := []string{"import \"hash/fnv\"\n\nfunc f() {}", "%%\nf()\n\n\nx := fnv.New64()", "!ls", "%%bash\nls",
		"type T struct{}", ""}
	lines := []int{0, 5, 12, 15, 19, 22}
	got := pieces(strings.Join(cells, between))
	var at []int
	for _, p := range got {
		at = append(at, p.line)
	}
	if want := []int{0, 5, 12, 19, 22}; len(at) != len(want) {
		t.Fatalf("got cells at %v of the lines %v", at, lines)
	} else {
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("cell %d begins at line %d, want %d", i, at[i], want[i])
			}
		}
	}
	if c := got[1]; c.cell != "package main\nimport \"hash/fnv\"\nfunc _() {\nf()\n\n\nx := fnv.New64()\n}\n" ||
		c.shift != 2 {
		t.Errorf("got cell %q, shifted by %d, want 2", c.cell, c.shift)
	}
}

// A cell may begin with a statement. The faults of a cell of statements alone are those that the kernel reports.
func TestCellsOfStatements(t *testing.T) {
	got := pieces(strings.Join([]string{"package main\nfunc f() {}", "f()", "s := `\n\n\n`",
		"x, y := 1, 2\nif true {\n\tz := 1\n}\nx // 1"}, between))
	if len(got) != 4 || strings.Contains(got[0].cell, "package main\npackage") {
		t.Fatalf("got the cells %+v, want 4", got)
	}
	for message, c := range map[string]struct {
		line, from, to int
		shown          bool
	}{
		"declared and not used: y": {0, 3, 4, false}, "declared and not used: z": {2, 1, 2, true},
		"x (variable of type int) is not used": {4, 0, 1, false}, "f() is not used": {0, 0, 1, true},
	} {
		at := func(unit int) map[string]int { return map[string]int{"line": c.line + got[3].shift, "character": unit} }
		d := map[string]any{"message": message, "range": map[string]any{"start": at(c.from), "end": at(c.to)}}
		if shown := got[3].moved(d) != nil; shown != c.shown {
			t.Errorf("%s: shown %v, want %v", message, shown, c.shown)
		}
	}
}

func TestURIOfAPath(t *testing.T) {
	for path, want := range map[string]string{"/a/b.go": "file:///a/b.go", "/my code/50%.go": "file:///my%20code/50%25.go"} {
		if got := fileURI(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// stream returns a connection to a program that speaks LSP.
func stream(t *testing.T, hear func(method string, params json.RawMessage) any) (*jsonrpc2.Conn, net.Conn) {
	here, there := net.Pipe()
	conn := jsonrpc2.NewConn(t.Context(), framed(here), jsonrpc2.HandlerWithError(
		func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			var params json.RawMessage
			if r.Params != nil {
				params = *r.Params
			}
			return hear(r.Method, params), nil
		}))
	t.Cleanup(func() { conn.Close() })
	return conn, there
}

// A diagnostic of gopls for a cell has the notebook's line. Diagnostics that the author need not act on are dropped. A
// question is passed on to the cell at its position.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	file := "file://" + filepath.Join(dir, "n1", "cell1.go")
	opened, found := make(chan string, 10), make(chan []map[string]any, 10)
	gopls, goplsEnd := stream(t, func(method string, params json.RawMessage) any {
		switch method {
		case "textDocument/didOpen":
			var p struct{ TextDocument struct{ URI, Text string } }
			must.M(json.Unmarshal(params, &p))
			opened <- p.TextDocument.URI
		case "textDocument/hover":
			return map[string]any{"contents": string(params), "range": map[string]any{}}
		}
		return nil
	})
	page, pageEnd := stream(t, func(method string, params json.RawMessage) any {
		if method == "textDocument/publishDiagnostics" {
			var p struct {
				URI         string
				Diagnostics []map[string]any
			}
			must.M(json.Unmarshal(params, &p))
			if p.URI != "file:///book.ipynb" {
				t.Errorf("got diagnostics about %s, want the notebook", p.URI)
			}
			found <- p.Diagnostics
		}
		return nil
	})
	ended := make(chan error, 1)
	start := func() (io.ReadWriteCloser, error) { return goplsEnd, nil }
	go func() { ended <- RunEditor(t.Context(), pageEnd, start, dir) }()

	var capabilities map[string]map[string]any
	must.M(page.Call(t.Context(), "initialize", struct{}{}, &capabilities))
	if capabilities["capabilities"]["completionProvider"] != nil || capabilities["capabilities"]["hoverProvider"] != true {
		t.Errorf("got capabilities %v, want hover without completion", capabilities)
	}
	document := map[string]any{"uri": "file:///book.ipynb", "text": "func f() {}\n\n\n%%\nf(1)\nrand.N(1)"}
	must.M(page.Notify(t.Context(), "textDocument/didOpen", map[string]any{"textDocument": document}))
	if first, second := <-opened, <-opened; second != file || !strings.HasSuffix(first, "cell0.go") {
		t.Errorf("gopls has opened %s and %s, want the cells", first, second)
	}
	if n := len(<-found); n != 0 {
		t.Errorf("got %d faults before gopls answered, want 0", n)
	}
	at := func(line, from, to int) map[string]any {
		return map[string]any{"start": map[string]int{"line": line, "character": from},
			"end": map[string]int{"line": line, "character": to}}
	}
	must.M(gopls.Notify(t.Context(), "textDocument/publishDiagnostics", map[string]any{"uri": file, "diagnostics": []any{
		map[string]any{"message": "too many arguments", "range": at(3, 2, 3), "severity": 1, "code": "WrongArgCount"},
		map[string]any{"message": `"hash" imported and not used`, "range": at(3, 0, 1), "code": "UnusedImport"},
		map[string]any{"message": "undefined: other", "range": at(3, 0, 1), "code": "UndeclaredName"},
		map[string]any{"message": "of a line that the cell does not have", "range": at(0, 0, 1)},
		map[string]any{"message": "undefined: rand", "range": at(4, 0, 4), "code": "UndeclaredName"},
	}}))
	faults := <-found
	if len(faults) != 2 || faults[0]["message"] != "too many arguments" || faults[1]["message"] != "undefined: other" {
		t.Fatalf("got faults %v, want 2", faults)
	}
	if got := string(must.M1(json.Marshal(faults[0]["range"]))); got != `{"end":{"character":3,"line":4},"start":{"character":2,"line":4}}` {
		t.Errorf("got the range %s", got)
	}
	var hover map[string]string
	must.M(page.Call(t.Context(), "textDocument/hover", map[string]any{"textDocument": document,
		"position": map[string]int{"line": 4, "character": 1}}, &hover))
	if hover["contents"] != `{"position":{"character":1,"line":3},"textDocument":{"uri":"`+file+`"}}` {
		t.Errorf("hover: got %s", hover["contents"])
	}
	// When a cell moves, its diagnostics move with it.
	document["text"] = "!ls\n\n\nfunc g() {}\n\n\n" + document["text"].(string)
	must.M(page.Notify(t.Context(), "textDocument/didChange", map[string]any{"textDocument": document,
		"contentChanges": []any{document}}))
	const moved = "map[end:map[character:3 line:10] start:map[character:2 line:10]]"
	if faults = <-found; len(faults) != 2 || fmt.Sprint(faults[0]["range"]) != moved {
		t.Errorf("moved cell: got faults %v, want 2 at the new place", faults)
	}
	if err := page.Call(t.Context(), "textDocument/rename", struct{}{}, nil); err == nil {
		t.Error("question without an answer: got no error")
	}
	page.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server continues without a page")
	}
}

// fakeGopls records the messages to the servers that it starts.
type fakeGopls struct {
	t      *testing.T
	told   chan string
	ends   chan *jsonrpc2.Conn
	starts int
}

func newFakeGopls(t *testing.T) *fakeGopls {
	return &fakeGopls{t: t, told: make(chan string, 100), ends: make(chan *jsonrpc2.Conn, 100)}
}

func (f *fakeGopls) start() (io.ReadWriteCloser, error) {
	f.starts++
	conn, end := stream(f.t, func(method string, params json.RawMessage) any {
		var p struct {
			Document struct {
				URI     string
				Version int
				Text    string
			} `json:"textDocument"`
			Changes []struct{ Text string } `json:"contentChanges"`
		}
		must.M(json.Unmarshal(params, &p))
		for _, c := range p.Changes {
			p.Document.Text = c.Text
		}
		f.told <- strings.TrimRight(fmt.Sprintf("%s %s %d %s", filepath.Base(method), filepath.Base(p.Document.URI),
			p.Document.Version, strings.TrimSpace(strings.TrimPrefix(p.Document.Text, "package main\n"))), " ")
		return struct{}{}
	})
	f.ends <- conn
	return end, nil
}

// hears checks the next messages to a server.
func (f *fakeGopls) hears(want ...string) {
	f.t.Helper()
	for _, w := range want {
		select {
		case got := <-f.told:
			if got != w {
				f.t.Errorf("told %q, want %q", got, w)
			}
		case <-time.After(10 * time.Second):
			f.t.Fatalf("gopls was not told %q within 10 s", w)
		}
	}
}

// When a page is loaded again, it uses the same stream. gopls is initialized once, and has each cell once. Diagnostics
// appear at once.
func TestEditorPageAgain(t *testing.T) {
	gopls, found := newFakeGopls(t), make(chan string, 10)
	page, pageEnd := stream(t, func(_ string, params json.RawMessage) any {
		var p struct{ Diagnostics []struct{ Message string } }
		must.M(json.Unmarshal(params, &p))
		found <- fmt.Sprint(p.Diagnostics)
		return nil
	})
	dir := t.TempDir()
	go RunEditor(t.Context(), pageEnd, gopls.start, dir)
	tell := func(method, text string) {
		document := map[string]any{"uri": "file:///book.ipynb", "text": text}
		must.M(page.Notify(t.Context(), method, map[string]any{"textDocument": document, "contentChanges": []any{document}}))
	}
	begin := func() (answer json.RawMessage) {
		must.M(page.Call(t.Context(), "initialize", struct{}{}, &answer))
		must.M(page.Notify(t.Context(), "initialized", struct{}{}))
		return answer
	}
	first := begin()
	tell("textDocument/didOpen", "var a = b\n\n\nvar c int")
	gopls.hears("initialize . 0", "initialized . 0", "didOpen cell0.go 1 var a = b", "didOpen cell1.go 1 var c int")
	<-found
	conn := <-gopls.ends
	must.M(conn.Notify(t.Context(), "textDocument/publishDiagnostics", map[string]any{"version": 1,
		"uri": fileURI(filepath.Join(dir, "n1", "cell0.go")), "diagnostics": []any{map[string]any{"message": "undefined: b",
			"range": map[string]any{"start": map[string]int{"line": 1}, "end": map[string]int{"line": 1}}}}}))
	if got := <-found; got != "[{undefined: b}]" {
		t.Errorf("got faults %s, want [{undefined: b}]", got)
	}

	must.M(page.Call(t.Context(), "shutdown", nil, nil))
	must.M(page.Notify(t.Context(), "exit", nil))
	if again := begin(); string(again) != string(first) {
		t.Errorf("got answer %s for the second page, want %s as for the first", again, first)
	}
	tell("textDocument/didOpen", "var a = b\n\n\nvar c bool")
	gopls.hears("didChange cell1.go 2 var c bool")
	if got := <-found; got != "[{undefined: b}]" {
		t.Errorf("got faults %s after the page came back", got)
	}
	tell("textDocument/didChange", "var a = b")
	gopls.hears("didClose cell1.go 0")
	tell("textDocument/didClose", "")
	gopls.hears("didClose cell0.go 0")
	tell("textDocument/didChange", "var a = 1") // From another page that has the notebook.
	gopls.hears("didOpen cell0.go 1 var a = 1")
	for range 2 {
		<-found
	}
	if gopls.starts != 1 {
		t.Errorf("gopls was started %d times, want once", gopls.starts)
	}
}
