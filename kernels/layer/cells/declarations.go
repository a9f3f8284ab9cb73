package cells

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
)

// packageLine precedes a cell's code in a file. It adds one line.
const packageLine = "package main\n"

// parseDecls parses declarations.
func parseDecls(text string) ([]Decl, []Complaint) {
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
func complaintsOf(err error, text string) (all []Complaint) {
	list, ok := errors.AsType[scanner.ErrorList](err)
	if !ok {
		return []Complaint{{Text: err.Error()}}
	}
	end := 1 + strings.Count(strings.TrimRight(text, " \t\n"), "\n")
	for _, e := range list {
		c := Complaint{Line: e.Pos.Line - 1, Text: e.Msg}
		switch {
		case c.Line > end && c.Text == "expected declaration, found '}'":
			c.Text = "a closing brace has no opening one"
		case c.Line > end || strings.HasSuffix(c.Text, "found 'EOF'"):
			if before, _, ok := strings.Cut(c.Text, ", found "); ok {
				c.Text = before + ", found the end of the cell"
			}
		}
		c.Line = min(c.Line, end)
		if len(all) > 0 && strings.HasSuffix(c.Text, ", found the end of the cell") {
			continue // It follows from the first error.
		}
		all = append(all, c)
	}
	return all
}

const bodyHead = packageLine + "func main() {"

// parseBody parses statements.
func parseBody(text string) (*ast.BlockStmt, []Complaint) {
	file, err := parser.ParseFile(token.NewFileSet(), "", bodyHead+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, complaintsOf(err, text)
	}
	if len(file.Decls) != 1 {
		return nil, []Complaint{{Line: 1 + strings.Count(text, "\n"), Text: "a closing brace has no opening one"}}
	}
	return file.Decls[0].(*ast.FuncDecl).Body, nil
}

// SplitImports separates the imports at the beginning from the rest. Both parts keep the line numbers.
func SplitImports(text string) (imports, rest string) {
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

// taker collects the declarations of a file.
type taker struct {
	files *token.FileSet
	text  string
	decls []Decl
}

func (t *taker) between(from, to token.Pos) (string, int) {
	p := t.files.Position(from)
	return t.text[p.Offset:t.files.Position(to).Offset], p.Line - 1
}

// add adds a declaration with the text of a node, including its comment. keyword precedes the text of a line of a
// group.
func (t *taker) add(names []string, doc *ast.CommentGroup, n ast.Node, keyword string) *Decl {
	text, line := t.between(n.Pos(), n.End())
	text = keyword + text
	if doc != nil {
		comment, first := t.between(doc.Pos(), n.Pos())
		text, line = comment+text, first
	}
	t.decls = append(t.decls, Decl{Names: names, Text: text, Line: line})
	return &t.decls[len(t.decls)-1]
}

func (t *taker) take(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		added := t.add(NamesOf(d), d.Doc, d, "")
		if name := d.Name.Name; d.Recv == nil && strings.HasPrefix(name, "init_") { // GoNB's init functions.
			added.Text = strings.Replace(added.Text, "func "+name, "func init"+strings.Repeat(" ", len(name)-len("init")), 1)
		}
	case *ast.GenDecl:
		if d.Tok == token.CONST && !independent(d) {
			names := slices.DeleteFunc(NamesOf(d), func(name string) bool { return name == "_" })
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
	var added *Decl
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
	added.CallsFunction = d.Tok == token.VAR && callsFunction(s)
}

// importKey returns the name that an import declares in its file. Dot and blank imports declare no name; their key
// includes the path.
func importKey(s *ast.ImportSpec) string {
	name := ImportName(s)
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

// NamesOf returns the names that a declaration declares. The name of a method includes the type of its receiver.
func NamesOf(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return []string{d.Name.Name}
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		return []string{callee(of) + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// ImportsOf returns a file's imports, as they are written in a file: the name, if there is one, and the quoted path.
func ImportsOf(file *ast.File) (specs []string) {
	for _, s := range file.Imports {
		specs = append(specs, specOf(s))
	}
	return specs
}

// specOf returns an import as it is written in a file: its path, after its name if it has one.
func specOf(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name + " " + s.Path.Value
	}
	return s.Path.Value
}

// ImportName returns the name of an import in its file, as goimports guesses it.
func ImportName(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	p := strings.Trim(i.Path.Value, `"`)
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(p))
	}
	return base
}
