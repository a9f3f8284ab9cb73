package gopls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// RunEditor answers pages that edit notebooks, by the Language Server Protocol over one stream. It reports errors while
// the user types, and documentation under the mouse. The answers come from gopls; start starts it. A notebook arrives
// as one text, since jupyter-lsp joins its cells with two blank lines. gopls sees a package with one file for each
// cell. dir is a folder in gopls's workspace; each notebook gets a folder in it.
//
// A second page, or a page that is loaded again, uses the same stream and sends another initialize. Only the end of the
// stream ends the editor. RunEditor returns then.
func RunEditor(ctx context.Context, page io.ReadWriteCloser, start Starter, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &editor{dir: dir, books: map[string]*book{}, news: make(chan news, newsLength)}
	for range spareFolders {
		if err := s.addFolder(); err != nil {
			return err
		}
	}
	s.gopls = newServer(start, s.begin)
	s.gopls.hear = s.fromGopls
	defer s.gopls.stop()
	s.mu.Lock() // Until the page's connection is set.
	s.page = jsonrpc2.NewConn(ctx, framed(page), jsonrpc2.HandlerWithError(s.fromPage))
	s.mu.Unlock()
	for {
		select {
		case n := <-s.news:
			s.found(ctx, n)
		case <-s.page.DisconnectNotify():
			return nil
		}
	}
}

func framed(rw io.ReadWriteCloser) jsonrpc2.ObjectStream {
	return jsonrpc2.NewBufferedStream(rw, jsonrpc2.VSCodeObjectCodec{})
}

// editor is the state of RunEditor.
type editor struct {
	page  *jsonrpc2.Conn
	gopls *server
	dir   string
	news  chan news

	mu    sync.Mutex
	books map[string]*book // by URI
	spare []string         // folders that no open notebook uses
	made  int              // number of folders
}

// spareFolders is the number of folders that are made before gopls starts. gopls knows their packages from the
// beginning. A folder that is made later becomes known when a file in it is the last file that was changed: if several
// notebooks were opened within a second, gopls would report faults in the last one only.
const spareFolders = 32

// addFolder makes a spare folder with a first file. Without that file, gopls finds no package for files that are shown
// to it later.
func (s *editor) addFolder() error {
	s.made++
	folder := filepath.Join(s.dir, fmt.Sprint("n", s.made))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	s.spare = append(s.spare, folder)
	return os.WriteFile(filepath.Join(folder, "notebook.go"), []byte("package main\n"), 0o600)
}

// news is a list of diagnostics of a file from gopls.
type news struct {
	URI         string
	Version     *int
	Diagnostics []map[string]any
}

// newsLength is more than the number of messages that gopls sends while it answers a question.
const newsLength = 1 << 12

// fromPage answers a request of a page.
func (s *editor) fromPage(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p struct {
		Document struct{ URI, Text string } `json:"textDocument"`
		Changes  []struct{ Text string }    `json:"contentChanges"`
		Position struct{ Line, Character int }
	}
	if r.Params != nil {
		_ = json.Unmarshal(*r.Params, &p)
	}
	switch r.Method {
	case "initialize":
		return abilities, nil
	case "shutdown", "exit": // From one page; another page may still use the stream.
		return nil, nil
	case "textDocument/didOpen":
		return nil, s.open(ctx, p.Document.URI, p.Document.Text)
	case "textDocument/didChange":
		if len(p.Changes) > 0 {
			return nil, s.open(ctx, p.Document.URI, p.Changes[len(p.Changes)-1].Text)
		}
	case "textDocument/didClose":
		return nil, s.close(ctx, p.Document.URI)
	case "textDocument/hover", "textDocument/signatureHelp":
		return s.at(ctx, r.Method, s.books[p.Document.URI], p.Position.Line, p.Position.Character)
	}
	if !r.Notif {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no " + r.Method + " in notebooks"}
	}
	return nil, nil
}

// abilities lists the requests that a page may send. The kernel itself answers requests for completion.
var abilities = map[string]any{"capabilities": map[string]any{
	"textDocumentSync":      map[string]any{"openClose": true, "change": 1},
	"hoverProvider":         true,
	"signatureHelpProvider": map[string]any{"triggerCharacters": []string{"(", ","}},
}, "serverInfo": map[string]string{"name": "gopls, cell by cell"}}

