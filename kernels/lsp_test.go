package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// The committed notebooks have no fault, and one that is put into them is found, and nothing else.
func TestNotebooksHaveNoFaults(t *testing.T) {
	repo := testCheckout(t)
	program := testprogram.Build(t)
	if out, code := result(t, program, "setup"); code != 0 {
		t.Fatalf("setup: exit status %d\n%s", code, out)
	}
	cmd := exec.CommandContext(t.Context(), program, lspVerb, string(repo))
	tmp := t.TempDir()
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), "TMPDIR="+tmp, "GOTMPDIR=")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	faults := make(chan []string, 1000)
	hear := func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method == "textDocument/publishDiagnostics" {
			var p struct{ Diagnostics []struct{ Message string } }
			if err := json.Unmarshal(*r.Params, &p); err != nil {
				return nil, err
			}
			var all []string
			for _, d := range p.Diagnostics {
				all = append(all, d.Message)
			}
			faults <- all
		}
		return nil, nil
	}
	page := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(both{out, in}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(hear))
	defer func() {
		page.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left among temporary files: %v, %v", left, err)
		}
	}()
	if err := page.Call(t.Context(), "initialize", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	const fault = "\n\n\n%%\nvar n int = \"a\"\nfmt.Println(n)"
	paths, _ := filepath.Glob(repo.path("notebooks", "*.ipynb"))
	for _, path := range paths {
		document := map[string]any{"uri": "file://" + path, "languageId": "go", "version": 1, "text": codeOf(t, path) + fault}
		if err := page.Notify(t.Context(), "textDocument/didOpen", map[string]any{"textDocument": document}); err != nil {
			t.Fatal(err)
		}
		var last []string
		for limit := time.After(5 * time.Minute); len(last) == 0; {
			select {
			case last = <-faults:
			case <-limit:
				t.Fatalf("%s: the fault is not found", filepath.Base(path))
			}
		}
		for quiet := time.After(time.Second); quiet != nil; {
			select {
			case last = <-faults:
			case <-quiet:
				quiet = nil
			}
		}
		if len(last) != 1 || !strings.Contains(last[0], `cannot use "a"`) {
			t.Errorf("%s: %s", filepath.Base(path), slices.DeleteFunc(last, func(s string) bool {
				return strings.Contains(s, `cannot use "a"`)
			}))
		}
		document = map[string]any{"uri": "file://" + path}
		if err := page.Notify(t.Context(), "textDocument/didClose", map[string]any{"textDocument": document}); err != nil {
			t.Fatal(err)
		}
	}
}

// codeOf is a notebook's code, as jupyter-lsp joins it.
func codeOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var book struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &book); err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, c := range book.Cells {
		var lines []string
		if c.Type == "code" && json.Unmarshal(c.Source, &lines) == nil {
			cells = append(cells, strings.Join(lines, ""))
		}
	}
	return strings.Join(cells, "\n\n\n")
}
