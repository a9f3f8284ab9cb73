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

// composition is a program as a Go file.
type composition struct {
	text   string
	places []place // of each line; zero where the line is the kernel's own
	decls  []int   // of each line the declaration that it belongs to, or -1
}

// choice says what of a program to compose.
type choice struct {
	without map[int]bool // declarations that are left out
	imports []string     // beside those of the cells, as in a file
	show    bool         // the last expression of a bare body
	unused  []string     // variables of a bare body that nothing uses
}

// Names in a program that are the kernel's own.
const (
	showName = "kernelShow"
	ownNames = "kernelFlag kernelDebug kernelFmt kernelOS kernelMust " + showName
)

// mustPath is package must. Its M writes a line to the log before it panics, which says the error twice.
const (
	mustPath = `"github.com/janpfeifer/must"`
	mustFunc = "func kernelPanic(err error) { if err != nil { panic(err) } }"
)

// stackLimit is the most that a goroutine's stack may take. Go's own limit, a gigabyte, takes some twenty seconds to
// fill; a recursion that ends needs far less.
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

// showFunc shows the value of an expression by a mark on standard error: one that is not nil. Where there are several
// values, as of fmt.Println, none is shown.
const showFunc = `func kernelShow(v ...any) { if len(v) == 1 && v[0] != nil { s := kernelFmt.Sprintf("%+v", v[0]); ` +
	`switch t := v[0].(type) { case string: s = kernelFmt.Sprintf("%q", t); case error: s = t.Error() }; ` +
	`kernelFmt.Fprintf(kernelOS.Stderr, "\x1e=%q\n", s) } }`

// writer writes a composition.
type writer struct{ composition }

// own writes a line of the kernel's own.
func (w *writer) own(line string) { w.lines(line, place{}, -1) }

// lines writes lines of a cell from a place on.
func (w *writer) lines(text string, at place, decl int) {
	w.text += text + "\n"
	for range strings.Count(text, "\n") + 1 {
		w.places, w.decls = append(w.places, at), append(w.decls, decl)
		if at.cell != 0 || at.line != 0 {
			at.line++
		}
	}
}

// at is what stands in a line of the file, counted from 1.
func (c composition) at(line int) (place, int) {
	if line < 1 || line > len(c.places) {
		return place{}, -1
	}
	return c.places[line-1], c.decls[line-1]
}

// find has goimports say which imports a program needs: those beside the cells' own, and which of the cells' it does
// not need.
func (b builder) find(p program, c choice, file string) (found []string, unused map[int]bool, err error) {
	known := p.compose(c)
	if err := os.WriteFile(file, []byte(known.text), 0o600); err != nil {
		return nil, nil, err
	}
	if code := runImports(b.plans, []string{"-w", file}); code != 0 {
		return nil, nil, fmt.Errorf("goimports ends with status %d", code)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, nil, err
	}
	left := map[string]bool{}
	for _, spec := range specsOf(parsed) {
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
	return found, unused, nil
}

// embedded finds what a program embeds.
var embedded = regexp.MustCompile(`(?m)^//go:embed[ \t]+(.+)$`)

// embed puts the files that a program embeds beside it: they are those beside the notebook. The result removes them.
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
				continue // The compiler says so.
			}
			names, _ := filepath.Glob(filepath.Join(from, filepath.FromSlash(pattern)))
			for _, name := range names {
				to, err := filepath.Rel(from, name)
				if err != nil {
					return undo, err
				}
				to = filepath.Join(b.dir(), to)
				if _, err := os.Lstat(to); err == nil {
					continue // GoNB's own, such as go.mod.
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

// copyTree copies a file, or a folder of files.
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

// whole is a program as one cell for GoNB, with special lines before its body.
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
