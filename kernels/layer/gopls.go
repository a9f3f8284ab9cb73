package layer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sourcegraph/jsonrpc2"
)

// gopls is a session of the layer's own with the language server that GoNB has started. GoNB's own client waits 12
// seconds before it connects, and keeps of the answers the names alone.
type gopls struct {
	mu       sync.Mutex // of one question
	conn     *jsonrpc2.Conn
	dir      string // of GoNB's program
	versions map[string]int
	ready    chan struct{} // closed when there is a session, or an error
	err      error
}

// warmCell is a cell whose completion has gopls read the packages that notebooks begin with.
const warmCell = "%%\nfmt.Println(hyper."

// newGopls begins a session with the server of an engine, and has it read what a first question needs.
func newGopls(e *engine) *gopls {
	g := &gopls{versions: map[string]int{}, ready: make(chan struct{})}
	go func() {
		g.err = g.open(e)
		close(g.ready)
		if g.err == nil {
			_, _ = g.complete(e.ctx, warmCell, len(warmCell))
		}
	}()
	return g
}

// open waits for the server's socket, and connects.
func (g *gopls) open(e *engine) error {
	var conn net.Conn
	for conn == nil {
		found, _ := filepath.Glob(filepath.Join(e.dir, "gonb_*", "gopls_socket"))
		if len(found) > 0 {
			g.dir = filepath.Dir(found[0])
			conn, _ = net.Dial("unix", found[0])
		}
		select {
		case <-e.ctx.Done():
			return errStopped
		case <-time.After(20 * time.Millisecond):
		}
	}
	g.conn = jsonrpc2.NewConn(e.ctx, jsonrpc2.NewBufferedStream(conn, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(g.hear)))
	folder := map[string]string{"uri": "file://" + g.dir, "name": "notebook"}
	var told json.RawMessage
	err := g.conn.Call(e.ctx, "initialize", map[string]any{
		"rootUri": folder["uri"], "workspaceFolders": []any{folder},
		"capabilities": map[string]any{
			"textDocument": map[string]any{
				"completion": map[string]any{"completionItem": map[string]any{"documentationFormat": []string{"markdown"}}},
				"hover":      map[string]any{"contentFormat": []string{"markdown"}},
			},
		},
		"initializationOptions": map[string]any{"completionBudget": "0s", "matcher": "Fuzzy", "completeUnimported": true},
	}, &told)
	if err != nil {
		return err
	}
	return g.conn.Notify(e.ctx, "initialized", struct{}{})
}

// hear answers what gopls asks: there is nothing to configure.
func (g *gopls) hear(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	if r.Method == "workspace/configuration" {
		var p struct{ Items []json.RawMessage }
		_ = json.Unmarshal(*r.Params, &p)
		return make([]any, len(p.Items)), nil
	}
	return nil, nil
}

// helpLimit is how long an answer may take.
const helpLimit = 20 * time.Second

