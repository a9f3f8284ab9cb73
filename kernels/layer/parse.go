package layer

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// cell is a cell of Go, taken apart.
type cell struct {
	decls    []decl
	body     body
	commands []string // its special lines but for %%, each where it stands; the others are ""
	main     string   // the line of %%, with the program's arguments
	test     bool
	wasm     bool
	empty    bool // there is no Go in it
}

// body is what the program of a cell does.
type body struct {
	Text  string
	Line  int      // of the cell where Text begins
	Own   bool     // the cell has a main function, and Text is ""
	Bare  bool     // the cell has statements alone: its last expression is shown, and a variable may be unused
	Short []string // variables that it declares for itself
	// Where its last statement is an expression, from where to where; 0 and 0 elsewhere.
	From, To int
}

// complaint is what is wrong with a line of a cell.
type complaint struct {
	Cell, Line int // 0 where there is none
	Text       string
}

// parseCell takes a cell apart. Complaints say why it cannot.
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

// declaresFirst reports whether code begins with a declaration that no statement begins with.
func declaresFirst(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "func ") && !strings.HasPrefix(text, "func (") || strings.HasPrefix(text, "import ")
}

// hinted adds what to do about statements among declarations.
func hinted(wrong []complaint) []complaint {
	if strings.Contains(wrong[0].Text, "non-declaration statement") || strings.Contains(wrong[0].Text, "expected declaration") {
		wrong[0].Text += "\nA cell that has declarations and statements needs a line %% between them."
	}
	return wrong
}

// split separates special lines from Go: the declarations before %%, or all Go, and the statements after it. Both have
// as many lines as the cell.
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
				continue // GoNB leaves it out, too.
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
			if isOneOf(word, notGo) {
				return "", "", &complaint{Line: at, Text: word + " must be the first line of a cell"}
			}
			return "", "", &complaint{Line: at, Text: "unknown line " + word + ": %help lists what there is"}
		}
		c.commands[at-1] = line
	}
	return strings.Join(before, "\n"), strings.Join(after, "\n"), nil
}

// specialLine is a line of a cell that begins with % or !, and what follows it after a backslash at the end of the line.
type specialLine struct {
	text string
	last int // the last line that belongs to it
}

// specialLines are those of a cell, by their first lines. A line within a raw string or a comment is none. The result
// tells whether the last one goes on after the cell's end.
func specialLines(lines []string) (found map[int]specialLine, open bool) {
	found = map[int]specialLine{}
	var in literal
	for i := 0; i < len(lines); i++ {
		line := bare(lines[i])
		if in != outside || len(line) < 2 || line[0] != '%' && line[0] != '!' {
			in = in.after(lines[i])
			continue
		}
		first := i
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + " " + bare(lines[i])
		}
		found[first] = specialLine{line, i}
		open = strings.HasSuffix(line, `\`)
	}
	return found, open
}

// literal is what a line of Go begins in.
type literal byte

const (
	outside literal = 0
	raw     literal = '`'
	comment literal = '*'
)

// after is what the line after this one begins in.
func (in literal) after(line string) literal {
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case in == raw:
			if ch == '`' {
				in = outside
			}
		case in == comment:
			if strings.HasPrefix(line[i:], "*/") {
				in = outside
				i++
			}
		case ch == '`':
			in = raw
		case strings.HasPrefix(line[i:], "//"):
			return in
		case strings.HasPrefix(line[i:], "/*"):
			in = comment
			i++
		case ch == '"' || ch == '\'':
			for i++; i < len(line) && line[i] != ch; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		}
	}
	return in
}

// packageLine goes before a cell; one line less is a line of the cell.
const packageLine = "package main\n"

// parseDecls takes declarations apart.
func parseDecls(text string) ([]decl, []complaint) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", packageLine+text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, complaintsOf(err, text)
	}
	d := taker{files: files, text: packageLine + text}
	for _, x := range file.Decls {
		d.take(x)
	}
	return d.decls, nil
}

// complaintsOf are those of the parser about a text. What is wrong after its end is wrong at its end.
func complaintsOf(err error, text string) (all []complaint) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return []complaint{{Text: err.Error()}}
	}
	end := 1 + strings.Count(strings.TrimRight(text, " \t\n"), "\n")
	for _, e := range list {
		c := complaint{Line: e.Pos.Line - 1, Text: e.Msg}
		switch {
		case c.Line > end && c.Text == "expected declaration, found '}'":
			c.Text = "a closing brace has no opening one"
		case c.Line > end || strings.HasSuffix(c.Text, "found 'EOF'"):
			if before, _, ok := strings.Cut(c.Text, ", found "); ok {
				c.Text = before + ", found the end of the cell"
			}
		}
		c.Line = min(c.Line, end)
		all = append(all, c)
	}
	return all
}

const bodyHead = packageLine + "func main() {"

// parseBody parses statements.
func parseBody(text string) (*ast.BlockStmt, []complaint) {
	file, err := parser.ParseFile(token.NewFileSet(), "", bodyHead+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, complaintsOf(err, text)
	}
	if len(file.Decls) != 1 {
		return nil, []complaint{{Line: 1 + strings.Count(text, "\n"), Text: "a closing brace has no opening one"}}
	}
	return file.Decls[0].(*ast.FuncDecl).Body, nil
}

