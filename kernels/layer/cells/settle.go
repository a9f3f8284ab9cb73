package cells

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// BuildResult is the result of building a program.
type BuildResult struct {
	Remember   bool           // the declarations are correct and are remembered
	Runs       bool           // there is a program to run
	SetAside   map[int]string // why declarations do not compile with the cell, by index in Program.Decls
	Complaints []Complaint    // about the cell
	Notes      []string       // messages to the user, shown first
}

// Compiler compiles the file of a program.
type Compiler interface {
	// FindImports returns the imports that the file needs, as they are written in a file.
	FindImports(text string) ([]string, error)
	// Compile returns the error output of the Go command, and an error if the file does not compile.
	Compile(text string) ([]byte, error)
}

// Build compiles the largest part of a program that compiles: it leaves out declarations of earlier cells that do not
// compile with the cell. It returns the place of each line of the compiled file. An error of the cell is a complaint of
// the result; the error that Build returns is of another kind.
func (p Program) Build(with Compiler) (BuildResult, []Place, error) {
	c := choice{without: map[int]bool{}, show: p.Body.To > 0}
	aside := map[int]string{}
	for i, d := range p.Decls {
		if d.SetAside != "" && !d.Retry {
			c.without[i], aside[i] = true, d.SetAside
		}
	}
	idle := map[int]bool{} // imports that this program does not need; goimports does not recognise them
	for {
		own := choice{without: union(c.without, idle), show: c.show, unused: c.unused}
		needed, err := with.FindImports(p.compose(own).text)
		if err != nil {
			return BuildResult{}, nil, err
		}
		found, more := p.imports(own, needed)
		own.without, own.imports = union(own.without, more), found
		file := p.compose(own)
		said, err := with.Compile(file.text)
		if err == nil {
			return p.noted(BuildResult{Remember: true, Runs: true, SetAside: aside}), file.places, nil
		}
		r := p.judge(file, string(said), c.unused)
		again := c.show && r.noValue || len(r.idle)+len(r.unused)+len(r.aside) > 0
		c.show, c.unused = c.show && !r.noValue, append(c.unused, r.idle...)
		for _, i := range r.unused {
			idle[i] = true
		}
		for i, why := range r.aside {
			c.without[i], aside[i] = true, cmp.Or(p.Decls[i].SetAside, why)
		}
		if again {
			continue
		}
		if len(r.complaints) == 0 {
			r.complaints, r.own = []Complaint{{Text: strings.TrimSpace(string(said))}}, true
		}
		return p.noted(BuildResult{Remember: !r.own, SetAside: aside, Complaints: r.complaints}), file.places, nil
	}
}

// noted returns a result with messages to the user about it.
func (p Program) noted(b BuildResult) BuildResult {
	b.Notes = p.notes(b)
	return b
}

// imports compares the imports of a program with the imports that it needs. found has the needed imports that the cells
// lack. unused has the indices of the cells' imports that are not needed.
func (p Program) imports(c choice, needed []string) (found []string, unused map[int]bool) {
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

func union(a, b map[int]bool) map[int]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// ruling is the interpretation of a compiler's error output.
type ruling struct {
	complaints []Complaint    // about the cell
	own        bool           // a complaint is about a declaration of the cell itself, or about an unknown place
	aside      map[int]string // why declarations of earlier cells do not compile, by index
	unused     []int          // imports that are not needed
	noValue    bool           // the last expression has no value to show
	idle       []string       // variables of a bare body that are not used
}

// tooMany is the last line of the compiler's output if there are more errors.
const tooMany = "too many errors"

// Patterns of the compiler's error output: a line about a position, and kinds of errors.
var (
	aboutLine = regexp.MustCompile(`^(?:\S*/)?main(?:_test)?\.go:(\d+)(?::\d+)?: (.*)$`)
	notUsed   = regexp.MustCompile(`imported (?:as \S+ )?and not used`)
	idleName  = regexp.MustCompile(`^declared and not used: (\S+)$`)
	notAValue = regexp.MustCompile(`\(no value\) used as value|is not an expression|used as value|multiple-value`)
	noModule  = regexp.MustCompile(`(?m)(?:no required module provides package|package \S+ imports) ([^\s;]+).*; to add .*:` +
		`\n\tgo get (\S+)$`)
)

// getModule is what a cell says in place of noModule.
const getModule = "no module of the cells has package $1: run !*go get $2 in a cell, and then this cell again"

// elsewhere matches a position within the text of an error.
var elsewhere = regexp.MustCompile(`(?:\S*/)?main(?:_test)?\.go:(\d+):\d+`)

// named returns the text of an error with cells and lines in place of positions.
func (c composition) named(text string) string {
	return elsewhere.ReplaceAllStringFunc(text, func(found string) string {
		number, _ := strconv.Atoi(elsewhere.FindStringSubmatch(found)[1])
		if at, _ := c.at(number); at.Cell > 0 {
			return at.String()
		}
		return found
	})
}

// judge interprets the compiler's error output. marked has the unused variables that the file already uses at its end:
// a complaint about such a name is about another variable, in a block within the body.
func (p Program) judge(c composition, said string, marked []string) (r ruling) {
	r.aside = map[int]string{}
	var last *Complaint
	for line := range strings.Lines(noModule.ReplaceAllString(said, getModule)) {
		line = strings.TrimRight(line, "\r\n")
		m := aboutLine.FindStringSubmatch(line)
		if m == nil {
			if last != nil && strings.HasPrefix(line, "\t") {
				last.Text += "\n" + c.named(line)
			} else if line != "" && !strings.HasPrefix(line, "# ") && line != tooMany {
				r.complaints, r.own = append(r.complaints, Complaint{Text: line}), true
			}
			continue
		}
		last = nil
		number, _ := strconv.Atoi(m[1])
		at, i := c.at(number)
		switch text := c.named(m[2]); {
		case text == tooMany:
		case i >= 0 && p.Decls[i].Spec != "" && notUsed.MatchString(text):
			r.unused = append(r.unused, i)
		case i >= 0 && i < p.FirstOwn:
			if r.aside[i] == "" {
				r.aside[i] = text
			}
		default:
			m := idleName.FindStringSubmatch(text)
			if m != nil && i < 0 && p.Body.StatementsOnly && slices.Contains(p.Body.Locals, m[1]) &&
				!slices.Contains(marked, m[1]) {
				r.idle = append(r.idle, m[1])
				continue
			}
			r.noValue = r.noValue || i < 0 && notAValue.MatchString(text)
			r.complaints = append(r.complaints, Complaint{at.Cell, at.Line, text})
			last, r.own = &r.complaints[len(r.complaints)-1], r.own || i >= 0 || at.Cell == 0
		}
	}
	return r
}
