package cells

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

func TestParseCell(t *testing.T) {
	names := func(c Cell) (all []string) {
		for _, d := range c.decls {
			all = append(all, strings.Join(d.Names, " "))
		}
		return all
	}
	for _, c := range []struct {
		code  string
		names []string // of its declarations
		body  string   // the statements of its program, without the blank lines before them
		bare  bool
	}{
		{"func f() {}", []string{"f"}, "", false},
		{"func f() int { return 1 }\n%%\nf()", []string{"f"}, "f()", false},
		{"type (\n\ta int\n\tb = a\n)", []string{"a", "b"}, "", false},
		{"func (t *T) m() {}\nfunc (s S[A, B]) n() {}", []string{"T.m", "S.n"}, "", false},
		{"const (\n\ta = iota\n\tb\n)\nconst (\n\tc = 1\n\td = 2\n)", []string{"a b", "c", "d"}, "", false},
		{"import (\n\t\"fmt\"\n\tr \"math/rand/v2\"\n)", []string{"fmt", "r"}, "", false},
		{"var a, b = 1, 2", []string{"a b"}, "", false},
		{"x := 1", nil, "x := 1", true},
		{"1 + 1", nil, "1 + 1", true},
		{"import \"fmt\"\n\nfmt.Println(1)", []string{"fmt"}, "fmt.Println(1)", true},
		{"var x = 1\r\n%%\r\nprintln(x)\r\n", []string{"x"}, "println(x)\n", false},
		{"var s = `\n%%\n!ls`\n%% a b\nprintln(s)", []string{"s"}, "println(s)", false},
		{"/*\n%%\n*/\nfunc f() {}", []string{"f"}, "", false},
		{"package main\nfunc f() {}", []string{"f"}, "", false},
		{"\n%%\nprintln(`\npackage a`)", nil, "println(`\npackage a`)", false},
		{"%exec f 1\nfunc f() {}", []string{"f"}, "f()\n", false},
		{"", nil, "", false},
		{"%%", nil, "", false},
	} {
		got, wrong := Parse(c.code)
		if wrong != nil || !slices.Equal(names(got), c.names) || strings.TrimLeft(got.body.Text, "\n") != c.body ||
			got.body.StatementsOnly != c.bare {
			t.Errorf("%q: got declarations %q, body %q, bare %v, error %v",
				c.code, names(got), got.body.Text, got.body.StatementsOnly, wrong)
		}
	}
	for code, want := range map[string]Complaint{
		"%%\na()\n%%\nb()":    {0, 3, "a second line %%: a cell has one program"},
		"%%\na()\n%% \nb()":   {0, 3, "a second line %%: a cell has one program"},
		"%%\nf(":              {0, 2, "expected operand, found the end of the cell"},
		"func f() {":          {0, 1, "expected '}', found the end of the cell"},
		"func f() {}\nf()":    {0, 2, "expected declaration, found f\nA cell that has declarations and statements needs a line %% between them."},
		"x := 1\nfunc f() {}": {0, 2, "expected '(', found f\nFunctions stand before the statements, with a line %% between them."},
		"hello world":         {0, 1, "expected ';', found world"},
		"x := 1 +":            {0, 1, "expected operand, found the end of the cell"},
		"%%\n}":               {0, 2, "a closing brace has no opening one"},
		"f()\n%%bash":         {0, 2, "%%bash must be the first line of a cell"},
		"%%nothing\nf()":      {0, 1, "unknown special line %%nothing: %help lists the special lines"},
		"func f() {}\n%exec main": {0, 2, "this cell has no function main, and the " +
			"functions main of earlier cells are not kept: give the function another name"},
		"%exec\nfunc f() {}":       {0, 1, "%exec needs the name of a function"},
		"func main() {}\n%%\nf()":  {0, 3, "the cell has two programs, func main and these statements: remove one of them"},
		"%%\ns := `\n%%\n`\n%%\n1": {0, 5, "a second line %%: a cell has one program"},
	} {
		if _, wrong := Parse(code); len(wrong) != 1 || wrong[0] != want {
			t.Errorf("%q: %+v, want %+v", code, wrong, want)
		}
	}
}

// notebook is a memory with a compiler that starts no processes.
type notebook struct {
	t      *testing.T
	memory Memory
	number int
}

var standard = importer.ForCompiler(token.NewFileSet(), "gc", nil)

