package cells

import (
	"fmt"
	"slices"
	"strings"
)

// Memory holds the declarations of a notebook's cells. The cell that runs last wins: its declarations replace
// declarations of the same name, of any kind. A declaration that no longer compiles with the replacement is set aside.
type Memory struct {
	decls []Decl
	gone  map[string]string // by name, the reason why the name is not declared
}

// Program returns the program of a cell together with the memory, and the declarations to remember if it compiles. If
// cells have owners, and a cell no longer declares a name that it took from another cell, the other cell's declaration
// is valid again.
func (m *Memory) Program(c Cell, number int, owner string) (Program, []Decl) {
	own := slices.Clone(c.decls)
	anew := map[string]bool{}
	for i := range own {
		own[i].Cell, own[i].Owner = number, owner
		for _, name := range own[i].Names {
			anew[name] = true
		}
	}
	all := m.beside(owner, anew)
	first := len(all)
	all = append(all, own...)
	p := Program{Body: c.body, Cell: number, Test: c.Test}
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
		d.Index = i
		p.Decls = append(p.Decls, d)
	}
	slices.Reverse(p.Decls)
	p.FirstOwn = slices.IndexFunc(p.Decls, func(d Decl) bool { return d.Index >= first })
	if p.FirstOwn < 0 {
		p.FirstOwn = len(p.Decls)
	}
	markBack(p.Decls[:p.FirstOwn], anew)
	return p, all
}

// beside returns the declarations that stay beside a cell that declares the names in anew: all of other owners, or, if
// the cell has no owner, all without these names.
func (m *Memory) beside(owner string, anew map[string]bool) (all []Decl) {
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
	return all
}

// Keep remembers the declarations of a compiled program, and the results of the build.
func (m *Memory) Keep(p Program, all []Decl, b BuildResult) {
	for i, d := range p.Decls {
		all[d.Index].SetAside = b.SetAside[i]
	}
	for _, i := range p.again(b) {
		all[p.Decls[i].Index].Announced = true
	}
	before := m.names()
	// A main function is the program of its cell alone.
	m.decls = slices.DeleteFunc(all, func(d Decl) bool { return slices.Contains(d.Names, "main") })
	now := m.names()
	for name := range before {
		if !now[name] {
			m.missing(name, fmt.Sprintf("cell [%d] no longer declares it", p.Cell))
		}
	}
	for _, name := range p.Body.Locals {
		if b.Runs && !now[name] {
			m.missing(name, fmt.Sprintf("cell [%d] has it as a local variable: a cell is a program, and its values end with it; "+
				"declare it by var before the line %%%%, and keep values that take long to compute by cache.Cache", p.Cell))
		}
	}
	for name := range now {
		delete(m.gone, name)
	}
}

// Empty reports whether no cell has declared anything.
func (m *Memory) Empty() bool { return len(m.decls) == 0 }

func (m *Memory) names() map[string]bool {
	all := map[string]bool{}
	for _, d := range m.decls {
		for _, name := range d.Names {
			all[name] = true
		}
	}
	return all
}

// missing stores the reason why a name is not declared.
func (m *Memory) missing(name, why string) {
	if m.gone == nil {
		m.gone = map[string]string{}
	}
	m.gone[name] = why
}

// Forget removes the declarations of cells that the user has deleted.
func (m *Memory) Forget(owners []string) {
	if len(owners) == 0 {
		return
	}
	m.drop(func(d Decl) bool { return d.Owner != "" && slices.Contains(owners, d.Owner) },
		func(d Decl) string { return fmt.Sprintf("its cell [%d] was deleted", d.Cell) })
}

// Remove removes some names, and returns those that are not declared.
func (m *Memory) Remove(names []string) (missing []string) {
	for _, name := range names {
		had := len(m.decls)
		m.drop(func(d Decl) bool { return slices.Contains(d.Names, name) },
			func(Decl) string { return "%rm has removed it" })
		if had == len(m.decls) {
			missing = append(missing, name)
		}
	}
	return missing
}

func (m *Memory) drop(which func(Decl) bool, why func(Decl) string) {
	m.decls = slices.DeleteFunc(m.decls, func(d Decl) bool {
		if !which(d) {
			return false
		}
		for _, name := range d.Names {
			m.missing(name, why(d))
		}
		return true
	})
}

// List returns the text that %ls shows.
func (m *Memory) List() string {
	if m.Empty() {
		return "No cell has declared anything.\n"
	}
	var out strings.Builder
	for _, d := range m.decls {
		out.WriteString(d.where())
		if d.SetAside != "" {
			out.WriteString(": set aside, " + d.SetAside)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Hint explains why a name is not declared, or returns "" if the reason is unknown.
func (m *Memory) Hint(name string) string {
	for _, d := range m.decls {
		if d.SetAside != "" && slices.Contains(d.Names, name) {
			return fmt.Sprintf("cell [%d] declares it, and was set aside: %s; change that cell and run it again", d.Cell,
				d.SetAside)
		}
	}
	if why := m.gone[name]; why != "" {
		return why
	}
	if m.Empty() && len(m.gone) == 0 && KnownPackages()[name] == "" {
		return "no cell has declared anything since the kernel started: run the cells that declare the name"
	}
	return ""
}
