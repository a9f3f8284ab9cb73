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
// const group where its lines depend on each other.
type decl struct {
	Names []string // what it declares, see namesOf; of an import it is the package's name in the file
	Spec  string   // of an import, as in a file; "" of all else
	Text  string   // with its comment
	Cell  int      // number of the cell
	Line  int      // of the cell where Text begins, from 1
	Owner string   // the client's id of the cell, "" without one
	Calls bool     // it is a variable whose initializer calls a function
	Aside string   // why it is left out of programs, "" where it is not
	Back  bool     // it was set aside, and may be back with the cell that runs
	Told  bool     // the user knows that its initializer runs again
	From  int      // of a program's: which of the memory's it is
}

// where is the declaration for the user: its name and its cell.
func (d decl) where() string { return fmt.Sprintf("%s (cell [%d])", d.title(), d.Cell) }

func (d decl) title() string {
	if d.Spec != "" {
		return "import " + d.Spec
	}
	return strings.Join(d.Names, ", ")
}

// memory is what the cells of a notebook have declared. The cell that runs last wins: what it declares takes the place
// of a declaration of the same name, of whatever kind. A declaration that no longer compiles with it is set aside.
type memory struct {
	decls []decl
	gone  map[string]string // why a name is not declared
}

// program is what the build of a cell needs to know of it: see [RunBuild].
type program struct {
	Decls []decl // earlier ones first
	Own   int    // those from here on are the cell's
	Body  body
	Cell  int
	Test  bool
}

// with is the program of a cell on top of what is remembered, and what is to be remembered if it compiles. A name that
// the cell takes over is its former owner's again when the cell no longer declares it, where cells have owners.
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
			continue // An earlier text of the cell.
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
		if i < first { // Twice in one cell is an error that the compiler tells of.
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

// markBack finds what was set aside and uses a name that is declared anew, or a declaration that may be back.
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

// uses reports whether one of the names is in the declaration's text.
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

// without is the declaration without some names: nothing where no name is left, else the names give way to blanks.
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

// keep remembers the declarations of a program that was compiled, and what the build has found of them.
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
			m.missing(name, fmt.Sprintf("cell [%d] has it for itself: a cell is a program, and its values end with it; declare "+
				"it by var in a line before %%%%, and keep what takes long by notebook.Keep", p.Cell))
		}
	}
	for name := range now {
		delete(m.gone, name)
	}
}

func (m *memory) names() map[string]bool {
	all := map[string]bool{}
	for _, d := range m.decls {
		for _, name := range d.Names {
			all[name] = true
		}
	}
	return all
}

// missing notes why a name is not there.
func (m *memory) missing(name, why string) {
	if m.gone == nil {
		m.gone = map[string]string{}
	}
	m.gone[name] = why
}

// forget drops what cells have declared that the user has deleted.
func (m *memory) forget(owners []string) {
	if len(owners) == 0 {
		return
	}
	m.drop(func(d decl) bool { return d.Owner != "" && slices.Contains(owners, d.Owner) },
		func(d decl) string { return fmt.Sprintf("its cell [%d] was deleted", d.Cell) })
}

// remove drops some names, and returns those that are not there.
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

// list is what %ls shows.
func (m *memory) list() string {
	if len(m.decls) == 0 {
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

// hint says more of a name that a program misses, "" where nothing is known.
func (m *memory) hint(name string, first bool) string {
	for _, d := range m.decls {
		if d.Aside != "" && slices.Contains(d.Names, name) {
			return fmt.Sprintf("cell [%d] declares it, and was set aside: %s; change that cell and run it again", d.Cell, d.Aside)
		}
	}
	if why := m.gone[name]; why != "" {
		return why
	}
	if first {
		return "the kernel is new and knows no other cell: run the cells that declare it"
	}
	return ""
}

// again are variables of earlier cells whose initializers the program evaluates again, and of which the user does not
// know that.
func (p program) again(b built) (found []int) {
	for i, d := range p.Decls[:p.Own] {
		if d.Calls && !d.Told && b.Aside[i] == "" {
			found = append(found, i)
		}
	}
	return found
}

// notes are for the user: what is evaluated again, each said once, and what is set aside.
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
