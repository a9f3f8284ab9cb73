// Package cells parses the cells of a Go notebook, and makes programs of them.
//
// [Parse] splits a cell into declarations, statements, and special lines, which begin with % or !. A [Memory] holds the
// declarations of the cells that have run. [Memory.Program] joins a cell with them. If several cells declare a name,
// the cell that ran last wins. [Program.Build] writes the program as one Go file and compiles it with a [Compiler]. It
// leaves out declarations of earlier cells that do not compile with the cell.
//
// The package works on texts: it starts no process, and reads and writes no file.
package cells

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Cell is a parsed Go cell.
type Cell struct {
	decls        []Decl
	body         Body
	SpecialLines []string // special lines except %%, at the index of their line; "" for all other lines
	ProgramLine  string   // the line of %%, with the program's arguments
	Test         bool     // it has a line %test
	Wasm         bool     // it has a line %wasm
	Empty        bool     // there is no Go code
}

// Body holds the statements of a cell's program.
type Body struct {
	Text           string
	Line           int      // line of the cell where Text begins
	HasMain        bool     // the cell has a main function, and Text is ""
	StatementsOnly bool     // the cell only has statements: its last expression is shown, and a variable may be unused
	Locals         []string // names of the variables that the body declares
	// From and To are the start and the end of the last statement in Text if it is an expression, else 0.
	From, To int
}

// At returns the body's text in a line of the cell.
func (b Body) At(line int) string {
	lines := strings.Split(b.Text, "\n")
	if at := line - b.Line; at >= 0 && at < len(lines) {
		return lines[at]
	}
	return ""
}

// Complaint is an error in a line of a cell.
type Complaint struct {
	Cell, Line int // 0 if unknown
	Text       string
}

// Parse parses a cell. The complaints are the errors of the cell.
func Parse(code string) (Cell, []Complaint) {
	lines := strings.Split(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	c := Cell{SpecialLines: make([]string, len(lines))}
	head, rest, wrong := c.split(lines)
	if wrong != nil {
		return c, []Complaint{*wrong}
	}
	c.body.Line = 1
	c.Empty = strings.TrimSpace(head+rest) == "" && c.ProgramLine == ""
	if c.ProgramLine != "" {
		block, wrong := parseBody(rest)
		if wrong != nil {
			return c, wrong
		}
		c.body.Text = rest
		decls, wrong := parseDecls(head)
		c.decls = decls
		c.finish()
		callsMain := strings.TrimSpace(rest) == "main()"
		if callsMain && !c.body.HasMain {
			before, _, _ := strings.Cut(rest, "main()")
			return c, []Complaint{{Line: 1 + strings.Count(before, "\n"), Text: "this cell has no function main, and the " +
				"functions main of earlier cells are not kept: give the function another name"}}
		}
		if c.body.HasMain && len(block.List) > 0 && !callsMain {
			first := rest[:int(block.List[0].Pos())-1-len(bodyHead)]
			wrong = []Complaint{{Line: 1 + strings.Count(first, "\n"), Text: "the cell has two programs, func main and these " +
				"statements: remove one of them"}}
		}
		return c, wrong
	}
	decls, wrongDecls := parseDecls(head)
	if wrongDecls == nil {
		c.decls = decls
		c.finish()
		return c, nil
	}
	imports, statements := SplitImports(head)
	if _, wrongBody := parseBody(statements); wrongBody != nil {
		if c.Test || declaresFirst(statements) || wrongDecls[0].Line > wrongBody[0].Line {
			return c, hinted(wrongDecls)
		}
		if strings.HasPrefix(wrongBody[0].Text, "expected '(', found ") { // A function among the statements.
			wrongBody[0].Text += "\nFunctions stand before the statements, with a line %% between them."
		}
		return c, wrongBody
	}
	c.decls, _ = parseDecls(imports)
	c.body.Text, c.body.StatementsOnly = statements, true
	c.finish()
	return c, nil
}

// declaresFirst reports whether code begins with a declaration that cannot begin a statement.
func declaresFirst(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "func ") && !strings.HasPrefix(text, "func (") || strings.HasPrefix(text, "import ")
}

// hinted adds advice about statements among declarations.
func hinted(wrong []Complaint) []Complaint {
	if strings.Contains(wrong[0].Text, "non-declaration statement") || strings.Contains(wrong[0].Text, "expected declaration") {
		wrong[0].Text += "\nA cell that has declarations and statements needs a line %% between them."
	}
	return wrong
}

