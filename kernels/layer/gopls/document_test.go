package gopls

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The file of a cell begins with the imports that the cell needs and lacks. The cell's lines do not change.
func TestDocumentImports(t *testing.T) {
	const program = "package main\n\nimport (\n\t\"encoding/hex\"\n\ttb \"bytes\"\n\t. \"math\"\n)\n\nfunc main() {}\n"
	for _, c := range []struct{ code, program, want string }{
		{"%%\nfmt.Println(hyper.", "", "fmt|github.com/hypermodels/hypermodels/hyper"},
		{"%%\nx := rand.N(3)", "", "math/rand/v2"},
		{"import \"fmt\"\n\n%%\nfmt.", "", ""},
		{"%%\nx.hyper.", "", ""},
		{"type fmt struct{}\n\n%%\nfmt.", "", ""},
		{"%%\nhex.Dump(tb.", program, ". math|encoding/hex|tb bytes"},
		{"import . \"math\"\n\n%%\nFloor(", program, ""},
	} {
		d := documentOf(c.code, c.program)
		head := strings.Split(d.cell, "\n")[1:d.shift]
		for i := range head {
			head[i] = strings.ReplaceAll(strings.TrimPrefix(head[i], "import "), `"`, "")
		}
		if got := strings.Join(head, "|"); got != c.want {
			t.Errorf("%q: imports %s, want %s", c.code, got, c.want)
		}
		if line := strings.Split(d.cell, "\n")[d.shift+strings.Count(c.code, "\n")]; line != c.code[strings.LastIndex(c.code, "\n")+1:] {
			t.Errorf("%q: got the last line %q", c.code, line)
		}
	}
}

// The declarations of an earlier program stay next to the cell, except main and the names that the cell declares anew.
func TestDocumentDeclarations(t *testing.T) {
	const program = `package main

import "fmt"

type T struct{}

func (t *T) Old() {}
func (t T) New() {}

var a, b = 1, 2

func f() string { return "é" }

func main() {
	fmt.Println(a)
}
`
	d := documentOf("func (t *T) New() {}\n\nfunc f() int {\n\n%%\nx.", program)
	for _, want := range []string{"type T struct", "Old()", "var a, b"} {
		if !strings.Contains(d.earlier, want) {
			t.Errorf("got no %s in\n%s", want, d.earlier)
		}
	}
	for _, not := range []string{"New()", "func f", "func main"} {
		if strings.Contains(d.earlier, not) {
			t.Errorf("got an unwanted %s in\n%s", not, d.earlier)
		}
	}
	if strings.Count(d.earlier, "\n") != strings.Count(program, "\n") {
		t.Error("lines of the program have moved")
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", documentOf("%%\nf()", program).cell, 0); err != nil {
		t.Error(err)
	}
	if d := documentOf("%%\nf()", "package main\n\nfunc broken( {"); d.earlier != "package main\n" {
		t.Errorf("broken program: got %q, want the package clause only", d.earlier)
	}
}

func TestPlace(t *testing.T) {
	const code = "%%\nx, é := \"𝛼\", f("
	line, unit := document{shift: 2}.place(code, len([]rune(code)))
	if line != 3 || unit != 16 {
		t.Errorf("got line %d and unit %d, want 3 and 16", line, unit)
	}
	if line, unit = (document{}).place(code, 1000); line != 1 || unit != 16 {
		t.Errorf("beyond the end: got line %d and unit %d, want 1 and 16", line, unit)
	}
}

func TestIsGo(t *testing.T) {
	for _, c := range []struct {
		code string
		at   int
		want bool
	}{
		{"%%\nf(", 5, true}, {"%%\nf(", 1, false}, {"!ls\nfunc f() {}", 2, false}, {"!ls \\\n-l\nfunc f() {}", 6, false},
		{"!ls\nfunc f() {}", 9, true}, {"%%bash\nls", 8, false}, {"  ", 1, false}, {"", 0, false}, {"%%\n", 3, true},
	} {
		if IsGo(c.code, c.at) != c.want {
			t.Errorf("isGo of %q at %d is wrong", c.code, c.at)
		}
	}
}

func TestCallBefore(t *testing.T) {
	for code, want := range map[string]int{"f(": 1, "f(g(1), ": 1, "f(g(": 3, "f": -1, "f() {": -1, "a(b[0], (1+2), ": 1} {
		if got := callBefore(code, len(code)); got != want {
			t.Errorf("%q: %d, want %d", code, got, want)
		}
	}
}

func TestTextOfMarkdown(t *testing.T) {
	const more = "\n\n\n---\n\n[`f` on pkg.go.dev](https://pkg.go.dev/f)"
	for _, c := range []struct{ markdown, want string }{
		{"```go\nfunc f(a *T) int\n```\n\n---\n\nF is N\\_theta of \\[T]." + more,
			"func f(a *T) int\n\nF is N_theta of [T]."},
		{"F is \\`one\\`, of [T](file:///t.go#1,2) \\\\ [a\\_b](c).\n\n\tf(`a_b`, \"\\_\")\n\n\\# x" + more,
			"F is `one`, of T \\ a_b.\n\n\tf(`a_b`, \"\\_\")\n\n# x"},
		{"```go\ntype T struct {\n\tA int `json:\"a_b\"`\n}\n```" + more, "type T struct {\n\tA int `json:\"a_b\"`\n}"},
		{"```go\nfunc Keep[T any](name string) T\n```" + more, "func Keep[T any](name string) T"},
	} {
		if got := textOf(c.markdown); got != c.want {
			t.Errorf("%q: %q, want %q", c.markdown, got, c.want)
		}
	}
}

func TestStatementsAlone(t *testing.T) {
	for code, want := range map[string]string{
		"strings.To":                           "package main\nimport \"strings\"\nfunc main() {\nstrings.To\n}\n",
		"x := 1\nx.":                           "package main\nfunc main() {\nx := 1\nx.\n}\n",
		"import r \"math/rand/v2\"\n\nr.Int()": "package main\nimport r \"math/rand/v2\"\nfunc main() {\n\n\nr.Int()\n}\n",
		"func f() {":                           "package main\nfunc f() {\n",
		"var x = ":                             "package main\nvar x = \n",
	} {
		d := documentOf(code, "")
		lines, own := strings.Split(d.cell, "\n"), strings.Split(code, "\n")
		if last := len(own) - 1; d.cell != want || lines[d.shift+last] != own[last] {
			t.Errorf("%q: got %q, shifted by %d", code, d.cell, d.shift)
		}
	}
}
