package layer

import (
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// RunEditor serves pages that edit notebooks, by the Language Server Protocol over one stream, from gopls, which start
// runs: what is wrong while one types, and what is under the mouse. A notebook comes as one text (jupyter-lsp joins its
// cells by two blank lines), and gopls sees a package with a file for each cell. dir is a folder of gopls's workspace;
// each notebook has a folder there.
//
// A page that is loaded again, and a second one, come over the same stream, with an initialize of their own: only the
// stream's end is that of the editor.
func RunEditor(ctx context.Context, page io.ReadWriteCloser, start Starter, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &editor{dir: dir, books: map[string]*book{}, news: make(chan news, newsLength)}
	s.gopls = newServer(start, s.begin)
	s.gopls.hear = s.fromGopls
	defer s.gopls.stop()
	s.mu.Lock() // Until the page is there.
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
	made  int              // books so far
}

// news is what gopls has found in a file.
type news struct {
	URI         string
	Version     *int
	Diagnostics []map[string]any
}

// newsLength is more than gopls says while it is asked something.
const newsLength = 1 << 12

// book is a notebook.
type book struct {
	uri, dir string
	cells    []piece
	found    [][]map[string]any // of each cell
}

// piece is a cell within a notebook's text: the line that it begins at, and what gopls sees.
type piece struct {
	line int
	document
}

// fromPage answers a page.
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
	case "shutdown", "exit": // Of one page; the next one may have come.
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

// abilities say what a page may ask. Completion is the kernel's.
var abilities = map[string]any{"capabilities": map[string]any{
	"textDocumentSync":      map[string]any{"openClose": true, "change": 1},
	"hoverProvider":         true,
	"signatureHelpProvider": map[string]any{"triggerCharacters": []string{"(", ","}},
}, "serverInfo": map[string]string{"name": "gopls, cell by cell"}}

// begin is what gopls is told at first.
func (s *editor) begin() map[string]any {
	folder := map[string]string{"uri": fileURI(s.dir), "name": "notebooks"}
	formats := []string{"markdown", "plaintext"}
	return map[string]any{
		// What is wrong in the project's packages is no page's business.
		"initializationOptions": map[string]any{"expandWorkspaceToModule": false},
		"processId":             os.Getpid(), "rootUri": folder["uri"], "workspaceFolders": []any{folder},
		"capabilities": map[string]any{"textDocument": map[string]any{
			"hover":              map[string]any{"contentFormat": formats},
			"signatureHelp":      map[string]any{"signatureInformation": map[string]any{"documentationFormat": formats}},
			"publishDiagnostics": map[string]any{"versionSupport": true},
		}},
	}
}

func fileURI(path string) string { return "file://" + path }

// open takes a notebook's text, that of one which is open already as well: pages do not say when they go.
func (s *editor) open(ctx context.Context, uri, text string) error {
	b := s.books[uri]
	if b == nil {
		s.made++
		b = &book{uri: uri, dir: filepath.Join(s.dir, fmt.Sprint("n", s.made))}
		if err := b.makeFolder(); err != nil {
			return err
		}
		s.books[uri] = b
	}
	return s.show(ctx, b, text)
}

// makeFolder makes the notebook's folder, with a file: without one, gopls finds no package for a file that is shown to
// it after the first.
func (b *book) makeFolder() error {
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "notebook.go"), []byte("package main\n"), 0o600)
}

// close forgets a notebook.
func (s *editor) close(ctx context.Context, uri string) error {
	b := s.books[uri]
	if b == nil {
		return nil
	}
	delete(s.books, uri)
	defer os.RemoveAll(b.dir)
	return s.hide(ctx, b, 0, len(b.cells))
}

