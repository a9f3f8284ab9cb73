package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// lspPage simulates a page that edits notebooks of the repository. Diagnostics arrive in faults, and last has the last
// diagnostics of each notebook.
type lspPage struct {
	*jsonrpc2.Conn
	t      *testing.T
	faults chan diagnosed
	last   map[string][]string // by path
}

// diagnosed is a notebook's diagnostics.
type diagnosed struct {
	path string
	all  []string
}

// openPage starts the server, and ends it at the end of the test. No files may remain.
func openPage(t *testing.T) *lspPage {
	t.Helper()
	program := testprogram.Build(t)
	if out, code := result(t, program, "setup"); code != 0 {
		t.Fatalf("setup: exit status %d, want 0\n%s", code, out)
	}
	ctx := context.WithoutCancel(t.Context()) // The context of the test has ended when the page is closed.
	cmd := exec.CommandContext(ctx, program, lspVerb, string(testCheckout(t)))
	tmp := t.TempDir()
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), "TMPDIR="+tmp, "GOTMPDIR=")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	must.M(errors.Join(err1, err2, cmd.Start()))
	p := &lspPage{t: t, faults: make(chan diagnosed, 1000), last: map[string][]string{}}
	hear := func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method == "textDocument/publishDiagnostics" {
			var found struct {
				URI         string
				Diagnostics []struct{ Message string }
			}
			if err := json.Unmarshal(*r.Params, &found); err != nil {
				return nil, err
			}
			var all []string
			for _, d := range found.Diagnostics {
				all = append(all, d.Message)
			}
			p.faults <- diagnosed{strings.TrimPrefix(found.URI, "file://"), all}
		}
		return nil, nil
	}
	p.Conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(both{out, in}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(hear))
	t.Cleanup(func() {
		p.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("temporary files left: %v, error %v", left, err)
		}
	})
	p.begin()
	return p
}

// begin sends the first messages of a page.
func (p *lspPage) begin() {
	p.t.Helper()
	if err := p.Call(p.t.Context(), "initialize", struct{}{}, nil); err != nil {
		p.t.Fatal(err)
	}
}

// tell sends that a notebook is opened, changed or closed.
func (p *lspPage) tell(event, path, text string) {
	p.t.Helper()
	document := map[string]any{"uri": "file://" + path, "languageId": "go", "version": 1, "text": text}
	err := p.Notify(p.t.Context(), "textDocument/"+event, map[string]any{"textDocument": document,
		"contentChanges": []any{map[string]string{"text": text}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// await waits until fits returns true after a change of diagnostics.
func (p *lspPage) await(what string, fits func() bool) {
	p.t.Helper()
	for limit := time.After(5 * time.Minute); !fits(); {
		select {
		case d := <-p.faults:
			p.last[d.path] = d.all
		case <-limit:
			p.t.Fatalf("%s: got the last diagnostics %q", what, p.last)
		}
	}
}

// settle waits until the diagnostics no longer change.
func (p *lspPage) settle() {
	for {
		select {
		case d := <-p.faults:
			p.last[d.path] = d.all
		case <-time.After(time.Second):
			return
		}
	}
}

// The committed notebooks have no faults. A fault that is added to each of them is found, and nothing else, although all
// of them are opened at once.
func TestNotebooksHaveNoFaults(t *testing.T) {
	t.Parallel()
	page := openPage(t)
	const fault = "\n\n\n%%\nvar n int = \"a\"\nfmt.Println(n)"
	paths, _ := filepath.Glob(testCheckout(t).path("notebooks", "*.ipynb"))
	for _, path := range paths {
		page.tell("didOpen", path, codeOf(t, path)+fault)
	}
	for _, path := range paths {
		page.await(filepath.Base(path), func() bool { return len(page.last[path]) > 0 })
	}
	page.settle()
	for _, path := range paths {
		if last := page.last[path]; len(last) != 1 || !strings.Contains(last[0], `cannot use "a"`) {
			t.Errorf("%s: %s", filepath.Base(path), slices.DeleteFunc(last, func(s string) bool {
				return strings.Contains(s, `cannot use "a"`)
			}))
		}
	}
}

// Faults are found in all cells of a new notebook. Faults of cells that are added later, that move, or that stay when
// others are deleted are found, too, and after the page has been loaded again.
func TestFaultsOfLaterCells(t *testing.T) {
	t.Parallel()
	page := openPage(t)
	const path = "/notebooks/new.ipynb"
	cell := func(value string) string { return "%%\nvar n int = \"" + value + "\"\nfmt.Println(n)" }
	join := func(cells ...string) string { return strings.Join(cells, "\n\n\n") }
	finds := func(values ...string) {
		t.Helper()
		fits := func() bool {
			return slices.EqualFunc(page.last[path], values, func(s, v string) bool {
				return strings.Contains(s, "cannot use \""+v+"\"")
			})
		}
		page.await(strings.Join(values, ", "), fits)
		if page.settle(); !fits() {
			t.Errorf("found %q, want one with each of %q", page.last[path], values)
		}
	}
	page.tell("didOpen", path, "")
	time.Sleep(time.Second) // gopls has the first cell
	page.tell("didChange", path, cell("a"))
	finds("a")
	page.tell("didChange", path, join(cell("a"), ""))
	page.tell("didChange", path, join(cell("a"), cell("b")))
	finds("a", "b")
	page.tell("didChange", path, join(cell("a"), "func f() {}", cell("c"), cell("b")))
	finds("a", "c", "b")
	page.tell("didChange", path, join(cell("b"), cell("a")))
	finds("b", "a")
	page.begin()
	page.tell("didOpen", path, join(cell("d"), cell("b")))
	finds("d", "b")
	page.tell("didChange", path, cell("b"))
	finds("b")
}

// The user's module may be in a path with a space.
func TestWorkspaceOfAPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.work")
	must.M(os.WriteFile(file, []byte(goWork("go 1.26", "/my code/shop")), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "work", "edit", "-json", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"/my code/shop"`) {
		t.Errorf("got error %v, want the module in\n%s", err, out)
	}
}

// codeOf returns a notebook's code, joined as by jupyter-lsp.
func codeOf(t *testing.T, path string) string {
	t.Helper()
	text := must.M1(os.ReadFile(path))
	var book struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source json.RawMessage
		}
	}
	must.M(json.Unmarshal(text, &book))
	var cells []string
	for _, c := range book.Cells {
		var lines []string
		if c.Type == "code" && json.Unmarshal(c.Source, &lines) == nil {
			cells = append(cells, strings.Join(lines, ""))
		}
	}
	return strings.Join(cells, "\n\n\n")
}
