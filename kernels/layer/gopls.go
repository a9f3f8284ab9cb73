package layer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

// gopls is the language server of a kernel. GoNB would start its own server with the kernel, which needs hundreds of MB
// even if it is never used, and GoNB's client keeps only the names of completions.
type gopls struct {
	*server
	engine  *engine
	mu      sync.Mutex // serializes questions
	program string     // GoNB's latest program that could be parsed
}

func newGopls(c Config, e *engine) *gopls {
	g := &gopls{engine: e}
	g.server = newServer(func() (io.ReadWriteCloser, error) {
		return StartGopls(goplsOf(c), g.dir(), append(c.Env[:len(c.Env):len(c.Env)], "TMPDIR="+e.dir), nil)
	}, g.begin)
	return g
}

// begin returns the parameters of gopls's initialization. Diagnostics are off: for the project's packages they would
// need hundreds of MB, and no one reads them.
func (g *gopls) begin() map[string]any {
	folder := map[string]string{"uri": fileURI(g.dir()), "name": "notebook"}
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

// dir returns the folder of GoNB's program, or "" if there is none yet.
func (g *gopls) dir() string {
	found, _ := filepath.Glob(filepath.Join(g.engine.dir, "gonb_*", "go.mod"))
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

// helpLimit is the maximum time for an answer.
const helpLimit = 20 * time.Second

// asks sends a cell to gopls, and then a question about a position in it.
func (g *gopls) asks(ctx context.Context, method, code string, cursor int, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	dir := g.dir()
	if dir == "" {
		return errors.New("GoNB has no folder for its program")
	}
	// While a cell is being prepared, and after a cell with errors, the previous program has the declarations.
	if text, err := os.ReadFile(filepath.Join(dir, "main.go")); err == nil && whole(string(text)) {
		g.program = string(text)
	}
	d := documentOf(code, g.program)
	cell := fileURI(filepath.Join(dir, cellFile))
	err := errors.Join(g.show(ctx, fileURI(filepath.Join(dir, "main.go")), d.earlier), g.show(ctx, cell, d.cell))
	if err != nil {
		return err
	}
	line, unit := d.place(code, cursor)
	return g.call(ctx, method, map[string]any{
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

// kindNames names the kinds of suggestions for which JupyterLab has icons.
var kindNames = map[int]string{2: "method", 3: "function", 4: "constructor", 5: "field", 6: "variable", 7: "class",
	8: "interface", 9: "module", 10: "property", 13: "enum", 14: "keyword", 15: "snippet", 20: "enum", 21: "constant",
	22: "struct", 25: "type"}

// complete returns the content of a complete_reply.
func (g *gopls) complete(ctx context.Context, code string, cursor int) (map[string]any, error) {
	var found struct{ Items []suggestion }
	if err := g.asks(ctx, "textDocument/completion", code, cursor, &found); err != nil {
		return nil, err
	}
	matches, types, start := []string{}, []map[string]any{}, cursor
	for i, s := range found.Items {
		// Each character of a Go name is one UTF-16 unit.
		from := cursor - (s.Edit.Range.End.Character - s.Edit.Range.Start.Character)
		if i == 0 {
			start = from
		}
		if s.Edit.New == "" || from != start || s.Edit.Range.Start.Line != s.Edit.Range.End.Line {
			continue // The protocol has a single start for all matches.
		}
		matches = append(matches, s.Edit.New)
		types = append(types, map[string]any{"text": s.Edit.New, "type": kindNames[s.Kind], "signature": s.Detail,
			"start": from, "end": cursor})
	}
	return map[string]any{"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": cursor,
		"metadata": map[string]any{typesKey: types}}, nil
}

// inspect returns the content of an inspect_reply. If the cursor is between the brackets of a call, and not at a name,
// the reply is about the function that is called.
func (g *gopls) inspect(ctx context.Context, code string, cursor int) (map[string]any, error) {
	at, text := cursor, ""
	if !atName(code, cursor) {
		at = callBefore(code, cursor)
	}
	if at >= 0 {
		var hover *struct{ Contents struct{ Value string } }
		if err := g.asks(ctx, "textDocument/hover", code, at, &hover); err != nil {
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

var (
	more   = regexp.MustCompile(`^\[[^\]]* on pkg\.go\.dev\]\(.*\)$`)
	links  = regexp.MustCompile(`\[((?:\\.|[^\]\\])*)\]\([^)]*\)`)
	marked = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])|`")
)

// textOf converts gopls's Markdown to plain text. Code, between fences or after a tab, does not change.
func textOf(markdown string) string {
	var out []string
	fenced, ruled := false, false
	for line := range strings.SplitSeq(markdown, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "\t"):
			out = append(out, line)
		case line == "---":
			ruled = true
			continue
		case more.MatchString(line), ruled && line == "":
			continue
		default:
			// Escaped characters are part of the author's text.
			out = append(out, marked.ReplaceAllString(links.ReplaceAllString(line, "$1"), "$1"))
		}
		ruled = false
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