// check compiles a text. Its errors have the form of the Go compiler's.
func check(text string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return []byte("./" + err.Error()), err
	}
	var said strings.Builder
	conf := types.Config{Importer: standard, Error: func(err error) {
		e := err.(types.Error)
		at := files.Position(e.Pos)
		fmt.Fprintf(&said, "./main.go:%d:%d: %s\n", at.Line, at.Column, e.Msg)
	}}
	if _, err := conf.Check("main", files, []*ast.File{file}, nil); err != nil {
		return []byte(said.String()), err
	}
	return nil, nil
}

// checker is a compiler that only checks types. The cells have all their imports.
type checker struct{ text string }

func (*checker) FindImports(text string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return nil, nil // The compiler reports the error.
	}
	return ImportsOf(file), nil
}

func (c *checker) Compile(text string) ([]byte, error) {
	c.text = text
	return check(text)
}

// run runs a cell, and returns the same result as the kernel.
func (n *notebook) run(owner, code string) (BuildResult, composition) {
	n.t.Helper()
	n.number++
	c, wrong := Parse(code)
	if wrong != nil {
		n.t.Fatalf("%q: got error %v, want none", code, wrong)
	}
	p, all := n.memory.Program(c, n.number, owner)
	with := new(checker)
	b, places, err := p.Build(with)
	must.M(err)
	if b.Remember {
		n.memory.Keep(p, all, b)
	}
	return b, composition{text: with.text, places: places}
}

// aside returns the names of the declarations that are set aside.
func (n *notebook) aside() (names []string) {
	for _, d := range n.memory.decls {
		if d.SetAside != "" {
			names = append(names, strings.Join(d.Names, " "))
		}
	}
	return names
}

func TestCellThatRunsWins(t *testing.T) {
	type step struct {
		code, aside, complaint string
	}
	for name, steps := range map[string][]step{
		"a function": {
			{"func area(r int) int { return r * r }", "", ""}, {"func double(r int) int { return 2 * area(r) }", "", ""},
			{"func area(r, s int) int { return r * s }", "double", ""},
			{"%%\nprintln(area(1, 2))", "double", ""},
			{"%%\nprintln(double(1))", "double", "undefined: double"},
			{"func double(r int) int { return 2 * area(r, r) }\n%%\nprintln(double(2))", "", ""}},
		"back again": {
			{"func area(r int) int { return r }", "", ""}, {"func double(r int) int { return area(r) }", "", ""},
			{"func four(r int) int { return double(double(r)) }", "", ""},
			{"func area(r, s int) int { return r * s }", "double,four", ""}, {"func area(r int) int { return r }", "", ""},
			{"%%\nprintln(four(1))", "", ""}},
		"a type": {
			{"type P struct{ X int }", "", ""}, {"func (p P) Twice() int { return 2 * p.X }", "", ""},
			{"type P struct{ Y int }", "P.Twice", ""}, {"%%\nprintln(P{}.Y)", "P.Twice", ""},
			{"func (p P) Twice() int { return 2 * p.Y }\n%%\nprintln(P{}.Twice())", "", ""}},
		"another kind of the name": {
			{"func a() int { return 1 }", "", ""}, {"var a = 3", "", ""}, {"type a int", "", ""}, {"const a = 1", "", ""},
			{"func a() int { return 2 }\n%%\nprintln(a())", "", ""}},
		"a method and a type that cannot have it": {
			{"type T struct{}", "", ""}, {"func (T) M() {}", "", ""}, {"type T interface{ N() }", "T.M", ""},
			{"type T struct{}", "", ""}},
		"a line of a group": {
			{"const (\n\ta = iota\n\tb\n\tc\n)", "", ""}, {"const b = \"x\"\n%%\nprintln(c - 2, b + \"\")", "", ""}},
		"a variable of several": {
			{"func two() (int, string) { return 1, \"\" }\nvar a, b = two()", "", ""}, {"const a = 3\n%%\nprintln(a, b+\"\")", "", ""}},
		"an import": {
			{"import r \"strings\"\nvar _ = r.ToUpper", "", ""}, {"func up() string { return r.ToUpper(\"a\") }", "", ""},
			{"var r = 3\n%%\nprintln(r)", "_ var _ = r.ToUpper,up", ""}},
		"an error of its own": {
			{"func f() int { return 1 }", "", ""}, {"func f() int { return g() }", "", "undefined: g"}, {"%%\nprintln(f())", "", ""}},
		"an error of its body": {
			{"func f() int { return 1 }\n%%\nprintln(g())", "", "undefined: g"}, {"%%\nprintln(f())", "", ""}},
		"statements alone": {
			{"x := 1", "", ""}, {"α := 1", "", ""}, {"x := 1\ny := 2\nx", "", ""},
			{"println()", "", ""}, {"func f() {}", "", ""}, {"f()", "", ""},
			{"if true {\n\tz := 1\n}", "", "declared and not used: z"},
			{"x := 1\nif true {\n\tx := 2\n}\nx", "", "declared and not used: x"},
			{"x := 1\nif true {\n\tx := 2\n}", "", "declared and not used: x"}},
		"removed":            {{"func a() int { return 1 }", "", ""}, {"func b() int { return a() }", "", ""}, {"%rm a", "", ""}, {"%%\nprintln()", "b", ""}},
		"a main function":    {{"func main() {}", "", ""}, {"println()", "", ""}, {"func main() { main() }", "", ""}},
		"a cycle":            {{"type A struct{ b *B }\ntype B struct{ a A }", "", ""}, {"type C struct{ b B }", "", ""}, {"type A struct{ n int }\nvar _ = C{}.b.a.n", "", ""}},
		"a generic function": {{"func m[T any](x T) T { return x }", "", ""}, {"var three = m(3)", "", ""}, {"func m[T ~string](x T) T { return x }", "three", ""}},
	} {
		n := &notebook{t: t}
		for _, s := range steps {
			if rest, ok := strings.CutPrefix(s.code, "%rm "); ok {
				n.memory.Remove([]string{rest})
				continue
			}
			b, text := n.run("", s.code)
			complaint := ""
			if len(b.Complaints) > 0 {
				complaint = b.Complaints[0].Text
			}
			if got := strings.Join(n.aside(), ","); got != s.aside || complaint != s.complaint {
				t.Errorf("%s: %q sets %q aside and says %q, want %q and %q\n%s", name, s.code, got, complaint, s.aside,
					s.complaint, text.text)
			}
		}
	}
}

