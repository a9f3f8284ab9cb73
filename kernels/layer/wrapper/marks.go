package wrapper

import (
	"strconv"
	"strings"
)

// Marks are messages from the wrapper of a program to the layer, through the program's standard error and GoNB. Each
// begins with an unlikely control character:
//
//	mark .                 nothing: it hides a position from GoNB
//	mark = value newline   a value to show, quoted as in Go
//	mark ( text mark )     the text of a panic, removed from the stream
//	status newline         after the text of a panic: how the program has failed
//
// The first mark is necessary because GoNB 0.11.4 puts a cell of its own before each <folder>/main.go:N, and crashes on
// a line with two colons before main.go:N, such as a line of log.Lshortfile.
const (
	mark      = '\x1e'
	nothing   = string(mark) + "."
	valueMark = string(mark) + "="
	openText  = string(mark) + "("
	closeText = string(mark) + ")"
)

// Report is a wrapper's description of a failure, in the line after a panic's text.
type Report struct {
	Kind    string // the wrapper's verb
	Status  string // in the words of package os
	Command string // the command that has failed, if not the cell as a whole
}

// String returns the report as a line.
func (r Report) String() string {
	return r.Kind + "\t" + r.Status + "\t" + strings.ReplaceAll(r.Command, "\n", " ") + "\n"
}

func parseReport(line string) Report {
	f := append(strings.SplitN(line, "\t", 3), "", "", "")
	return Report{f[0], f[1], f[2]}
}

// MarkReader removes the marks from a stream that arrives in pieces.
type MarkReader struct {
	rest   string          // a mark that has not arrived completely
	Panics strings.Builder // the text of a panic
	inside bool            // between openText and closeText
	Failed *Report         // the first failure
	Value  *string         // the value of the cell's last expression
}

// Add returns the text for the user from a piece and from the rest of earlier pieces.
func (u *MarkReader) Add(piece string) string {
	text := u.rest + piece
	u.rest = ""
	var shown strings.Builder
	out := func(s string) {
		if u.inside {
			u.Panics.WriteString(s)
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

// take handles a mark, and returns the number of bytes that belong to it, or 0 if the mark is incomplete.
func (u *MarkReader) take(after string) (length int, known bool) {
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
			u.Value = &v
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
		if r := parseReport(line); u.Failed == nil {
			u.Failed = &r
		}
		u.inside = false
		return len(line) + 2, true
	}
	return 1, false
}
