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

// specialLine is a line of a cell that begins with % or !, joined with the lines that continue it after a backslash.
type specialLine struct {
	text string
	last int // index of the last line that belongs to it
}

// specialLines returns the special lines of a cell by the index of their first line. A line inside a raw string or a
// comment is not special. open reports whether the last special line continues after the end of the cell.
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

// literal says whether a line of Go begins outside literals, in a raw string, or in a comment.
type literal byte

const (
	outside literal = 0
	raw     literal = '`'
	comment literal = '*'
)

// after returns the state at the beginning of the next line.
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

// packageLine precedes a cell's code in a file. It adds one line.
const packageLine = "package main\n"

// parseDecls parses declarations.
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

// complaintsOf returns the parser's errors about a text. Errors after the end of the text are reported at its end.
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

// splitImports separates the imports at the beginning from the rest. Both parts keep the line numbers.
func splitImports(text string) (imports, rest string) {
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", packageLine+text, parser.ImportsOnly)
	if file == nil || len(file.Decls) == 0 {
		return "", text
	}
	end := files.Position(file.Decls[len(file.Decls)-1].End()).Offset - len(packageLine)
	if end < 0 || end > len(text) { // The last import is unfinished.
		return "", text
	}
	return text[:end], strings.Repeat("\n", strings.Count(text[:end], "\n")) + text[end:]
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

// taker collects the declarations of a file.
type taker struct {
	files *token.FileSet
	text  string
	decls []decl
}

func (t *taker) between(from, to token.Pos) (string, int) {
	p := t.files.Position(from)
	return t.text[p.Offset:t.files.Position(to).Offset], p.Line - 1
}

// add adds a declaration with the text of a node, including its comment. keyword precedes the text of a line of a
// group.
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
		if name := d.Name.Name; d.Recv == nil && strings.HasPrefix(name, "init_") { // GoNB's init functions.
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

// spec adds a line of a group, or a group of one line.
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
	// A blank is not a name: each blank declaration stays until its cell runs again.
	for i, name := range added.Names {
		if name == "_" {
			added.Names[i] = "_ " + added.Text
		}
	}
	added.Calls = d.Tok == token.VAR && callsFunction(s)
}

// importKey returns the name that an import declares in its file. Dot and blank imports declare no name; their key
// includes the path.
func importKey(s *ast.ImportSpec) string {
	name := importedName(s)
	if name == "." || name == "_" {
		return name + " " + s.Path.Value
	}
	return name
}

// independent reports whether each line of a const group has its own value, without iota.
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

// harmless matches calls that are cheap and always give the same result: of some packages, and of built-in functions.
var harmless = regexp.MustCompile(`^(errors|regexp|strings|strconv|math|fmt|time|big|template|slices|maps|sync|floats|mat|index)\.\w+$|` +
	`^(append|cap|complex|copy|imag|len|make|max|min|new|real|string|bool|byte|rune|error|any|u?int(8|16|32|64)?|` +
	`float(32|64)|complex(64|128)|rand\.New\w*)$`)

// callsFunction reports whether the initializer of a variable calls a function that is not harmless. A call of
// notebook.Keep does not count.
func callsFunction(s ast.Spec) bool {
	v, ok := s.(*ast.ValueSpec)
	if !ok {
		return false
	}
	calls, keeps := false, false
	local := map[string]bool{} // variables of a function literal that is called in the initializer
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // The function is not called here.
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

// callee returns the text of a called function, or "" if it has no name.
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
