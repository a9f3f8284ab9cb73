package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
)

// The README makes the same agent as the Example, and the Example runs.
func TestReadmeIsTheExample(t *testing.T) {
	_, rest, _ := strings.Cut(string(must.M1(os.ReadFile("../../README.md"))), "```go\n")
	snippet, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no Go code")
	}
	want := newAgent(t, string(must.M1(os.ReadFile("agent_test.go"))))
	if got := newAgent(t, "package p\nfunc f() {\n"+snippet+"\n}"); got != want {
		t.Errorf("the README has\n%s\nand the Example\n%s", got, want)
	}
}

// Each age likes another item. The agent decides by the age of a guest and the number of earlier visits.
func Example_context() {
	shop, ctx, guests, liked := must.M1(agent.Contextual(3, 2)), context.Background(), rand.New(rand.NewPCG(1, 2)), 0
	for i := range 500 {
		guest := []float32{18 + 60*guests.Float32(), 100 * guests.Float32()}
		shown, reward := must.M1(shop.Decide(ctx, agent.Menu{Context: guest})), float32(0)
		if shown.Action == int(guest[0]-18)/20 {
			reward = 1
		}
		must.M(shop.Observe(ctx, agent.Feedback{ID: shown.ID, Reward: reward}))
		if i >= 400 {
			liked += int(reward)
		}
	}
	fmt.Println("more than 85 of the last 100 are liked:", liked > 85)
	// Output: more than 85 of the last 100 are liked: true
}

// newAgent returns the first call of package agent in a Go file.
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
		t.Fatal("the README's code makes no agent")
	}
	return out
}
