package cells

import (
	"maps"
	"slices"
	"strings"
)

// SpecialLine is a line of a cell that begins with % or !, joined with the lines that continue it after a backslash.
type SpecialLine struct {
	Text string
	Last int // index of the last line that belongs to it
}

// SpecialLines returns the special lines of a cell by the index of their first line. A line inside a raw string or a
// comment is not special. open reports whether the last special line continues after the end of the cell.
func SpecialLines(lines []string) (found map[int]SpecialLine, open bool) {
	found = map[int]SpecialLine{}
	var in literal
	for i := 0; i < len(lines); i++ {
		line := Uncommented(lines[i])
		if in != outside || len(line) < 2 || line[0] != '%' && line[0] != '!' {
			in = in.after(lines[i])
			continue
		}
		first := i
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + " " + Uncommented(lines[i])
		}
		found[first] = SpecialLine{line, i}
		open = strings.HasSuffix(line, `\`)
	}
	return found, open
}

// literal says whether a line of Go begins outside literals, in a raw string, or in a comment.
type literal byte

const (
	outside literal = 0
	raw     literal = '`'
	comment literal = '*'
)

// after returns the state at the beginning of the next line.
func (in literal) after(line string) literal {
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case in == raw:
			if ch == '`' {
				in = outside
			}
		case in == comment:
			if strings.HasPrefix(line[i:], "*/") {
				in = outside
				i++
			}
		case ch == '`':
			in = raw
		case strings.HasPrefix(line[i:], "//"):
			return in
		case strings.HasPrefix(line[i:], "/*"):
			in = comment
			i++
		case ch == '"' || ch == '\'':
			for i++; i < len(line) && line[i] != ch; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		}
	}
	return in
}

// MainLine is the text that replaces the line before a cell's statements.
const MainLine = "func main() {"

// GoText returns a cell's Go code: declarations, and after a line %% or %main the statements of the main function. body
// reports whether there is such a line. open reports whether the last special line continues after the end of the cell.
func GoText(code string) (text string, body, open bool) {
	lines := strings.Split(code, "\n")
	found, open := SpecialLines(lines)
	if open {
		return "", false, true
	}
	for _, i := range slices.Sorted(maps.Keys(found)) {
		special := found[i]
		for j := i; j <= special.Last; j++ {
			lines[j] = ""
		}
		if word, _, _ := strings.Cut(special.Text, " "); (word == "%%" || word == "%main") && !body {
			lines[i], body = MainLine, true
		}
	}
	first := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" })
	if first >= 0 && strings.HasPrefix(lines[first], "package ") {
		lines[first] = "" // The cell does not need it.
	}
	return strings.Join(lines, "\n"), body, false
}
