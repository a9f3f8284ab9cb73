package wrapper

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// Rewrite makes GoNB run the commands of a cell through the wrappers. The number of lines does not change.
func Rewrite(code, program string) string {
	word, rest := cells.Magic(code)
	switch {
	case slices.Contains(cells.ScriptMagics, word):
		if word != "%%script" {
			if strings.TrimSpace(rest) != "" {
				return code // GoNB reports the error.
			}
			rest = word[len("%%"):]
		}
		_, body, _ := strings.Cut(code, "\n")
		return `%%script "` + program + `" ` + ScriptVerb + " " + rest + "\n" + body
	case slices.Contains(cells.CellMagics, word):
		return code
	}
	return RewriteLines(code, program)
}

// RewriteLines replaces the `!command` lines among Go code. A command that continues on further lines, by a backslash
// at the end of a line, is joined on its first line.
func RewriteLines(code, program string) string {
	lines := strings.Split(code, "\n")
	found, _ := cells.SpecialLines(lines)
	for i, line := range found {
		for j := i; j <= line.Last; j++ {
			lines[j] = ""
		}
		lines[i] = special(line.Text, program)
	}
	return strings.Join(lines, "\n")
}

// special rewrites a complete special line. A line that is blank after its first character would crash GoNB.
func special(line, program string) string {
	command := strings.TrimLeft(line[1:], " \t")
	if command == "" {
		return ""
	}
	own := Quote(program) + " "
	prefix := "!"
	switch word, _, _ := strings.Cut(command, " "); {
	case line[0] == '%' && word == cells.HyperVerb: // A command of this program.
		command = own + command
	case line[0] == '%':
		return line
	case command[0] == '*': // It runs in GoNB's own folder.
		prefix, command = "!*", command[1:]
	}
	return prefix + own + ShellVerb + " " + base64.RawURLEncoding.EncodeToString([]byte(command))
}

// Quote makes a single word for the shell from any text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
