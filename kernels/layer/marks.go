package layer

import (
	"strconv"
	"strings"
)

// Marks are how the wrapper of a program speaks to the layer through the program's standard error and GoNB. Each begins
// with an unlikely control character:
//
//	mark .                 nothing: it keeps GoNB from seeing a position
//	mark = value newline   a value to show, quoted as in Go
//	mark ( text mark )     the text of a panic, kept out of the stream
//	status newline         follows it: how the program has failed
//
// The first is there since GoNB 0.11.4 puts a cell of its own before each <folder>/main.go:N, and dies on a line in
// which two colons come before main.go:N, such as those of log.Lshortfile.
const (
	mark      = '\x1e'
	nothing   = string(mark) + "."
	valueMark = string(mark) + "="
	openText  = string(mark) + "("
	closeText = string(mark) + ")"
)

// report is what a wrapper tells of a failure, in the line after a panic's text.
type report struct {
	kind    string // the wrapper's verb
	status  string // as package os says it
	command string // what has failed, when that is not the cell as a whole
}

func (r report) String() string {
	return r.kind + "\t" + r.status + "\t" + strings.ReplaceAll(r.command, "\n", " ") + "\n"
}

func parseReport(line string) report {
	f := append(strings.SplitN(line, "\t", 3), "", "", "")
	return report{f[0], f[1], f[2]}
}

// unfolder takes the marks out of a stream that arrives in pieces.
type unfolder struct {
	rest   string          // a mark that has not arrived as a whole
	panics strings.Builder // the text of a panic
	inside bool            // between openText and closeText
	failed *report         // the first failure
	value  *string         // what the last expression of the cell has come to
}

// add takes a piece and returns what of it, and of earlier pieces, is for the user.
func (u *unfolder) add(piece string) string {
	text := u.rest + piece
	u.rest = ""
	var shown strings.Builder
	out := func(s string) {
		if u.inside {
			u.panics.WriteString(s)
		} else {
			shown.WriteString(s)
		}
	}
	for {
		before, after, found := strings.Cut(text, string(mark))
		out(before)
		if !found {
			return shown.String()
		}
		length, known := u.take(after)
		switch {
		case length == 0:
			u.rest = string(mark) + after
			return shown.String()
		case !known:
			out(string(mark) + after[:1])
		}
		text = after[length:]
	}
}

// take handles a mark and returns the length of what belongs to it, 0 when it is not there as a whole.
func (u *unfolder) take(after string) (length int, known bool) {
	if after == "" {
		return 0, false
	}
	switch string(mark) + after[:1] {
	case nothing:
		return 1, true
	case valueMark:
		line, _, whole := strings.Cut(after[1:], "\n")
		if !whole {
			return 0, false
		}
		if v, err := strconv.Unquote(strings.ReplaceAll(line, nothing, "")); err == nil {
			u.value = &v
		}
		return len(line) + 2, true
	case openText:
		u.inside = true
		return 1, true
	case closeText:
		line, _, whole := strings.Cut(after[1:], "\n")
		if !whole {
			return 0, false
		}
		if r := parseReport(line); u.failed == nil {
			u.failed = &r
		}
		u.inside = false
		return len(line) + 2, true
	}
	return 1, false
}
