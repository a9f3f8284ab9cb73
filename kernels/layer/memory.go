package layer

import (
	"fmt"
	"slices"
	"strings"
)

// memory holds the declarations of a notebook's cells. The cell that runs last wins: its declarations replace
// declarations of the same name, of any kind. A declaration that no longer compiles with the replacement is set aside.
type memory struct {
	decls []decl
	gone  map[string]string // by name, the reason why the name is not declared
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
