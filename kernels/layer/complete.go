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

// complete tells whether a cell can be executed as it is, wants more lines, or is wrong whatever follows.
func complete(code string) completeness {
	if word, _ := magic(code); isOneOf(word, notGo) {
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

// completes is the status of code, and how many brackets are open at its end.
func completes(text string, body bool) (depth int, status string) {
	depth, status = brackets(text, body)
	if status == "" {
		status = parses(text, body)
	}
	return depth, status
}

// mainLine stands for the line that begins a cell's statements.
const mainLine = "func main() {"

// goText is a cell's Go code: declarations, and after the line %% or %main the statements of the main function. The
// result tells whether there is such a line, and whether a special line goes on after the cell's end.
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

// brackets counts the brackets that are open at the end, without the one of main itself. The status is "" when that
// alone does not tell whether the code is complete.
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

// parses tries the parser. Code whose first fault is at its end wants more.
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

// magicAt is the part of a magic's name before the cursor, which counts characters, and whether it is on the cell's
// first line. ok is false elsewhere.
func magicAt(code string, cursor int) (word string, first, ok bool) {
	text := []rune(code)
	before := string(text[:max(0, min(cursor, len(text)))])
	start := strings.LastIndex(before, "\n") + 1
	word, first = bare(before[start:]), start == 0
	if !strings.HasPrefix(word, "%") || strings.ContainsAny(word, " \t") {
		return "", false, false
	}
	kind, _ := magic(code)
	return word, first, first || !isOneOf(kind, notGo)
}

// completeMagic is the content of a complete_reply about a magic's name. Those of whole cells stand on the first line.
func completeMagic(word string, first bool, cursor int) map[string]any {
	names := magics
	if first {
		names = append(notGo[:len(notGo):len(notGo)], names...)
	}
	matches, types := []string{}, []map[string]any{}
	start := cursor - len([]rune(word))
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			matches = append(matches, name)
		}
	}
	slices.Sort(matches)
	for _, name := range matches {
		types = append(types, map[string]any{"text": name, "type": "keyword", "signature": "", "start": start, "end": cursor})
	}
	return map[string]any{"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": cursor,
		"metadata": map[string]any{typesKey: types}}
}
