package agent_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// The README's agent is the Example's, which runs.
func TestReadmeIsTheExample(t *testing.T) {
	_, rest, _ := strings.Cut(string(must.M1(os.ReadFile("../../README.md"))), "```go\n")
	snippet, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no Go code")
	}
	readme := newAgent(t, "package p\nfunc f() {\n"+snippet+"\n}")
	example := newAgent(t, string(must.M1(os.ReadFile("agent_test.go"))))
	if readme != example {
		t.Errorf("the README has\n%s\nand the Example\n%s", readme, example)
	}
}

// newAgent is the first call of package agent in a Go file.
func newAgent(t *testing.T, source string) string {
	t.Helper()
	set := token.NewFileSet()
	var out string
	ast.Inspect(must.M1(parser.ParseFile(set, "", source, 0)), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || out != "" {
			return out == ""
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && types.ExprString(f.X) == "agent" {
			var text bytes.Buffer
			must.M(printer.Fprint(&text, token.NewFileSet(), call))
			out = text.String()
		}
		return true
	})
	if out == "" {
		t.Fatal("no agent is made")
	}
	return out
}
