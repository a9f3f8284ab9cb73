package layer

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"github.com/sourcegraph/jsonrpc2"
)

// A notebook's text falls into its cells, each a file; two blank lines within a cell do not cut it.
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
		t.Fatalf("cells at %v of %v", at, lines)
	} else {
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("cell %d begins at line %d, want %d", i, at[i], want[i])
			}
		}
	}
	if c := got[1]; c.cell != "package main\nimport \"hash/fnv\"\nfunc _() {\nf()\n\n\nx := fnv.New64()\n}\n" ||
		c.shift != 2 {
		t.Errorf("%q, shifted by %d", c.cell, c.shift)
	}
}

// stream is a connection to a program that speaks LSP.
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

// What gopls finds in a cell shows at the notebook's line; what is none of the author's business does not; and
// questions go to the cell that they are about.
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
				t.Errorf("about %s", p.URI)
			}
			found <- p.Diagnostics
		}
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- RunEditor(t.Context(), pageEnd, goplsEnd, dir) }()

	var capabilities map[string]map[string]any
	must.M(page.Call(t.Context(), "initialize", struct{}{}, &capabilities))
	if capabilities["capabilities"]["completionProvider"] != nil || capabilities["capabilities"]["hoverProvider"] != true {
		t.Errorf("%v", capabilities)
	}
	document := map[string]any{"uri": "file:///book.ipynb", "text": "func f() {}\n\n\n%%\nf(1)\nrand.N(1)"}
	must.M(page.Notify(t.Context(), "textDocument/didOpen", map[string]any{"textDocument": document}))
	if first, second := <-opened, <-opened; second != file || !strings.HasSuffix(first, "cell0.go") {
		t.Errorf("gopls has %s and %s", first, second)
	}
	if n := len(<-found); n != 0 {
		t.Errorf("%d faults before gopls has spoken", n)
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
		t.Fatalf("%v", faults)
	}
	if got := string(must.M1(json.Marshal(faults[0]["range"]))); got != `{"end":{"character":3,"line":4},"start":{"character":2,"line":4}}` {
		t.Errorf("at %s", got)
	}
	var hover map[string]string
	must.M(page.Call(t.Context(), "textDocument/hover", map[string]any{"textDocument": document,
		"position": map[string]int{"line": 4, "character": 1}}, &hover))
	if hover["contents"] != `{"position":{"character":1,"line":3},"textDocument":{"uri":"`+file+`"}}` {
		t.Errorf("%s", hover["contents"])
	}
	if err := page.Call(t.Context(), "textDocument/rename", struct{}{}, nil); err == nil {
		t.Error("a question that nobody answers has no error")
	}
	page.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on without a page")
	}
}
