package layer

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// composition is a program as a Go file. Lines have a place only if they come from a cell.
type composition struct {
	text   string
	places []place // by line; zero for lines that the kernel adds
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

// stackLimit is the maximum size of a goroutine's stack in bytes. Go's own limit of a gigabyte takes about twenty
// seconds to fill. A recursion that ends needs far less.
const stackLimit = 64 << 20

func (p program) compose(c choice) composition {
	var w writer
	w.own("package main")
	for _, spec := range c.imports {
		w.own("import " + spec)
	}
	for i, d := range p.Decls {
		if d.Spec != "" && !c.without[i] {
			w.lines(d.Text, place{d.Cell, d.Line}, i)
		}
	}
	must := slices.Contains(c.imports, mustPath)
	for i, d := range p.Decls {
		must = must || d.Spec == mustPath && !c.without[i]
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
	for i, d := range p.Decls {
		if d.Spec == "" && !c.without[i] {
			w.lines(d.Text, place{d.Cell, d.Line}, i)
		}
	}
	if !p.Test && !p.Body.Own {
		w.own("func main() { kernelFlag.Parse()")
		text := p.Body.Text
		if c.show {
			text = text[:p.Body.From] + showName + "(" + text[p.Body.From:p.Body.To] + ")" + text[p.Body.To:]
		}
		w.lines(text, place{p.Cell, p.Body.Line}, -1)
		for _, name := range c.unused {
			w.own("_ = " + name)
		}
		w.own("}")
	}
	w.own(fmt.Sprintf("func init() { kernelDebug.SetMaxStack(%d) }", stackLimit))
	if must {
		w.own("func init() { kernelMust.M = kernelPanic }")
		w.own(mustFunc)
	}
	if p.Body.Own && !p.Test {
		w.own("var _ = kernelFlag.Parse")
	}
	if c.show {
		w.own(showFunc)
	}
	return w.composition
}

// showFunc shows the value of an expression, if it is not nil, by a mark on standard error. If an expression has
// several values, such as fmt.Println, it shows nothing.
const showFunc = `func kernelShow(v ...any) { if len(v) == 1 && v[0] != nil { s := kernelFmt.Sprintf("%+v", v[0]); ` +
	`switch t := v[0].(type) { case string: s = kernelFmt.Sprintf("%q", t); case error: s = t.Error() }; ` +
	`kernelFmt.Fprintf(kernelOS.Stderr, "\x1e=%q\n", s) } }`

// writer builds a composition.
type writer struct{ composition }

// own writes a line that the kernel adds.
func (w *writer) own(line string) { w.lines(line, place{}, -1) }

// lines writes lines of a cell, starting at a place.
func (w *writer) lines(text string, at place, decl int) {
	w.text += text + "\n"
	for range strings.Count(text, "\n") + 1 {
		w.places, w.decls = append(w.places, at), append(w.decls, decl)
		if at.cell != 0 || at.line != 0 {
			at.line++
		}
	}
}

// at returns the place and the declaration of a line of the file, counted from 1.
func (c composition) at(line int) (place, int) {
	if line < 1 || line > len(c.places) {
		return place{}, -1
	}
	return c.places[line-1], c.decls[line-1]
}

// find uses goimports to find the imports of a program.
func (b builder) find(text string) ([]string, error) {
	if err := os.WriteFile(b.source, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if code := runImports(b.kernel, []string{"-w", b.source}); code != 0 {
		return nil, fmt.Errorf("goimports ends with status %d", code)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), b.source, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	return specsOf(parsed), nil
}

// imports compares the imports of a program with the imports that it needs. found has the needed imports that the cells
// lack. unused has the indices of the cells' imports that are not needed.
func (p program) imports(c choice, needed []string) (found []string, unused map[int]bool) {
	left := map[string]bool{}
	for _, spec := range needed {
		left[spec] = true
	}
	unused = map[int]bool{}
	for i, d := range p.Decls {
		spec := d.Spec
		if spec == "" || c.without[i] {
			continue
		}
		if !left[spec] && !strings.HasPrefix(spec, "_ ") && !strings.HasPrefix(spec, ". ") && spec != `"C"` {
			unused[i] = true
		}
		delete(left, spec)
	}
	for spec := range left {
		if name, _, named := strings.Cut(spec, " "); !named || !slices.Contains(strings.Fields(ownNames), name) {
			found = append(found, spec)
		}
	}
	slices.Sort(found)
	return found, unused
}

// embedded matches go:embed directives.
var embedded = regexp.MustCompile(`(?m)^//go:embed[ \t]+(.+)$`)

// embed copies the files that a program embeds from the notebook's folder to the program's folder. undo removes the
// copies.
func (b builder) embed(text, from string) (undo func(), err error) {
	var put []string
	undo = func() {
		for _, name := range put {
			os.RemoveAll(name)
		}
	}
	for _, m := range embedded.FindAllStringSubmatch(text, -1) {
		for _, pattern := range strings.Fields(m[1]) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			if !filepath.IsLocal(filepath.FromSlash(pattern)) {
				continue // The compiler reports the error.
			}
			names, _ := filepath.Glob(filepath.Join(from, filepath.FromSlash(pattern)))
			for _, name := range names {
				to, err := filepath.Rel(from, name)
				if err != nil {
					return undo, err
				}
				to = filepath.Join(b.dir(), to)
				if _, err := os.Lstat(to); err == nil {
					continue // A file of GoNB, such as go.mod.
				}
				first, _, _ := strings.Cut(strings.TrimPrefix(to, b.dir()+"/"), "/")
				put = append(put, filepath.Join(b.dir(), first))
				if err := copyTree(name, to); err != nil {
					return undo, err
				}
			}
		}
	}
	return undo, nil
}

// copyTree copies a file or a folder.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// whole returns a program as a single cell for GoNB, with special lines before its body.
func (p program) whole(commands, main string) string {
	var text strings.Builder
	for _, d := range p.Decls {
		if d.Aside == "" {
			text.WriteString(d.Text + "\n")
		}
	}
	if main == "" {
		main = "%%"
	}
	return text.String() + commands + "\n" + main + "\n" + p.Body.Text
}
