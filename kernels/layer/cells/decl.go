package cells

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Decl is a declaration of a cell: a function, a method, a type, an import, a line of a var or const group, or a whole
// const group if its lines depend on each other.
type Decl struct {
	Names         []string // the names that it declares, see [NamesOf]; for an import the package's name in the file
	Spec          string   // an import as written in a file; "" for other declarations
	Text          string   // including its comment
	Cell          int      // number of the cell
	Line          int      // line of the cell where Text begins, from 1
	Owner         string   // the client's id of the cell, or ""
	CallsFunction bool     // whether it is a variable whose initializer calls a function
	SetAside      string   // the reason why it is left out of programs, or ""
	Retry         bool     // whether it was set aside, and is tried again with the running cell
	Announced     bool     // whether the user knows that its initializer runs again
	Index         int      // in a program: index of the declaration in the memory
}

// where returns the name and the cell of the declaration, for the user.
func (d Decl) where() string { return fmt.Sprintf("%s (cell [%d])", d.title(), d.Cell) }

func (d Decl) title() string {
	if d.Spec != "" {
		return "import " + d.Spec
	}
	return strings.Join(d.Names, ", ")
}

// uses reports whether the declaration's text contains one of the names.
func (d Decl) uses(names map[string]bool) bool {
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package p\n"+d.Text, parser.SkipObjectResolution)
	found := false
	if file != nil {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && names[id.Name] {
				found = true
			}
			return !found
		})
	}
	return found
}

// without returns the declaration with some names replaced by blanks, or an empty declaration if no name is left.
func (d Decl) without(names map[string]bool) Decl {
	left := slices.DeleteFunc(slices.Clone(d.Names), func(name string) bool { return names[name] })
	if len(left) == len(d.Names) {
		return d
	}
	if !slices.ContainsFunc(left, func(name string) bool { return !strings.HasPrefix(name, "_ ") }) {
		return Decl{}
	}
	const head = "package p\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", head+d.Text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return Decl{}
	}
	text := []byte(head + d.Text)
	for _, group := range file.Decls {
		g, ok := group.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, id := range v.Names {
				if at := files.Position(id.Pos()).Offset; names[id.Name] {
					copy(text[at:], "_"+strings.Repeat(" ", len(id.Name)-1))
				}
			}
		}
	}
	d.Names, d.Text = left, string(text[len(head):])
	return d
}