func TestMainFunctionByName(t *testing.T) {
	for _, code := range []string{"func main() {}\n%exec main a b", "func main() {}\n%%\nmain()"} {
		if _, wrong := Parse(code); wrong != nil {
			t.Errorf("%q: %+v", code, wrong)
		}
	}
}

func TestArgumentsOfTests(t *testing.T) {
	c, _ := Parse("func TestMain(m *testing.M) {}\nfunc TestA(t *testing.T) {}\nfunc ExampleB() {}\n%test")
	if got := c.TestArguments(); !slices.Equal(got, []string{"-test.v", "-test.run=^TestA$|^ExampleB$"}) {
		t.Errorf("got %q, want the test and the example", got)
	}
}

func TestCgoPreamble(t *testing.T) {
	c, wrong := Parse("/*\n#include <math.h>\n*/\nimport \"C\"\n%%\nC.sqrt(2)")
	if wrong != nil || !strings.HasPrefix(c.decls[0].Text, "/*\n#include") || c.decls[0].Line != 1 {
		t.Errorf("got declarations %+v, error %v, want the preamble of C", c.decls, wrong)
	}
}

func TestPlacesOfLines(t *testing.T) {
	n := &notebook{t: t}
	n.run("", "import \"strings\"\n\n// f is a function.\nfunc f() string {\n\treturn strings.ToUpper(\"here\")\n}")
	_, text := n.run("", "var (\n\t// a is one.\n\ta = 1\n)\n%%\nprintln(f(), a)")
	for i, line := range strings.Split(text.text, "\n") {
		for part, want := range map[string]Place{"// f is": {1, 3}, "here": {1, 5}, "// a is": {2, 2}, "a = 1": {2, 3},
			"println": {2, 6}, "import \"strings\"": {1, 1}, "package main": {}} {
			if strings.Contains(line, part) && text.places[i] != want {
				t.Errorf("%q is %v, want %v", line, text.places[i], want)
			}
		}
	}
}

func TestVariableThatRunsAgain(t *testing.T) {
	for code, want := range map[string]bool{
		"var a = rand.Int63()": true, "var a = train()": true, "var a = must.M1(train())": true, "var a = func() int { return f() }()": true,
		"var a = 3": false, "var a = make([]int, 3)": false, "var a = regexp.MustCompile(`a`)": false, "var a = []float64{math.Sqrt(2)}": false,
		"var a = func() int { return f() }": false, "var a = cache.Cache(\"a\", train)": false, "var a = float32(3)": false,
		"const a = f()": false, "var a = func() float64 { r := rand.New(rand.NewPCG(1, 2)); return r.Float64() }()": false,
	} {
		if c, _ := Parse(code); c.decls[0].CallsFunction != want {
			t.Errorf("%s: got Calls %v", code, c.decls[0].CallsFunction)
		}
	}
	n := &notebook{t: t}
	n.run("", "func f() int { return 1 }\nvar a = f()")
	c, _ := Parse("%%\nprintln(a)")
	p, _ := n.memory.Program(c, 2, "")
	if lines := p.notes(BuildResult{}); len(lines) != 1 || !strings.HasPrefix(lines[0], "a (cell [1]) is evaluated again in each cell") {
		t.Errorf("notes: got %q, want one about a", lines)
	}
	n.run("", "%%\nprintln(a)")
	p, _ = n.memory.Program(c, 3, "")
	if lines := p.notes(BuildResult{}); lines != nil {
		t.Errorf("notes of the second run: got %q, want none", lines)
	}
}