// split separates special lines from Go code. head is the code before %%, or all code; rest is the code after %%. Both
// have as many lines as the cell.
func (c *Cell) split(lines []string) (head, rest string, wrong *Complaint) {
	before, after := make([]string, len(lines)), make([]string, len(lines))
	into := before
	found, _ := SpecialLines(lines)
	var in literal
	for i := 0; i < len(lines); i++ {
		special, ok := found[i]
		if !ok {
			begun := in
			in = in.after(lines[i])
			if strings.HasPrefix(Uncommented(lines[i]), "package ") && into[0] == "" && begun == outside && c.ProgramLine == "" {
				continue // GoNB ignores this line, too.
			}
			if !strings.HasPrefix(lines[i], "//gonb:") {
				into[i] = lines[i]
			}
			continue
		}
		line := special.Text
		at := i + 1
		i = special.Last
		word, args, _ := strings.Cut(line, " ")
		if !slices.Contains(programLines, word) {
			if text := c.command(at, word, line); text != "" {
				return "", "", &Complaint{Line: at, Text: text}
			}
			continue
		}
		if c.ProgramLine != "" {
			return "", "", &Complaint{Line: at, Text: "a second line " + word + ": a cell has one program"}
		}
		c.ProgramLine, into = strings.TrimSpace("%% "+args), after
		if name, args, _ := strings.Cut(strings.TrimSpace(args), " "); word == "%exec" {
			if name == "" {
				return "", "", &Complaint{Line: at, Text: "%exec needs the name of a function"}
			}
			c.ProgramLine, after[at-1], into = strings.TrimSpace("%% "+args), name+"()", before
		}
	}
	return strings.Join(before, "\n"), strings.Join(after, "\n"), nil
}

// programLines lists the special lines that begin the program of a cell.
var programLines = []string{"%%", "%main", "%exec"}

// command stores a special line that does not begin the program, at a line of the cell. It returns an error, or "".
func (c *Cell) command(at int, word, line string) string {
	switch {
	case slices.Contains(CellMagics, word):
		return word + " must be the first line of a cell"
	case strings.HasPrefix(line, "%%"):
		return "unknown special line " + word + ": %help lists the special lines"
	}
	c.Test, c.Wasm = c.Test || word == "%test", c.Wasm || word == "%wasm"
	c.SpecialLines[at-1] = line
	return ""
}

// finish stores the names that the body declares, and the position of its last expression.
func (c *Cell) finish() {
	c.body.HasMain = slices.ContainsFunc(c.decls, func(d Decl) bool { return slices.Contains(d.Names, "main") })
	block, _ := parseBody(c.body.Text)
	if block == nil {
		return
	}
	for i, s := range block.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, x := range s.Lhs {
				if id, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
					c.body.Locals = append(c.body.Locals, id.Name)
				}
			}
		case *ast.DeclStmt:
			c.body.Locals = append(c.body.Locals, slices.DeleteFunc(NamesOf(s.Decl), func(n string) bool { return n == "_" })...)
		case *ast.ExprStmt:
			if c.body.StatementsOnly && i+1 == len(block.List) {
				c.body.From, c.body.To = int(s.Pos())-1-len(bodyHead), int(s.End())-1-len(bodyHead)
			}
		}
	}
}

// TestArguments returns the arguments of a test program that run the tests, examples and benchmarks of a cell.
func (c Cell) TestArguments() []string {
	args := []string{"-test.v"}
	var names []string
	bench := false
	for _, d := range c.decls {
		name := d.Names[0]
		isBench := strings.HasPrefix(name, "Benchmark") && strings.Contains(d.Text, "func Benchmark")
		isTest := strings.HasPrefix(name, "Test") && name != "TestMain" && strings.Contains(d.Text, "func Test") ||
			strings.HasPrefix(name, "Example") && strings.Contains(d.Text, "func Example")
		if isBench || isTest {
			names = append(names, "^"+name+"$")
		}
		bench = bench || isBench
	}
	if bench {
		args = append(args, "-test.bench=.")
	}
	if len(names) > 0 {
		args = append(args, "-test.run="+strings.Join(names, "|"))
	}
	return args
}
