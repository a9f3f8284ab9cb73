package gopls

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// book is a notebook.
type book struct {
	uri, dir string
	cells    []piece
	found    [][]map[string]any // diagnostics, by cell
}

// piece is a cell of a notebook: the line where it begins in the notebook's text, and the document that gopls sees.
type piece struct {
	line int
	document
}

// put replaces a notebook's cells. The diagnostics of a cell move with it, and a cell that is being changed keeps its
// diagnostics until gopls sends new ones.
func (b *book) put(cells []piece) {
	before := map[string][]map[string]any{}
	for i, c := range b.cells {
		before[c.cell] = b.found[i]
	}
	found := make([][]map[string]any, len(cells))
	for i, c := range cells {
		all, same := before[c.cell]
		if !same && len(cells) == len(b.cells) {
			all = b.found[i]
		}
		found[i] = all
	}
	b.cells, b.found = cells, found
}

// path returns the path of a cell's file.
func (b *book) path(i int) string { return filepath.Join(b.dir, "cell"+strconv.Itoa(i)+".go") }

// file returns the URI of a cell's file.
func (b *book) file(i int) string { return fileURI(b.path(i)) }

// resolvable matches errors about the name of a package that goimports may find when the cell runs.
var resolvable = regexp.MustCompile(`^undefined: [a-z]\w*$`)

// ending matches what may follow the last statement of a cell of statements alone.
var ending = regexp.MustCompile(`^(\s|//.*)*\}\s*$`)

// moved returns a diagnostic of a cell's file with positions in the notebook. It returns nil if the author need not
// act: the kernel adds and removes imports, and it uses the last of several declarations. In a cell of statements alone
// it shows the last expression, and variables may be unused.
func (c piece) moved(d map[string]any) map[string]any {
	message, _ := d["message"].(string)
	code, _ := d["code"].(string)
	area, _ := json.Marshal(d["range"])
	var r struct{ Start, End struct{ Line, Character int } }
	if json.Unmarshal(area, &r) != nil || r.Start.Line < c.shift {
		return nil
	}
	lines := strings.Split(c.cell, "\n")
	after, rest, nested := "", "", false
	if r.End.Line < len(lines) {
		after = from(lines[r.End.Line], r.End.Character)
		rest = strings.Join(append([]string{after}, lines[r.End.Line+1:]...), "\n")
		nested = strings.HasPrefix(lines[r.End.Line], "\t")
	}
	switch {
	case c.alone && strings.HasSuffix(message, "is not used") && ending.MatchString(rest),
		c.alone && strings.HasPrefix(message, "declared and not used") && !nested:
		return nil
	case code == "UnusedImport", code == "DuplicateDecl", strings.Contains(message, "redeclared in this block"):
		return nil
	case resolvable.MatchString(message) && strings.HasPrefix(after, "."):
		return nil
	}
	place := func(line, unit int) map[string]int {
		return map[string]int{"line": line - c.shift + c.line, "character": unit}
	}
	out := map[string]any{"message": message, "source": "gopls", "range": map[string]any{
		"start": place(r.Start.Line, r.Start.Character), "end": place(r.End.Line, r.End.Character)}}
	for _, key := range []string{"severity", "code", "tags"} {
		if v, ok := d[key]; ok {
			out[key] = v
		}
	}
	return out
}

// from returns the rest of a line after a number of UTF-16 units.
func from(line string, unit int) string {
	for i, r := range line {
		if unit <= 0 {
			return line[i:]
		}
		unit--
		if r > 0xFFFF {
			unit--
		}
	}
	return ""
}

// between is the text that separates two cells.
const between = "\n\n\n"

// begins matches the beginning of a cell's first line, unless it is a statement.
var begins = regexp.MustCompile(`^\s*(%|!|//|/\*|func\b|type\b|var\b|const\b|import\b|package\b|$)`)

// separate reports whether a text that follows two blank lines is another cell than the text before them. Statements
// belong to the cell before if that cell is unfinished or has a line %%.
func separate(before, after string) bool {
	if begins.MatchString(after) {
		return true
	}
	c, wrong := cells.Parse(before)
	return wrong == nil && c.ProgramLine == ""
}

// pieces returns a notebook's cells of Go code.
func pieces(text string) (out []piece) {
	line, start := 0, 0
	var texts []string
	var lines []int
	for i := 0; i <= len(text); i++ {
		atEnd := i == len(text)
		if !atEnd && !(strings.HasPrefix(text[i:], between) && separate(text[start:i], strings.TrimLeft(text[i:], "\n"))) {
			continue
		}
		texts, lines = append(texts, text[start:i]), append(lines, line)
		if !atEnd {
			line += strings.Count(text[start:i+len(between)], "\n")
			start, i = i+len(between), i+len(between)-1
		}
	}
	imports := importsOf(texts)
	for i, cell := range texts {
		if !cells.IsGo(cell) {
			continue
		}
		out = append(out, piece{lines[i], fileOf(cell, imports)})
	}
	return out
}

// importsOf returns the imports of all cells, because an import of one cell is valid in the others.
func importsOf(texts []string) (specs []string) {
	for _, cell := range texts {
		text, _, _ := cells.GoText(cell)
		file, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+text, parser.ImportsOnly)
		if file != nil {
			specs = append(specs, cells.ImportsOf(file)...)
		}
	}
	return specs
}

// fileOf returns a cell as one file of a package with many files. The cell's main function gets the name _ there.
func fileOf(code string, imports []string) document {
	text, body, _ := cells.GoText(code)
	if body {
		text = strings.Replace(text, cells.MainLine, "func _() {", 1) + "\n}"
	}
	return fileWith(text, imports, body, "func _() {")
}