func TestPlaceOfTheOtherDeclaration(t *testing.T) {
	b, _ := (&notebook{t: t}).run("", "type S int\nfunc (S) M() {}\nfunc (S) M() {}")
	const want = "method S.M already declared at cell [1], line 2"
	if len(b.Complaints) != 1 || b.Complaints[0].Text != want {
		t.Errorf("got %+v, want %s", b.Complaints, want)
	}
}

func TestPackageWithoutModule(t *testing.T) {
	const want = "no module of the cells has package a.org/b: run !*go get a.org/b@v1.0.0 in a cell, and then this cell again"
	for _, said := range []string{"main.go:3:8: no required module provides package a.org/b; to add it:",
		"package gonb_1 imports a.org/b from implicitly required module; to add missing requirements, run:"} {
		r := Program{}.judge(composition{}, said+"\n\tgo get a.org/b@v1.0.0\n", nil)
		if len(r.complaints) != 1 || r.complaints[0].Text != want {
			t.Errorf("%s: got %v, want %s", said, r.complaints, want)
		}
	}
}

func TestHints(t *testing.T) {
	n := &notebook{t: t}
	const nothing = "no cell has declared anything since the kernel started"
	if hint := n.memory.Hint("x"); !strings.HasPrefix(hint, nothing) {
		t.Errorf("first hint: got %q, want %q", hint, nothing)
	}
	n.run("1", "func f() {}")
	n.run("2", "x := 1\nx")
	n.run("1", "func g() {}")
	n.run("3", "func h() { g() }")
	n.run("1", "func g(int) {}")
	n.run("4", "var four = 4")
	n.memory.Forget([]string{"4"})
	n.memory.Remove([]string{"g"})
	for name, want := range map[string]string{"f": "cell [3] no longer declares it", "x": "cell [2] has it as a local",
		"h": "cell [4] declares it, and was set aside: not enough arguments in call to g", "four": "its cell [6] was deleted",
		"g": "%rm has removed it"} {
		if hint := n.memory.Hint(name); !strings.HasPrefix(hint, want) {
			t.Errorf("hint for %s: got %q", name, hint)
		}
	}
	if hint := n.memory.Hint("other"); hint != "" {
		t.Errorf("hint for an unknown name: got %q, want none", hint)
	}
	n.memory.Remove([]string{"f", "g", "h"})
	if hint := n.memory.Hint("other"); hint != "" {
		t.Errorf("hint after all declarations were removed: got %q, want none", hint)
	}
}

// TestRandomEditor keeps ten cells of functions, types, methods, variables and constants that use each other. It edits,
// deletes and runs them in random order. A cell either gives the same result as in a new kernel, after the cells in the
// order of their latest runs, or its error names what is missing.
func TestRandomEditor(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles thousands of programs")
	}
	for seed := range uint64(4) {
		e := &author{t: t, r: rand.New(rand.NewPCG(seed, 1)), kernel: &notebook{t: t}}
		for range 500 {
			e.step()
		}
		if e.ran < 100 || e.failed < 20 || e.compared < 50 {
			t.Errorf("seed %d: %d cells ran, %d failed, %d were compared: too few for this test", seed, e.ran, e.failed,
				e.compared)
		}
	}
}

// author simulates a user who works on a notebook.
type author struct {
	t           *testing.T
	r           *rand.Rand
	kernel      *notebook
	cells       []string // ids, in the order of their latest runs
	code        map[string]string
	ids         int
	ran, failed int
	compared    int // number of comparisons to a new kernel that runs all cells
}

func (e *author) pick(of ...string) string { return of[e.r.IntN(len(of))] }

