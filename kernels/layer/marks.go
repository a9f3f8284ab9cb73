package layer

import "strings"

// Marks are how the wrapper of a program speaks to the layer through the program's standard error and GoNB. Each begins
// with an unlikely control character:
//
//	mark newline           a line break that is not there: what stands between two of them is a line for GoNB alone
//	mark .                 nothing: it keeps GoNB from seeing a position where there is none
//	mark ( text mark )     the text of a panic, kept out of the stream
//	status newline         follows it: how the program has failed
//
// The first two are there for positions. GoNB 0.11.4 puts the cell and its line before every <folder>/main.go:N, but
// dies on a line in which two colons come before main.go:N, such as those of log.Lshortfile. So each position is
// written with its folder and on a line of its own.
const (
	mark      = '\x1e'
	fold      = string(mark) + "\n"
	nothing   = string(mark) + "."
	openText  = string(mark) + "("
	closeText = string(mark) + ")"
)

// foldPositions makes a line of standard error safe for GoNB; dir is where the program's main.go was.
func foldPositions(line, dir string) string {
	return position.ReplaceAllStringFunc(line, func(found string) string {
		p := position.FindStringSubmatch(found)
		folder, before, name, rest := p[1], p[2], p[3], p[4]
		if before != "" || folder != "" && folder != dir+"/" && folder != "./" {
			return folder + before + name + nothing + rest
		}
		return fold + dir + "/" + name + rest + fold
	})
}

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
	case fold, nothing:
		return 1, true
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
