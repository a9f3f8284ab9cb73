package layer

import (
	"context"
	"encoding/json"
	"errors"
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

// RunEditor serves a page that edits notebooks, by the Language Server Protocol over one stream, from gopls over
// another: what is wrong while one types, and what is under the mouse. A notebook comes as one text (jupyter-lsp joins
// its cells by two blank lines), and gopls sees a package with a file for each cell. dir is a folder of gopls's
// workspace; nothing is written there.
func RunEditor(ctx context.Context, page, gopls io.ReadWriteCloser, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &editor{dir: dir, books: map[string]*book{}}
	s.mu.Lock() // Until both are there.
	s.gopls = jsonrpc2.NewConn(ctx, framed(gopls), jsonrpc2.HandlerWithError(s.fromGopls))
	s.page = jsonrpc2.NewConn(ctx, framed(page), jsonrpc2.HandlerWithError(s.fromPage))
	s.mu.Unlock()
	select {
	case <-s.page.DisconnectNotify():
		return nil
	case <-s.gopls.DisconnectNotify():
		return errors.New("gopls has ended")
	}
}

func framed(rw io.ReadWriteCloser) jsonrpc2.ObjectStream {
	return jsonrpc2.NewBufferedStream(rw, jsonrpc2.VSCodeObjectCodec{})
}

// editor is the state of RunEditor.
type editor struct {
	page, gopls *jsonrpc2.Conn
	dir         string

	mu    sync.Mutex
	books map[string]*book // by URI
	made  int              // books so far
}

// book is a notebook.
type book struct {
	uri, dir string
	cells    []piece
	versions map[string]int // of the files that gopls has
	found    map[string][]map[string]any
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
		return s.initialize(ctx)
	case "shutdown":
		return nil, nil
	case "exit":
		return nil, s.page.Close()
	case "textDocument/didOpen":
		s.made++
		s.books[p.Document.URI] = &book{uri: p.Document.URI, dir: filepath.Join(s.dir, fmt.Sprint("n", s.made)),
			versions: map[string]int{}, found: map[string][]map[string]any{}}
		return nil, s.show(ctx, s.books[p.Document.URI], p.Document.Text)
	case "textDocument/didChange":
		if b := s.books[p.Document.URI]; b != nil && len(p.Changes) > 0 {
			return nil, s.show(ctx, b, p.Changes[len(p.Changes)-1].Text)
		}
	case "textDocument/didClose":
		if b := s.books[p.Document.URI]; b != nil {
			delete(s.books, p.Document.URI)
			return nil, s.show(ctx, b, "")
		}
	case "textDocument/hover", "textDocument/signatureHelp":
		return s.at(ctx, r.Method, s.books[p.Document.URI], p.Position.Line, p.Position.Character)
	}
	if !r.Notif {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no " + r.Method + " in notebooks"}
	}
	return nil, nil
}

// initialize begins with gopls, and says what a page may ask. Completion is the kernel's.
func (s *editor) initialize(ctx context.Context) (any, error) {
	folder := map[string]string{"uri": fileURI(s.dir), "name": "notebooks"}
	formats := []string{"markdown", "plaintext"}
	err := s.gopls.Call(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": folder["uri"], "workspaceFolders": []any{folder},
		"capabilities": map[string]any{"textDocument": map[string]any{
			"hover":              map[string]any{"contentFormat": formats},
			"signatureHelp":      map[string]any{"signatureInformation": map[string]any{"documentationFormat": formats}},
			"publishDiagnostics": map[string]any{},
		}},
	}, nil)
	if err == nil {
		err = s.gopls.Notify(ctx, "initialized", struct{}{})
	}
	return map[string]any{"capabilities": map[string]any{
		"textDocumentSync":      map[string]any{"openClose": true, "change": 1},
		"hoverProvider":         true,
		"signatureHelpProvider": map[string]any{"triggerCharacters": []string{"(", ","}},
	}, "serverInfo": map[string]string{"name": "gopls, cell by cell"}}, err
}

func fileURI(path string) string { return "file://" + path }

// show tells gopls of a notebook's cells.
func (s *editor) show(ctx context.Context, b *book, text string) error {
	b.cells = pieces(text)
	for i, c := range b.cells {
		if err := s.tell(ctx, b, cellName(i), c.cell); err != nil {
			return err
		}
	}
	for i := len(b.cells); b.versions[cellName(i)] > 0; i++ { // Cells that are no more.
		if err := s.tell(ctx, b, cellName(i), "package main\n"); err != nil {
			return err
		}
	}
	return s.publish(ctx, b)
}

func cellName(i int) string { return "cell" + strconv.Itoa(i) + ".go" }

func (s *editor) tell(ctx context.Context, b *book, name, text string) error {
	b.versions[name]++
	uri, version := fileURI(filepath.Join(b.dir, name)), b.versions[name]
	if version == 1 {
		return s.gopls.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri,
			"languageId": "go", "version": version, "text": text}})
	}
	return s.gopls.Notify(ctx, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": version},
		"contentChanges": []any{map[string]string{"text": text}}})
}

// at asks gopls about a place. The answer's own places, in another file, are left out.
func (s *editor) at(ctx context.Context, method string, b *book, line, unit int) (any, error) {
	if b == nil {
		return nil, nil
	}
	for i := len(b.cells) - 1; i >= 0; i-- {
		if c := b.cells[i]; c.line <= line {
			var answer map[string]any
			err := s.gopls.Call(ctx, method, map[string]any{
				"textDocument": map[string]string{"uri": fileURI(filepath.Join(b.dir, cellName(i)))},
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

// fromGopls takes what gopls says of its own accord.
func (s *editor) fromGopls(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "workspace/configuration":
		var p struct{ Items []json.RawMessage }
		_ = json.Unmarshal(*r.Params, &p)
		return make([]any, len(p.Items)), nil
	case "textDocument/publishDiagnostics":
		var p struct {
			URI         string
			Diagnostics []map[string]any
		}
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, err
		}
		go s.found(ctx, strings.TrimPrefix(p.URI, "file://"), p.Diagnostics) // Who asks gopls holds the lock.
	}
	return nil, nil
}

// found passes on what gopls has found in a cell.
func (s *editor) found(ctx context.Context, path string, all []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.books {
		if filepath.Dir(path) == b.dir {
			b.found[filepath.Base(path)] = all
			_ = s.publish(ctx, b)
		}
	}
}

// publish tells the page what is wrong in a notebook.
func (s *editor) publish(ctx context.Context, b *book) error {
	all := []map[string]any{}
	for i, c := range b.cells {
		for _, d := range b.found[cellName(i)] {
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
	return withImports(text, imports)
}
