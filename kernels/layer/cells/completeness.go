package cells

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Completeness is the content of an is_complete_reply.
type Completeness struct {
	Status string `json:"status"`
	Indent string `json:"indent"`
}

// IsComplete reports whether a cell can be executed, needs more lines, or is invalid whatever follows.
func IsComplete(code string) Completeness {
	if !IsGo(code) {
		return Completeness{Status: "complete"}
	}
	text, body, open := GoText(code)
	if open {
		return Completeness{Status: "incomplete"}
	}
	depth, status := completes(text, body)
	if _, statements := SplitImports(text); status == "invalid" && !body { // Statements alone.
		if d, s := completes(MainLine+statements, true); s != "invalid" {
			depth, status = d, s
		}
	}
	c := Completeness{Status: status}
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
	end := len(packageLine) + len(strings.TrimRight(text, " \t\n"))
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 && list[0].Pos.Offset >= end {
		return "incomplete"
	}
	return "invalid"
}
