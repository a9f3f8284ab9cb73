// Package gopls answers questions about the code of cells, by the language server gopls: completion, documentation and
// errors. [Assistant] answers a kernel. [RunEditor] answers a page of JupyterLab in which a user edits notebooks.
package gopls

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode"
)

// Assistant completes and documents the code of a kernel's cells, by a gopls of its own. GoNB would start its own gopls
// with the kernel, which needs hundreds of MB even if it is never used, and GoNB's client keeps only the names of
// completions.
type Assistant struct {
	server  *server
	dir     func() string
	mu      sync.Mutex // serializes questions
	program string     // GoNB's latest program that could be parsed
}

// NewAssistant returns an assistant. start starts gopls in a folder. dir returns the folder of GoNB's program, or "" if
// there is none yet.
func NewAssistant(start func(dir string) (io.ReadWriteCloser, error), dir func() string) *Assistant {
	a := &Assistant{dir: dir}
	a.server = newServer(func() (io.ReadWriteCloser, error) { return start(dir()) }, a.begin)
	return a
}

// Stop ends gopls. The next question starts it again.
func (a *Assistant) Stop() { a.server.stop() }

// begin returns the parameters of gopls's initialization. Diagnostics are off: for the project's packages they would
// need hundreds of MB, and no one reads them.
func (a *Assistant) begin() map[string]any {
	folder := map[string]string{"uri": fileURI(a.dir()), "name": "notebook"}
	return map[string]any{
		"rootUri": folder["uri"], "workspaceFolders": []any{folder},
		"capabilities": map[string]any{
			"textDocument": map[string]any{
				"completion": map[string]any{"completionItem": map[string]any{"documentationFormat": []string{"markdown"}}},
				"hover":      map[string]any{"contentFormat": []string{"markdown"}},
			},
		},
		"initializationOptions": map[string]any{"completionBudget": "0s", "matcher": "Fuzzy", "completeUnimported": true,
			"diagnosticsTrigger": "Save", "expandWorkspaceToModule": false},
	}
}

// helpLimit is the maximum time for an answer.
const helpLimit = 20 * time.Second

// ask sends a cell to gopls, and then a question about a position in it.
func (a *Assistant) ask(ctx context.Context, method, code string, cursor int, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	dir := a.dir()
	if dir == "" {
		return errors.New("GoNB has no folder for its program")
	}
	// While a cell is being prepared, and after a cell with errors, the previous program has the declarations.
	if text, err := os.ReadFile(filepath.Join(dir, "main.go")); err == nil && whole(string(text)) {
		a.program = string(text)
	}
	d := documentOf(code, a.program)
	cell := fileURI(filepath.Join(dir, cellFile))
	err := errors.Join(a.server.show(ctx, fileURI(filepath.Join(dir, "main.go")), d.earlier), a.server.show(ctx, cell, d.cell))
	if err != nil {
		return err
	}
	line, unit := d.place(code, cursor)
	return a.server.call(ctx, method, map[string]any{
		"textDocument": map[string]string{"uri": cell},
		"position":     map[string]int{"line": line, "character": unit},
	}, answer)
}

// cellFile is the name of the cell's file, which exists only in gopls.
const cellFile = "cell.go"

// suggestion is an item of a completion.
type suggestion struct {
	Kind   int
	Detail string
	Edit   struct {
		New   string `json:"newText"`
		Range struct{ Start, End struct{ Line, Character int } }
	} `json:"textEdit"`
}

// Complete returns the content of a complete_reply.
func (a *Assistant) Complete(ctx context.Context, code string, cursor int) (map[string]any, error) {
	var found struct{ Items []suggestion }
	if err := a.ask(ctx, "textDocument/completion", code, cursor, &found); err != nil {
		return nil, err
	}
	c := Completions{Start: cursor, End: cursor}
	for i, s := range found.Items {
		// Each character of a Go name is one UTF-16 unit.
		from := cursor - (s.Edit.Range.End.Character - s.Edit.Range.Start.Character)
		if i == 0 {
			c.Start = from
		}
		if s.Edit.New == "" || from != c.Start || s.Edit.Range.Start.Line != s.Edit.Range.End.Line {
			continue // The protocol has a single start for all matches.
		}
		c.Add(s.Edit.New, kindNames[s.Kind], s.Detail)
	}
	return c.Reply(), nil
}

// Inspect returns the content of an inspect_reply. If the cursor is between the brackets of a call, and not at a name,
// the reply is about the function that is called.
func (a *Assistant) Inspect(ctx context.Context, code string, cursor int) (map[string]any, error) {
	at, text := cursor, ""
	if !atName(code, cursor) {
		at = callBefore(code, cursor)
	}
	if at >= 0 {
		var hover *struct{ Contents struct{ Value string } }
		if err := a.ask(ctx, "textDocument/hover", code, at, &hover); err != nil {
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

// atName reports whether a cursor touches a name.
func atName(code string, cursor int) bool {
	runes := []rune(code)
	for i := max(0, cursor-1); i <= cursor && i < len(runes); i++ {
		if r := runes[i]; r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// callBefore returns the end of the function's name in the call around a cursor, or -1.
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
