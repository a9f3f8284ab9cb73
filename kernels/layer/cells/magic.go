package cells

import (
	"slices"
	"strings"
)

// A magic is a line of a cell for GoNB or the kernel. It begins with %. This file must list all magics of GoNB:
// TestGoNB of package layer compares.

// HyperVerb is the special line that this program adds to GoNB's, without its %, and a verb of the program.
const HyperVerb = "hyper"

// ScriptMagics lists the cell magics whose cells are scripts.
var ScriptMagics = []string{"%%bash", "%%sh", "%%script"}

// CellMagics lists all cell magics whose cells are not Go code.
var CellMagics = append([]string{"%%writefile", "%%gx"}, ScriptMagics...)

// LineMagics lists the names of special lines, including the ones that this program adds to GoNB's.
var LineMagics = []string{"%%", "%args", "%autoget", "%capture", "%cd", "%env", "%exec", "%goflags", "%goworkfix", "%help",
	"%" + HyperVerb, "%list", "%ls", "%main", "%noautoget", "%remove", "%reset", "%rm", "%test", "%track",
	"%untrack", "%version", "%wasm", "%widgets", "%widgets_hb", "%with_inputs", "%with_password"}

// Uncommented returns a line without GoNB's comment prefix.
func Uncommented(line string) string { return strings.TrimPrefix(line, "//gonb:") }

// Magic returns the first word of a cell and the rest of its first line. It removes the prefix that hides magics from
// editors.
func Magic(code string) (word, rest string) {
	line, _, _ := strings.Cut(code, "\n")
	word, rest, _ = strings.Cut(Uncommented(line), " ")
	return word, rest
}

// IsGo reports whether a cell is Go code, with or without special lines.
func IsGo(code string) bool {
	word, _ := Magic(code)
	return !slices.Contains(CellMagics, word)
}
