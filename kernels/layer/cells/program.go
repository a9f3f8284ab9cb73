package cells

import (
	"cmp"
	"fmt"
	"strings"
)

// Program has all that the build of a cell needs: see package build.
type Program struct {
	Decls    []Decl // in the order of their cells
	FirstOwn int    // index of the first declaration of the cell that runs
	Body     Body
	Cell     int
	Test     bool
}

// markBack marks declarations that were set aside and use a name that is declared anew, or a name of a marked
// declaration.
func markBack(decls []Decl, anew map[string]bool) {
	for again := true; again; {
		again = false
		for i, d := range decls {
			if d.SetAside == "" || d.Retry || !d.uses(anew) {
				continue
			}
			decls[i].Retry, again = true, true
			for _, name := range d.Names {
				anew[name] = true
			}
		}
	}
}

// again returns the indices of variables of earlier cells whose initializers the program evaluates again, if the user
// has not been told yet.
func (p Program) again(b BuildResult) (found []int) {
	for i, d := range p.Decls[:p.FirstOwn] {
		if d.CallsFunction && !d.Announced && b.SetAside[i] == "" {
			found = append(found, i)
		}
	}
	return found
}

// notes returns messages for the user about variables that are evaluated again, once for each variable, and about
// declarations that are set aside.
func (p Program) notes(b BuildResult) (lines []string) {
	for _, i := range p.again(b) {
		lines = append(lines, fmt.Sprintf("%s is evaluated again in each cell, since its initializer calls a function; to "+
			"keep a value: var x = cache.Cache(\"x\", f)", p.Decls[i].where()))
	}
	for i, d := range p.Decls {
		if why, ok := b.SetAside[i]; ok && d.SetAside == "" {
			lines = append(lines, fmt.Sprintf("%s is set aside, since it does not compile with this cell: %s", d.where(),
				strings.ReplaceAll(why, "\n", " ")))
		}
	}
	return lines
}

// CellText returns a program as a single cell for GoNB, with special lines before its body.
func (p Program) CellText(commands, main string) string {
	var text strings.Builder
	for _, d := range p.Decls {
		if d.SetAside == "" {
			text.WriteString(d.Text + "\n")
		}
	}
	return text.String() + commands + "\n" + cmp.Or(main, "%%") + "\n" + p.Body.Text
}
