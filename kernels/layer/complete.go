package layer

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// completeness is the content of an is_complete_reply.
type completeness struct {
	Status string `json:"status"`
	Indent string `json:"indent"`
}

// complete reports whether a cell can be executed, needs more lines, or is invalid whatever follows.
func complete(code string) completeness {
	if !isGoCell(code) {
		return completeness{Status: "complete"}
	}
	text, body, open := goText(code)
	if open {
		return completeness{Status: "incomplete"}
	}
	depth, status := completes(text, body)
	if _, statements := splitImports(text); status == "invalid" && !body { // Statements alone.
		if d, s := completes(mainLine+statements, true); s != "invalid" {
			depth, status = d, s
		}
	}
	c := completeness{Status: status}
	if status == "incomplete" {
		c.Indent = strings.Repeat("\t", depth)
	}
	return c
}

// completes returns the status of code, and the number of brackets that are open at its end.
func completes(text string, body bool) (depth int, status string) {
	depth, status = brackets(text, body)
	if status == "" {
		status = parses(text, body)
	}
	return depth, status
}

// mainLine is the text that replaces the line before a cell's statements.
const mainLine = "func main() {"

// goText returns a cell's Go code: declarations, and after a line %% or %main the statements of the main function. body
// reports whether there is such a line. open reports whether the last special line continues after the end of the cell.
func goText(code string) (text string, body, open bool) {
	lines := strings.Split(code, "\n")
	found, open := specialLines(lines)
	if open {
		return "", false, true
	}
	for _, i := range slices.Sorted(maps.Keys(found)) {
		special := found[i]
		for j := i; j <= special.last; j++ {
			lines[j] = ""
		}
		if word, _, _ := strings.Cut(special.text, " "); (word == "%%" || word == "%main") && !body {
			lines[i], body = mainLine, true
		}
	}
	return strings.Join(lines, "\n"), body, false
}

// brackets returns the number of brackets that are open at the end, not counting the bracket of main. The status is ""
// if brackets alone do not determine whether the code is complete.
func brackets(text string, body bool) (depth int, status string) {
	if body {
		depth = -1
	}
	var s scanner.Scanner
	unfinished, wrong := false, false
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), []byte(text), func(_ token.Position, msg string) {
		if strings.Contains(msg, "comment not terminated") || strings.Contains(msg, "raw string literal not terminated") {
			unfinished = true
		} else {
			wrong = true
		}
	}, 0)
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.EOF:
			switch {
			case wrong || depth < 0:
				return depth, "invalid"
			case unfinished:
				return depth, "incomplete"
			}
			return depth, ""
		}
	}
}

// parses returns the status according to Go's parser. If the first error is at the end of the code, more code is
// needed.
func parses(text string, body bool) string {
	source := packageLine + text
	if body {
		source += "\n}"
	}
	files := token.NewFileSet()
	_, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err == nil {
		return "complete"
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return "invalid"
	}
	end := len(packageLine) + len(strings.TrimRight(text, " \t\n"))
	if list[0].Pos.Offset >= end {
		return "incomplete"
	}
	return "invalid"
}

// magicAt returns the part of a magic's name before the cursor, and whether it is on the cell's first line. The cursor
// counts characters. ok is false if the cursor is not in a magic's name.
func magicAt(code string, cursor int) (word string, first, ok bool) {
	text := []rune(code)
	before := string(text[:max(0, min(cursor, len(text)))])
	start := strings.LastIndex(before, "\n") + 1
	word, first = bare(before[start:]), start == 0
	if !strings.HasPrefix(word, "%") || strings.ContainsAny(word, " \t") {
		return "", false, false
	}
	return word, first, first || isGoCell(code)
}

// completeMagic returns the content of a complete_reply for a magic's name. Cell magics are possible on the first line
// only.
func completeMagic(word string, first bool, cursor int) map[string]any {
	names := magics
	if first {
		names = append(notGo[:len(notGo):len(notGo)], names...)
	}
	c := completions{start: cursor - len([]rune(word)), end: cursor}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if strings.HasPrefix(name, word) {
			c.add(name, "keyword", "")
		}
	}
	return c.reply()
}
