package cells

import (
	"fmt"
	"slices"
	"strings"
)

// composition is a program as a Go file. Lines have a place only if they come from a cell.
type composition struct {
	text   string
	places []Place // by line; zero for lines that the kernel adds
	decls  []int   // by line, the index of the declaration that the line belongs to, or -1
}

// choice selects the parts of a program.
type choice struct {
	without map[int]bool // indices of declarations that are left out
	imports []string     // additional imports, written as in a file
	show    bool         // show the last expression of a bare body
	unused  []string     // variables of a bare body that are not used
}

// Names that the kernel declares in a program.
const (
	showName = "kernelShow"
	ownNames = "kernelFlag kernelDebug kernelFmt kernelOS kernelMust " + showName
)

// mustPath is the import path of package must. Its function M writes a line to the log before it panics, so that the
// error would appear twice; mustFunc replaces it.
const (
	mustPath = `"github.com/janpfeifer/must"`
	mustFunc = "func kernelPanic(err error) { if err != nil { panic(err) } }"
)

// usesMust reports whether an import is package must, or the package of figures and tables, which calls it.
func usesMust(spec string) bool { return spec == mustPath || spec == `"`+hyperPath+`/notebook"` }

// stackLimit is the maximum size of a goroutine's stack in bytes. Go's own limit of a gigabyte takes about twenty
// seconds to fill. A recursion that ends needs far less.
const stackLimit = 64 << 20

// compose writes the chosen parts of a program as a file.
func (p Program) compose(c choice) composition {
	var w writer
	w.own("package main")
	must := p.writeImports(&w, c)
	for i, d := range p.Decls {
		if d.Spec == "" && !c.without[i] {
			w.lines(d.Text, Place{d.Cell, d.Line}, i)
		}
	}
	if !p.Test && !p.Body.HasMain {
		p.writeMain(&w, c)
	}
	w.own(fmt.Sprintf("func init() { kernelDebug.SetMaxStack(%d) }", stackLimit))
	if must {
		w.own("func init() { kernelMust.M = kernelPanic }")
		w.own(mustFunc)
	}
	if p.Body.HasMain && !p.Test {
		w.own("var _ = kernelFlag.Parse")
	}
	if c.show {
		w.own(showFunc)
	}
	return w.composition
}

// writeImports writes the imports of the cells and of the kernel. must reports whether package must is among them.
func (p Program) writeImports(w *writer, c choice) (must bool) {
	for _, spec := range c.imports {
		w.own("import " + spec)
	}
	for i, d := range p.Decls {
		if d.Spec != "" && !c.without[i] {
			w.lines(d.Text, Place{d.Cell, d.Line}, i)
		}
	}
	must = slices.ContainsFunc(c.imports, usesMust)
	for i, d := range p.Decls {
		must = must || usesMust(d.Spec) && !c.without[i]
	}
	if must {
		w.own("import kernelMust " + mustPath)
	}
	w.own(`import kernelDebug "runtime/debug"`)
	if !p.Test {
		w.own(`import kernelFlag "flag"`)
	}
	if c.show {
		w.own(`import kernelFmt "fmt"`)
		w.own(`import kernelOS "os"`)
	}
	return must
}

// writeMain writes the statements of the cell as the main function.
func (p Program) writeMain(w *writer, c choice) {
	w.own("func main() { kernelFlag.Parse()")
	text := p.Body.Text
	if c.show {
		text = text[:p.Body.From] + showName + "(" + text[p.Body.From:p.Body.To] + ")" + text[p.Body.To:]
	}
	w.lines(text, Place{p.Cell, p.Body.Line}, -1)
	for _, name := range c.unused {
		w.own("_ = " + name)
	}
	w.own("}")
}

// showFunc shows the value of an expression, if it is not nil, by a mark on standard error. If an expression has
// several values, such as fmt.Println, it only shows an error, the last of them. A nil pointer may be an error, whose
// text is "<nil>" if its method panics.
const showFunc = `func kernelShow(v ...any) { if n := len(v); n > 1 { if err, ok := v[n-1].(error); ` +
	`ok && kernelFmt.Sprint(err) != "<nil>" { v = []any{err} } }; ` +
	`if len(v) == 1 && v[0] != nil { s := kernelFmt.Sprintf("%+v", v[0]); ` +
	`switch t := v[0].(type) { case string: s = kernelFmt.Sprintf("%q", t); case error: s = kernelFmt.Sprint(t) }; ` +
	`kernelFmt.Fprintf(kernelOS.Stderr, "\x1e=%q\n", s) } }`

// writer builds a composition.
type writer struct{ composition }

// own writes a line that the kernel adds.
func (w *writer) own(line string) { w.lines(line, Place{}, -1) }

// lines writes lines of a cell, starting at a place.
func (w *writer) lines(text string, at Place, decl int) {
	w.text += text + "\n"
	for range strings.Count(text, "\n") + 1 {
		w.places, w.decls = append(w.places, at), append(w.decls, decl)
		if at.Cell != 0 || at.Line != 0 {
			at.Line++
		}
	}
}

// at returns the place and the declaration of a line of the file, counted from 1.
func (c composition) at(line int) (Place, int) {
	if line < 1 || line > len(c.places) {
		return Place{}, -1
	}
	return c.places[line-1], c.decls[line-1]
}
