package layer

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// decl is a declaration of a cell: a function, a method, a type, an import, a line of a var or const group, or a whole
// const group if its lines depend on each other.
type decl struct {
	Names []string // the names that it declares, see namesOf; for an import the package's name in the file
	Spec  string   // an import as written in a file; "" for other declarations
	Text  string   // including its comment
	Cell  int      // number of the cell
	Line  int      // line of the cell where Text begins, from 1
	Owner string   // the client's id of the cell, or ""
	Calls bool     // whether it is a variable whose initializer calls a function
	Aside string   // the reason why it is left out of programs, or ""
	Back  bool     // whether it was set aside, and may compile again with the running cell
	Told  bool     // whether the user knows that its initializer runs again
	From  int      // in a program: index of the declaration in the memory
}

// where returns the name and the cell of the declaration, for the user.
func (d decl) where() string { return fmt.Sprintf("%s (cell [%d])", d.title(), d.Cell) }

func (d decl) title() string {
	if d.Spec != "" {
		return "import " + d.Spec
	}
	return strings.Join(d.Names, ", ")
}

// memory holds the declarations of a notebook's cells. The cell that runs last wins: its declarations replace
// declarations of the same name, of any kind. A declaration that no longer compiles with the replacement is set aside.
type memory struct {
	decls []decl
	gone  map[string]string // by name, the reason why the name is not declared
}

// program has all that the build of a cell needs: see [RunBuild].
type program struct {
	Decls []decl // in the order of their cells
	Own   int    // index of the first declaration of the cell that runs
	Body  body
	Cell  int
	Test  bool
}

// with returns the program of a cell together with the memory, and the declarations to remember if it compiles. If
// cells have owners, and a cell no longer declares a name that it took from another cell, the other cell's declaration
// is valid again.
func (m *memory) with(c cell, number int, owner string) (program, []decl) {
	own := slices.Clone(c.decls)
	anew := map[string]bool{}
	for i := range own {
		own[i].Cell, own[i].Owner = number, owner
		for _, name := range own[i].Names {
			anew[name] = true
		}
	}
	var all []decl
	for _, d := range m.decls {
		if owner != "" && d.Owner == owner {
			continue // An earlier text of the same cell.
		}
		if owner == "" {
			d = d.without(anew)
		}
		if d.Names != nil {
			all = append(all, d)
		}
	}
	first := len(all)
	all = append(all, own...)
	p := program{Body: c.body, Cell: number, Test: c.test}
	taken := map[string]bool{}
	for i, d := range slices.Backward(all) {
		if i < first { // The compiler reports a name that a cell declares twice.
			if d = d.without(taken); d.Names == nil {
				continue
			}
		}
		for _, name := range d.Names {
			taken[name] = true
		}
		d.From = i
		p.Decls = append(p.Decls, d)
	}
	slices.Reverse(p.Decls)
	p.Own = slices.IndexFunc(p.Decls, func(d decl) bool { return d.From >= first })
	if p.Own < 0 {
		p.Own = len(p.Decls)
	}
	markBack(p.Decls[:p.Own], anew)
	return p, all
}

// markBack marks declarations that were set aside and use a name that is declared anew, or a name of a marked
// declaration.
func markBack(decls []decl, anew map[string]bool) {
	for again := true; again; {
		again = false
		for i, d := range decls {
			if d.Aside == "" || d.Back || !d.uses(anew) {
				continue
			}
			decls[i].Back, again = true, true
			for _, name := range d.Names {
				anew[name] = true
			}
		}
	}
}