// write returns a cell: one or two declarations, each in one of several forms, and sometimes a body.
func (e *author) write() string {
	var parts []string
	seen := map[string]bool{}
	for range 1 + e.r.IntN(2) {
		name := e.pick("A", "B", "C", "D", "E")
		if seen[name] {
			continue
		}
		seen[name] = true
		other := e.pick("A", "B", "C", "D", "E")
		parts = append(parts, e.pick(
			"func NAME(x int) int { return x + 1 }", "func NAME(x, y int) int { return x + y }",
			"func NAME(x int) int { return OTHER(x) }", "func NAME() OTHER { var z OTHER; return z }",
			"type NAME struct{ N int }", "type NAME struct{ M string; O *OTHER }", "type NAME int",
			"type NAME struct{ N int }\nfunc (n NAME) Get() int { return n.N }", "func (n OTHER) Of_NAME() int { return n.N }",
			"var NAME = 3", "var NAME = OTHER", "var NAME OTHER", "const NAME = 4", "const NAME = OTHER + 1"))
		parts[len(parts)-1] = strings.NewReplacer("NAME", name, "OTHER", other).Replace(parts[len(parts)-1])
	}
	code := strings.Join(parts, "\n")
	if e.r.IntN(2) == 0 {
		use := e.pick("A", "B", "C", "D", "E")
		code += "\n%%\n" + strings.ReplaceAll(e.pick("println(NAME)", "println(NAME(1))", "println(NAME(1, 2))",
			"var z NAME\n_ = z", "println(NAME{}.N)", "println(NAME{}.Get())", "println(NAME + 1)"), "NAME", use)
	}
	return code
}

func (e *author) step() {
	if e.code == nil {
		e.code = map[string]string{}
	}
	id := ""
	switch what := e.r.IntN(10); {
	case len(e.cells) < 10 && (what < 4 || len(e.cells) == 0): // A new cell.
		e.ids++
		id = fmt.Sprint("id", e.ids)
		e.code[id] = e.write()
	case what < 7: // A new text for a cell.
		id = e.cells[e.r.IntN(len(e.cells))]
		e.code[id] = e.write()
	case what < 9: // The same cell again.
		id = e.cells[e.r.IntN(len(e.cells))]
	default:
		at := e.r.IntN(len(e.cells))
		e.kernel.memory.Forget([]string{e.cells[at]})
		e.cells = slices.Delete(e.cells, at, at+1)
		return
	}
	was := slices.Clone(e.kernel.memory.decls)
	b, text := e.kernel.run(id, e.code[id])
	if !b.Remember { // As if the cell had not run; its earlier text no longer counts.
		if !reflect.DeepEqual(was, e.kernel.memory.decls) {
			e.t.Fatalf("a failing cell has changed the declarations: %q", e.code[id])
		}
		e.failed++
		if !slices.Contains(e.cells, id) {
			delete(e.code, id)
			return
		}
		e.kernel.memory.Forget([]string{id})
		e.cells = slices.DeleteFunc(e.cells, func(c string) bool { return c == id })
		return
	}
	e.cells = append(slices.DeleteFunc(e.cells, func(c string) bool { return c == id }), id)
	if e.ran++; !b.Runs {
		e.failed++
	}
	fresh := &notebook{t: e.t}
	var fb BuildResult
	var ft composition
	for _, c := range e.cells {
		if fb, ft = fresh.run(c, e.code[c]); !fb.Remember || len(fb.SetAside) > 0 {
			return // A new kernel reports what this cell lacks.
		}
	}
	e.compared++
	if b.Runs != fb.Runs {
		e.t.Fatalf("after %q\ngot  %+v\nwant %+v", e.code[id], b.Complaints, fb.Complaints)
	}
	if got, want := uses(e.t, text.text), uses(e.t, ft.text); b.Runs && !maps.Equal(got, want) {
		e.t.Fatalf("after %q\ngot  %q\nwant %q", e.code[id], got, want)
	}
}

// uses returns the declarations that a program's main function needs, directly or indirectly, by name.
func uses(t *testing.T, text string) map[string]string {
	files := token.NewFileSet()
	file := must.M1(parser.ParseFile(files, "", text, parser.SkipObjectResolution))
	all := map[string]string{}
	for _, d := range file.Decls {
		for _, name := range NamesOf(d) {
			all[name] += text[files.Position(d.Pos()).Offset:files.Position(d.End()).Offset]
		}
	}
	used := map[string]string{}
	var visit func(string)
	visit = func(name string) {
		if _, ok := used[name]; ok || all[name] == "" {
			return
		}
		used[name] = all[name]
		at := must.M1(parser.ParseFile(token.NewFileSet(), "", "package p\n"+all[name], parser.SkipObjectResolution))
		ast.Inspect(at, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				visit(id.Name)
				if _, isType := all[id.Name]; isType {
					for other := range all {
						if strings.HasPrefix(other, id.Name+".") {
							visit(other)
						}
					}
				}
			}
			return true
		})
	}
	visit("main")
	delete(used, "init")
	return used
}
