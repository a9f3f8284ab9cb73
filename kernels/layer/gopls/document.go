package gopls

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// qualified matches names before dots.
var qualified = regexp.MustCompile(`(?:^|[^\w.)\]])([a-z]\w*)\.`)

// document is what gopls reads: a cell as a Go file, and another file with the declarations of earlier cells. It adds
// imports that the author leaves to goimports, if they are known.
type document struct {
	cell, earlier string
	shift         int  // number of lines before the cell
	alone         bool // the cell only has statements and imports
}

// documentOf returns the files of a cell. program is the program of an earlier cell, or "".
func documentOf(code, program string) document {
	text, body, _ := cells.GoText(code)
	if body {
		text += "\n}"
	}
	imports, earlier := declarations(program, declared(text))
	d := fileWith(text, imports, body, cells.MainLine)
	d.earlier = earlier
	return d
}

// fileWith returns a file with a cell's text. A cell that only has statements becomes the body of a function; begin is
// the function's first line.
func fileWith(text string, imports []string, body bool, begin string) document {
	own, rest, alone := statementsAlone(text)
	if body || !alone {
		return withImports(text, imports)
	}
	d := withImports(rest+"\n}", append(own, imports...))
	head := strings.SplitAfterN(d.cell, "\n", d.shift+1)
	for _, spec := range own {
		if !strings.Contains(strings.Join(head[:d.shift], ""), "import "+spec+"\n") {
			head[0] += "import " + spec + "\n"
			d.shift++
		}
	}
	last := len(head) - 1
	d.cell, d.shift, d.alone = strings.Join(head[:last], "")+begin+"\n"+head[last], d.shift+1, true
	return d
}

// statementsAlone splits a text that has only imports and statements into the two. ok is false if a declaration follows
// the imports. The statements may be unfinished.
func statementsAlone(text string) (imports []string, rest string, ok bool) {
	before, rest := cells.SplitImports(text)
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(rest)), []byte(rest), nil, 0)
	switch _, tok, _ := s.Scan(); tok {
	case token.EOF, token.FUNC, token.TYPE, token.VAR, token.CONST, token.IMPORT, token.PACKAGE:
		return nil, text, false
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+before, parser.ImportsOnly)
	if file != nil {
		imports = cells.ImportsOf(file)
	}
	return imports, rest, true
}

// withImports returns a file with the imports that a cell needs before its text.
func withImports(text string, earlier []string) document {
	head := "package main\n"
	for _, spec := range needed(text, earlier) {
		head += "import " + spec + "\n"
	}
	return document{cell: head + text + "\n", shift: strings.Count(head, "\n")}
}

// declared returns the names of a file's declarations. The name of a method includes the type of its receiver. The file
// may have errors.
func declared(text string) map[string]bool {
	names := map[string]bool{"main": true}
	const mode = parser.SkipObjectResolution | parser.AllErrors
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+text, mode)
	if file == nil {
		return names
	}
	for _, d := range file.Decls {
		for _, name := range cells.NamesOf(d) {
			names[name] = true
		}
	}
	return names
}

// whole reports whether a program can be parsed.
func whole(program string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", program, parser.SkipObjectResolution)
	return err == nil
}

// declarations returns a program's imports, and its text without main and without the names in anew. A program with
// errors declares nothing.
func declarations(program string, anew map[string]bool) (imports []string, text string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", program, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, "package main\n"
	}
	out := []byte(program)
	for _, d := range file.Decls {
		if slices.ContainsFunc(cells.NamesOf(d), func(name string) bool { return anew[name] }) {
			from, to := files.Position(d.Pos()).Offset, files.Position(d.End()).Offset
			for i := from; i < to; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
	return cells.ImportsOf(file), string(out)
}

// needed returns the imports that a cell lacks. It looks for names of packages that an earlier program imports, and for
// names of well-known packages.
func needed(text string, earlier []string) (specs []string) {
	known := cells.KnownPackages()
	for _, spec := range earlier {
		name, quoted, named := strings.Cut(spec, " ")
		switch {
		case !named:
			known[path.Base(strings.Trim(spec, `"`))] = spec
		case name == ".":
			if !strings.Contains(text, quoted) {
				specs = append(specs, spec)
			}
		default:
			known[name] = spec
		}
	}
	own := declared(text)
	seen := map[string]bool{}
	for _, m := range qualified.FindAllStringSubmatch(text, -1) {
		spec := known[m[1]]
		if spec == "" || seen[m[1]] || own[m[1]] || strings.Contains(text, spec[strings.Index(spec, `"`):]) {
			continue
		}
		seen[m[1]] = true
		specs = append(specs, spec)
	}
	return specs
}

// place returns the position of a cell's cursor in the file: line and UTF-16 unit, from 0. The cursor counts
// characters.
func (d document) place(code string, cursor int) (line, unit int) {
	runes := []rune(code)
	before := string(runes[:max(0, min(cursor, len(runes)))])
	start := strings.LastIndex(before, "\n") + 1
	return strings.Count(before, "\n") + d.shift, len(utf16.Encode([]rune(before[start:])))
}

// IsGo reports whether a cursor is in Go code: not on a special line, and not in a cell of another language.
func IsGo(code string, cursor int) bool {
	if !cells.IsGo(code) {
		return false
	}
	text, _, _ := cells.GoText(code)
	at, _ := document{}.place(code, cursor)
	line := strings.Split(code, "\n")[at]
	return strings.TrimSpace(text) != "" && (strings.Split(text, "\n")[at] == line)
}