// uses reports whether the declaration's text contains one of the names.
func (d decl) uses(names map[string]bool) bool {
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
func (d decl) without(names map[string]bool) decl {
	left := slices.DeleteFunc(slices.Clone(d.Names), func(name string) bool { return names[name] })
	if len(left) == len(d.Names) {
		return d
	}
	if !slices.ContainsFunc(left, func(name string) bool { return !strings.HasPrefix(name, "_ ") }) {
		return decl{}
	}
	const head = "package p\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", head+d.Text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return decl{}
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

// keep remembers the declarations of a compiled program, and the results of the build.
func (m *memory) keep(p program, all []decl, b built) {
	for i, d := range p.Decls {
		all[d.From].Aside = b.Aside[i]
	}
	for _, i := range p.again(b) {
		all[p.Decls[i].From].Told = true
	}
	before := m.names()
	m.decls = all
	now := m.names()
	for name := range before {
		if !now[name] {
			m.missing(name, fmt.Sprintf("cell [%d] no longer declares it", p.Cell))
		}
	}
	for _, name := range p.Body.Short {
		if b.Runs && !now[name] {
			m.missing(name, fmt.Sprintf("cell [%d] has it as a local variable: a cell is a program, and its values end with it; "+
				"declare it by var before the line %%%%, and keep values that take long to compute by notebook.Keep", p.Cell))
		}
	}
	for name := range now {
		delete(m.gone, name)
	}
}

// empty reports whether no cell has declared anything.
func (m *memory) empty() bool { return len(m.decls) == 0 }

func (m *memory) names() map[string]bool {
	all := map[string]bool{}
	for _, d := range m.decls {
		for _, name := range d.Names {
			all[name] = true
		}
	}
	return all
}

// missing stores the reason why a name is not declared.
func (m *memory) missing(name, why string) {
	if m.gone == nil {
		m.gone = map[string]string{}
	}
	m.gone[name] = why
}

// forget removes the declarations of cells that the user has deleted.
func (m *memory) forget(owners []string) {
	if len(owners) == 0 {
		return
	}
	m.drop(func(d decl) bool { return d.Owner != "" && slices.Contains(owners, d.Owner) },
		func(d decl) string { return fmt.Sprintf("its cell [%d] was deleted", d.Cell) })
}

// remove removes some names, and returns those that are not declared.
func (m *memory) remove(names []string) (missing []string) {
	for _, name := range names {
		had := len(m.decls)
		m.drop(func(d decl) bool { return slices.Contains(d.Names, name) },
			func(decl) string { return "%rm has removed it" })
		if had == len(m.decls) {
			missing = append(missing, name)
		}
	}
	return missing
}

func (m *memory) drop(which func(decl) bool, why func(decl) string) {
	m.decls = slices.DeleteFunc(m.decls, func(d decl) bool {
		if !which(d) {
			return false
		}
		for _, name := range d.Names {
			m.missing(name, why(d))
		}
		return true
	})
}

// list returns the text that %ls shows.
func (m *memory) list() string {
	if m.empty() {
		return "No cell has declared anything.\n"
	}
	var out strings.Builder
	for _, d := range m.decls {
		out.WriteString(d.where())
		if d.Aside != "" {
			out.WriteString(": set aside, " + d.Aside)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// hint explains why a name is not declared, or returns "" if the reason is unknown.
func (m *memory) hint(name string, first bool) string {
	for _, d := range m.decls {
		if d.Aside != "" && slices.Contains(d.Names, name) {
			return fmt.Sprintf("cell [%d] declares it, and was set aside: %s; change that cell and run it again", d.Cell,
				d.Aside)
		}
	}
	if why := m.gone[name]; why != "" {
		return why
	}
	if first {
		return "the kernel has just started and has run no other cell: run the cells that declare the name"
	}
	return ""
}

// again returns the indices of variables of earlier cells whose initializers the program evaluates again, if the user
// has not been told yet.
func (p program) again(b built) (found []int) {
	for i, d := range p.Decls[:p.Own] {
		if d.Calls && !d.Told && b.Aside[i] == "" {
			found = append(found, i)
		}
	}
	return found
}

// notes returns messages for the user about variables that are evaluated again, once for each variable, and about
// declarations that are set aside.
func (p program) notes(b built) (lines []string) {
	for _, i := range p.again(b) {
		lines = append(lines, fmt.Sprintf("%s is evaluated again in each cell, since its initializer calls a function; to "+
			"keep a value: var x = must.M1(notebook.Keep(\"x\", f)), where f returns a value and an error", p.Decls[i].where()))
	}
	for i, d := range p.Decls {
		if why, ok := b.Aside[i]; ok && d.Aside == "" {
			lines = append(lines, fmt.Sprintf("%s is set aside, since it does not compile with this cell: %s", d.where(),
				strings.ReplaceAll(why, "\n", " ")))
		}
	}
	return lines
}