// show tells gopls of a notebook's cells.
func (s *editor) show(ctx context.Context, b *book, text string) error {
	had := len(b.cells)
	b.put(pieces(text))
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

// hide takes cells from gopls.
func (s *editor) hide(ctx context.Context, b *book, from, to int) error {
	for i := from; i < to; i++ {
		if err := s.gopls.hide(ctx, b.file(i)); err != nil {
			return err
		}
	}
	return nil
}

// put gives a notebook its cells. What was found in a cell moves with it, and stays with one that is being changed; of
// all others gopls will tell.
func (b *book) put(cells []piece) {
	before := map[string][]map[string]any{}
	for i, c := range b.cells {
		before[c.cell] = b.found[i]
	}
	found := make([][]map[string]any, len(cells))
	for i, c := range cells {
		all, same := before[c.cell]
		if !same && len(cells) == len(b.cells) {
			all = b.found[i]
		}
		found[i] = all
	}
	b.cells, b.found = cells, found
}

// file is the URI of a cell's file.
func (b *book) file(i int) string { return fileURI(filepath.Join(b.dir, "cell"+strconv.Itoa(i)+".go")) }

// at asks gopls about a place. The answer's own places, in another file, are left out.
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

// fromGopls takes what gopls says of its own accord. Who asks gopls holds the lock: it is not to be waited for here.
func (s *editor) fromGopls(r *jsonrpc2.Request) {
	var n news
	if r.Method == "textDocument/publishDiagnostics" && r.Params != nil && json.Unmarshal(*r.Params, &n) == nil {
		s.news <- n
	}
}

// found passes on what gopls has found in a cell, but what it has found in an earlier text.
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

// publish tells the page what is wrong in a notebook.
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

// resolvable is a package's name that goimports may find when the cell runs.
var resolvable = regexp.MustCompile(`^undefined: [a-z]\w*$`)

// moved is a diagnostic of a cell's file in the notebook's lines, or nil where it is none of the author's business: the
// kernel adds and leaves out imports, and takes the last of several declarations.
func (c piece) moved(d map[string]any) map[string]any {
	message, _ := d["message"].(string)
	code, _ := d["code"].(string)
	area, _ := json.Marshal(d["range"])
	var r struct{ Start, End struct{ Line, Character int } }
	if json.Unmarshal(area, &r) != nil || r.Start.Line < c.shift {
		return nil
	}
	lines := strings.Split(c.cell, "\n")
	after := ""
	if r.End.Line < len(lines) {
		after = from(lines[r.End.Line], r.End.Character)
	}
	switch {
	case code == "UnusedImport", code == "DuplicateDecl", strings.Contains(message, "redeclared in this block"):
		return nil
	case resolvable.MatchString(message) && strings.HasPrefix(after, "."):
		return nil
	}
	place := func(line, unit int) map[string]int {
		return map[string]int{"line": line - c.shift + c.line, "character": unit}
	}
	out := map[string]any{"message": message, "source": "gopls", "range": map[string]any{
		"start": place(r.Start.Line, r.Start.Character), "end": place(r.End.Line, r.End.Character)}}
	for _, key := range []string{"severity", "code", "tags"} {
		if v, ok := d[key]; ok {
			out[key] = v
		}
	}
	return out
}

// from is the rest of a line after some UTF-16 units, as far as it is in ASCII.
func from(line string, unit int) string {
	for i, r := range line {
		if unit <= 0 {
			return line[i:]
		}
		unit--
		if r > 0xFFFF {
			unit--
		}
	}
	return ""
}

// between are the blank lines that stand between two cells.
const between = "\n\n\n"

// begins are what a cell's first line begins with: two blank lines before anything else are the cell's own.
var begins = regexp.MustCompile(`^\s*(%|!|//|/\*|func\b|type\b|var\b|const\b|import\b|$)`)

// pieces are a notebook's cells of Go code.
func pieces(text string) (out []piece) {
	line, start := 0, 0
	var cells []string
	var lines []int
	for i := 0; i <= len(text); i++ {
		atEnd := i == len(text)
		if !atEnd && !(strings.HasPrefix(text[i:], between) && begins.MatchString(strings.TrimLeft(text[i:], "\n"))) {
			continue
		}
		cells, lines = append(cells, text[start:i]), append(lines, line)
		if !atEnd {
			line += strings.Count(text[start:i+len(between)], "\n")
			start, i = i+len(between), i+len(between)-1
		}
	}
	imports := importsOf(cells)
	for i, cell := range cells {
		if word, _ := magic(cell); isOneOf(word, notGo) {
			continue
		}
		out = append(out, piece{lines[i], fileOf(cell, imports)})
	}
	return out
}

// importsOf are those of all cells: an import serves later cells, too.
func importsOf(cells []string) (specs []string) {
	for _, cell := range cells {
		text, _, _ := goText(cell)
		file, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+text, parser.ImportsOnly)
		if file != nil {
			specs = append(specs, specsOf(file)...)
		}
	}
	return specs
}

// fileOf is a cell as a file of a package that has many: main has no name there.
func fileOf(code string, imports []string) document {
	text, body, _ := goText(code)
	if body {
		text = strings.Replace(text, mainLine, "func _() {", 1) + "\n}"
	}
	return fileWith(text, imports, body, "func _() {")
}