// asks shows gopls a cell, and asks about a place in it.
func (g *gopls) asks(ctx context.Context, method, code string, cursor int, answer any) (document, error) {
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	select {
	case <-g.ready:
	case <-ctx.Done():
		return document{}, ctx.Err()
	}
	if g.err != nil {
		return document{}, g.err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	program, err := os.ReadFile(filepath.Join(g.dir, "main.go"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return document{}, err
	}
	d := documentOf(code, string(program))
	err = errors.Join(g.show(ctx, "main.go", d.earlier), g.show(ctx, cellFile, d.cell))
	if err != nil {
		return d, err
	}
	line, unit := d.place(code, cursor)
	return d, g.conn.Call(ctx, method, map[string]any{
		"textDocument": map[string]string{"uri": g.uri(cellFile)},
		"position":     map[string]int{"line": line, "character": unit},
	}, answer)
}

// cellFile is the name of the cell's file, which is nowhere but in gopls.
const cellFile = "cell.go"

func (g *gopls) uri(name string) string { return "file://" + filepath.Join(g.dir, name) }

// show tells gopls what is in a file.
func (g *gopls) show(ctx context.Context, name, text string) error {
	version := g.versions[name]
	g.versions[name]++
	if version == 0 {
		return g.conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": g.uri(name), "languageId": "go", "version": 0, "text": text}})
	}
	return g.conn.Notify(ctx, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": g.uri(name), "version": version},
		"contentChanges": []any{map[string]string{"text": text}}})
}

// suggestion is an item of a completion.
type suggestion struct {
	Kind   int
	Detail string
	Edit   struct {
		New   string `json:"newText"`
		Range struct{ Start, End struct{ Line, Character int } }
	} `json:"textEdit"`
}

// kindNames are the kinds of suggestions, as JupyterLab has icons for them.
var kindNames = map[int]string{2: "method", 3: "function", 4: "constructor", 5: "field", 6: "variable", 7: "class",
	8: "interface", 9: "module", 10: "property", 13: "enum", 14: "keyword", 15: "snippet", 20: "enum", 21: "constant",
	22: "struct", 25: "type"}

// complete is the content of a complete_reply.
func (g *gopls) complete(ctx context.Context, code string, cursor int) (map[string]any, error) {
	var found struct{ Items []suggestion }
	if _, err := g.asks(ctx, "textDocument/completion", code, cursor, &found); err != nil {
		return nil, err
	}
	matches, types, start := []string{}, []map[string]any{}, cursor
	for i, s := range found.Items {
		// Go's names are of one unit a character.
		from := cursor - (s.Edit.Range.End.Character - s.Edit.Range.Start.Character)
		if i == 0 {
			start = from
		}
		if s.Edit.New == "" || from != start || s.Edit.Range.Start.Line != s.Edit.Range.End.Line {
			continue // The protocol has one start for all.
		}
		matches = append(matches, s.Edit.New)
		types = append(types, map[string]any{"text": s.Edit.New, "type": kindNames[s.Kind], "signature": s.Detail,
			"start": from, "end": cursor})
	}
	return map[string]any{"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": cursor,
		"metadata": map[string]any{typesKey: types}}, nil
}

// inspect is the content of an inspect_reply. Within the brackets of a call, and not at a name, it is about the
// function.
func (g *gopls) inspect(ctx context.Context, code string, cursor int) (map[string]any, error) {
	at, text := cursor, ""
	if !atName(code, cursor) {
		at = callBefore(code, cursor)
	}
	if at >= 0 {
		var hover *struct{ Contents struct{ Value string } }
		if _, err := g.asks(ctx, "textDocument/hover", code, at, &hover); err != nil {
			return nil, err
		}
		if hover != nil {
			text = hover.Contents.Value
		}
	}
	data := map[string]any{}
	if text != "" {
		data["text/markdown"], data["text/plain"] = text, textOf(text)
	}
	return map[string]any{"status": "ok", "found": text != "", "data": data, "metadata": map[string]any{}}, nil
}

// atName tells whether a cursor touches a name.
func atName(code string, cursor int) bool {
	runes := []rune(code)
	for i := max(0, cursor-1); i <= cursor && i < len(runes); i++ {
		if r := runes[i]; r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// callBefore is the end of the function's name in the call around a cursor, or -1.
func callBefore(code string, cursor int) int {
	runes := []rune(code)
	depth := 0
	for i := min(cursor, len(runes)) - 1; i >= 0; i-- {
		switch runes[i] {
		case ')':
			depth++
		case '(':
			if depth == 0 {
				return i
			}
			depth--
		case '{', '}':
			return -1
		}
	}
	return -1
}

var (
	fences = regexp.MustCompile("(?m)^```.*\n?")
	more   = regexp.MustCompile(`(?m)^\[[^\]]* on pkg\.go\.dev\]\(.*\)$`)
	links  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	rules  = regexp.MustCompile(`(?m)^---$\n*`)
)

// textOf is Markdown of gopls as text.
func textOf(markdown string) string {
	text := fences.ReplaceAllString(more.ReplaceAllString(markdown, ""), "")
	text = rules.ReplaceAllString(links.ReplaceAllString(text, "$1"), "")
	return strings.TrimSpace(strings.NewReplacer("`", "", `\_`, "_", `\*`, "*").Replace(text))
}