// begin returns the parameters of gopls's initialization.
func (s *editor) begin() map[string]any {
	folder := map[string]string{"uri": fileURI(s.dir), "name": "notebooks"}
	formats := []string{"markdown", "plaintext"}
	return map[string]any{
		// Errors in the project's packages are not shown on a page.
		"initializationOptions": map[string]any{"expandWorkspaceToModule": false},
		"processId":             os.Getpid(), "rootUri": folder["uri"], "workspaceFolders": []any{folder},
		"capabilities": map[string]any{"textDocument": map[string]any{
			"hover":              map[string]any{"contentFormat": formats},
			"signatureHelp":      map[string]any{"signatureInformation": map[string]any{"documentationFormat": formats}},
			"publishDiagnostics": map[string]any{"versionSupport": true},
		}},
	}
}

// fileURI returns the URI of a file, in the form in which gopls returns it.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// open takes a notebook's text. The notebook may be open already, because pages do not report when they close.
func (s *editor) open(ctx context.Context, uri, text string) error {
	b := s.books[uri]
	if b == nil {
		if len(s.spare) == 0 {
			if err := s.addFolder(); err != nil {
				return err
			}
		}
		b = &book{uri: uri, dir: s.spare[0]}
		s.books[uri], s.spare = b, s.spare[1:]
	}
	return s.show(ctx, b, text)
}

// close forgets a notebook.
func (s *editor) close(ctx context.Context, uri string) error {
	b := s.books[uri]
	if b == nil {
		return nil
	}
	delete(s.books, uri)
	s.spare = append(s.spare, b.dir)
	return s.hide(ctx, b, 0, len(b.cells))
}

// show sends a notebook's cells to gopls.
func (s *editor) show(ctx context.Context, b *book, text string) error {
	had := len(b.cells)
	b.put(pieces(text))
	for i := had; i < len(b.cells); i++ {
		// For each new file that is not on disk, gopls would load the package again, with copies of all open files.
		if err := os.WriteFile(b.path(i), []byte(b.cells[i].cell), 0o600); err != nil {
			return err
		}
	}
	for i, c := range b.cells {
		if err := s.gopls.show(ctx, b.file(i), c.cell); err != nil {
			return err
		}
	}
	if err := s.hide(ctx, b, len(b.cells), had); err != nil {
		return err
	}
	return s.publish(ctx, b)
}

// hide removes cells from gopls.
func (s *editor) hide(ctx context.Context, b *book, from, to int) error {
	for i := from; i < to; i++ {
		if err := errors.Join(os.Remove(b.path(i)), s.gopls.hide(ctx, b.file(i))); err != nil {
			return err
		}
	}
	return nil
}

// at asks gopls about a position. It removes the range from the answer, because the range refers to another file.
func (s *editor) at(ctx context.Context, method string, b *book, line, unit int) (any, error) {
	if b == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	for i := len(b.cells) - 1; i >= 0; i-- {
		if c := b.cells[i]; c.line <= line {
			var answer map[string]any
			err := s.gopls.call(ctx, method, map[string]any{
				"textDocument": map[string]string{"uri": b.file(i)},
				"position":     map[string]int{"line": line - c.line + c.shift, "character": unit},
			}, &answer)
			delete(answer, "range")
			if answer == nil {
				return nil, err
			}
			return answer, err
		}
	}
	return nil, nil
}

// fromGopls receives messages that gopls sends without a request. It must not wait for the lock, because a caller of
// gopls holds it.
func (s *editor) fromGopls(r *jsonrpc2.Request) {
	var n news
	if r.Method == "textDocument/publishDiagnostics" && r.Params != nil && json.Unmarshal(*r.Params, &n) == nil {
		s.news <- n
	}
}

// found publishes diagnostics of a cell, unless they are for an earlier text.
func (s *editor) found(ctx context.Context, n news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.Version != nil && *n.Version < s.gopls.version(n.URI) {
		return
	}
	for _, b := range s.books {
		for i := range b.cells {
			if b.file(i) == n.URI {
				b.found[i] = n.Diagnostics
				_ = s.publish(ctx, b)
			}
		}
	}
}

// publish sends the diagnostics of a notebook to the page.
func (s *editor) publish(ctx context.Context, b *book) error {
	all := []map[string]any{}
	for i, c := range b.cells {
		for _, d := range b.found[i] {
			if moved := c.moved(d); moved != nil {
				all = append(all, moved)
			}
		}
	}
	return s.page.Notify(ctx, "textDocument/publishDiagnostics", map[string]any{"uri": b.uri, "diagnostics": all})
}
