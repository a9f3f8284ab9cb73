package layer

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// cell is a parsed Go cell.
type cell struct {
	decls    []decl
	body     body
	commands []string // special lines except %%, at the index of their line; "" for all other lines
	main     string   // the line of %%, with the program's arguments
	test     bool
	wasm     bool
	empty    bool // there is no Go code
}

// body holds the statements of a cell's program.
type body struct {
	Text  string
	Line  int      // line of the cell where Text begins
	Own   bool     // the cell has a main function, and Text is ""
	Bare  bool     // the cell only has statements: its last expression is shown, and a variable may be unused
	Short []string // names of the variables that the body declares
	// From and To are the start and the end of the last statement in Text if it is an expression, else 0.
	From, To int
}

// complaint is an error in a line of a cell.
type complaint struct {
	Cell, Line int // 0 if unknown
	Text       string
}

// parseCell parses a cell. The complaints are the errors of the cell.
func parseCell(code string) (cell, []complaint) {
	lines := strings.Split(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	c := cell{commands: make([]string, len(lines))}
	head, rest, wrong := c.split(lines)
	if wrong != nil {
		return c, []complaint{*wrong}
	}
	c.body.Line = 1
	c.empty = strings.TrimSpace(head+rest) == "" && c.main == ""
	if c.main != "" {
		_, wrong := parseBody(rest)
		if wrong != nil {
			return c, wrong
		}
		c.body.Text = rest
		decls, wrong := parseDecls(head)
		c.decls = decls
		c.finish()
		return c, wrong
	}
	decls, wrongDecls := parseDecls(head)
	if wrongDecls == nil {
		c.decls = decls
		c.finish()
		return c, nil
	}
	imports, statements := splitImports(head)
	if _, wrongBody := parseBody(statements); wrongBody != nil {
		if c.test || declaresFirst(statements) || wrongDecls[0].Line > wrongBody[0].Line {
			return c, hinted(wrongDecls)
		}
		return c, wrongBody
	}
	c.decls, _ = parseDecls(imports)
	c.body.Text, c.body.Bare = statements, true
	c.finish()
	return c, nil
}

// declaresFirst reports whether code begins with a declaration that cannot begin a statement.
func declaresFirst(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "func ") && !strings.HasPrefix(text, "func (") || strings.HasPrefix(text, "import ")
}

// hinted adds advice about statements among declarations.
func hinted(wrong []complaint) []complaint {
	if strings.Contains(wrong[0].Text, "non-declaration statement") || strings.Contains(wrong[0].Text, "expected declaration") {
		wrong[0].Text += "\nA cell that has declarations and statements needs a line %% between them."
	}
	return wrong
}

// split separates special lines from Go code. head is the code before %%, or all code; rest is the code after %%. Both
// have as many lines as the cell.
func (c *cell) split(lines []string) (head, rest string, wrong *complaint) {
	before, after := make([]string, len(lines)), make([]string, len(lines))
	into := before
	found, _ := specialLines(lines)
	var in literal
	for i := 0; i < len(lines); i++ {
		special, ok := found[i]
		if !ok {
			begun := in
			in = in.after(lines[i])
			if strings.HasPrefix(bare(lines[i]), "package ") && into[0] == "" && begun == outside && c.main == "" {
				continue // GoNB ignores this line, too.
			}
			if !strings.HasPrefix(lines[i], "//gonb:") {
				into[i] = lines[i]
			}
			continue
		}
		line := special.text
		at := i + 1
		i = special.last
		switch word, args, _ := strings.Cut(line, " "); word {
		case "%%", "%main", "%exec":
			if c.main != "" {
				return "", "", &complaint{Line: at, Text: "a second line " + word + ": a cell has one program"}
			}
			c.main, into = strings.TrimSpace("%% "+args), after
			if name, args, _ := strings.Cut(strings.TrimSpace(args), " "); word == "%exec" {
				if name == "" {
					return "", "", &complaint{Line: at, Text: "%exec needs the name of a function"}
				}
				c.main, after[at-1], into = strings.TrimSpace("%% "+args), name+"()", before
			}
			continue
		case "%test":
			c.test = true
		case "%wasm":
			c.wasm = true
		}
		if strings.HasPrefix(line, "%%") {
			word, _, _ := strings.Cut(line, " ")
			if slices.Contains(notGo, word) {
				return "", "", &complaint{Line: at, Text: word + " must be the first line of a cell"}
			}
			return "", "", &complaint{Line: at, Text: "unknown line " + word + ": %help lists what there is"}
		}
		c.commands[at-1] = line
	}
	return strings.Join(before, "\n"), strings.Join(after, "\n"), nil
}

// finish stores the names that the body declares, and the position of its last expression.
func (c *cell) finish() {
	c.body.Own = slices.ContainsFunc(c.decls, func(d decl) bool { return slices.Contains(d.Names, "main") })
	block, _ := parseBody(c.body.Text)
	if block == nil {
		return
	}
	for i, s := range block.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, x := range s.Lhs {
				if id, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
					c.body.Short = append(c.body.Short, id.Name)
				}
			}
		case *ast.DeclStmt:
			c.body.Short = append(c.body.Short, slices.DeleteFunc(namesOf(s.Decl), func(n string) bool { return n == "_" })...)
		case *ast.ExprStmt:
			if c.body.Bare && i+1 == len(block.List) {
				c.body.From, c.body.To = int(s.Pos())-1-len(bodyHead), int(s.End())-1-len(bodyHead)
			}
		}
	}
}

// testArguments returns the arguments of a test program that run the tests and benchmarks of a cell.
func (c cell) testArguments() []string {
	args := []string{"-test.v"}
	var names []string
	bench := false
	for _, d := range c.decls {
		name := d.Names[0]
		isBench := strings.HasPrefix(name, "Benchmark") && strings.Contains(d.Text, "func Benchmark")
		isTest := strings.HasPrefix(name, "Test") && name != "TestMain" && strings.Contains(d.Text, "func Test")
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