// splitImports separates the imports at the beginning from what follows; both have all lines.
func splitImports(text string) (imports, rest string) {
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", packageLine+text, parser.ImportsOnly)
	if file == nil || len(file.Decls) == 0 {
		return "", text
	}
	end := files.Position(file.Decls[len(file.Decls)-1].End()).Offset - len(packageLine)
	if end < 0 || end > len(text) { // The last one is not finished.
		return "", text
	}
	return text[:end], strings.Repeat("\n", strings.Count(text[:end], "\n")) + text[end:]
}

// finish notes what the body declares for itself, and its last expression.
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

// taker makes declarations of a file.
type taker struct {
	files *token.FileSet
	text  string
	decls []decl
}

func (t *taker) between(from, to token.Pos) (string, int) {
	p := t.files.Position(from)
	return t.text[p.Offset:t.files.Position(to).Offset], p.Line - 1
}

// add adds the text from a node's comment, if it has one, to the node's end. A keyword goes before a line of a group.
func (t *taker) add(names []string, doc *ast.CommentGroup, n ast.Node, keyword string) *decl {
	text, line := t.between(n.Pos(), n.End())
	text = keyword + text
	if doc != nil {
		comment, first := t.between(doc.Pos(), n.Pos())
		text, line = comment+text, first
	}
	t.decls = append(t.decls, decl{Names: names, Text: text, Line: line})
	return &t.decls[len(t.decls)-1]
}

func (t *taker) take(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		added := t.add(namesOf(d), d.Doc, d, "")
		if name := d.Name.Name; d.Recv == nil && strings.HasPrefix(name, "init_") { // Several init functions, as GoNB's.
			added.Text = strings.Replace(added.Text, "func "+name, "func init"+strings.Repeat(" ", len(name)-len("init")), 1)
		}
	case *ast.GenDecl:
		if d.Tok == token.CONST && !independent(d) {
			names := slices.DeleteFunc(namesOf(d), func(name string) bool { return name == "_" })
			if len(names) > 0 {
				t.add(names, d.Doc, d, "")
			}
			return
		}
		for _, s := range d.Specs {
			t.spec(d, s)
		}
	}
}

// spec takes a line of a group, or a group of one.
func (t *taker) spec(d *ast.GenDecl, s ast.Spec) {
	var doc *ast.CommentGroup
	var names []string
	switch s := s.(type) {
	case *ast.ImportSpec:
		doc, names = s.Doc, []string{importKey(s)}
	case *ast.TypeSpec:
		doc, names = s.Doc, []string{s.Name.Name}
	case *ast.ValueSpec:
		doc = s.Doc
		for _, id := range s.Names {
			names = append(names, id.Name)
		}
	}
	var added *decl
	switch {
	case !d.Lparen.IsValid():
		added = t.add(names, d.Doc, d, "")
	default:
		added = t.add(names, doc, s, d.Tok.String()+" ")
	}
	if i, ok := s.(*ast.ImportSpec); ok {
		added.Spec = specOf(i)
		return
	}
	// Blanks are no names: each stays, until its cell runs again.
	for i, name := range added.Names {
		if name == "_" {
			added.Names[i] = "_ " + added.Text
		}
	}
	added.Calls = d.Tok == token.VAR && callsFunction(s)
}

// importKey is the name that an import takes in its file. Dot and blank imports take none.
func importKey(s *ast.ImportSpec) string {
	name := importedName(s)
	if name == "." || name == "_" {
		return name + " " + s.Path.Value
	}
	return name
}

// independent reports whether each line of a const group has a value of its own that does not count lines.
func independent(d *ast.GenDecl) bool {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || len(v.Values) == 0 {
			return false
		}
		counts := false
		for _, x := range v.Values {
			ast.Inspect(x, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				counts = counts || ok && id.Name == "iota"
				return true
			})
		}
		if counts {
			return false
		}
	}
	return true
}

// harmless are calls that cost nothing and give the same again: of these packages, and these built-in functions.
var harmless = regexp.MustCompile(`^(errors|regexp|strings|strconv|math|fmt|time|big|template|slices|maps|sync|floats|mat|index)\.\w+$|` +
	`^(append|cap|complex|copy|imag|len|make|max|min|new|real|string|bool|byte|rune|error|any|u?int(8|16|32|64)?|` +
	`float(32|64)|complex(64|128)|rand\.New\w*)$`)

// callsFunction reports whether the initializer of a variable calls a function when it is evaluated, but for harmless
// ones, and notebook.Keep.
func callsFunction(s ast.Spec) bool {
	v, ok := s.(*ast.ValueSpec)
	if !ok {
		return false
	}
	calls, keeps := false, false
	local := map[string]bool{} // variables of a function that is called where it stands
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // It is not called here.
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if lit, ok := n.Fun.(*ast.FuncLit); ok {
				ast.Inspect(lit.Body, look)
			}
			name := callee(n.Fun)
			if of, _, _ := strings.Cut(name, "."); local[of] {
				return true
			}
			keeps = keeps || strings.HasPrefix(name, "notebook.Keep")
			calls = calls || name != "" && !harmless.MatchString(name)
		}
		return true
	}
	for _, x := range v.Values {
		ast.Inspect(x, look)
	}
	return calls && !keeps
}

// callee is a called function as it is written, "" for what is no name.
func callee(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return fmt.Sprint(callee(x.X), ".", x.Sel.Name)
	case *ast.IndexExpr:
		return callee(x.X)
	case *ast.IndexListExpr:
		return callee(x.X)
	case *ast.ParenExpr:
		return callee(x.X)
	}
	return ""
}
