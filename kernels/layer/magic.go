package layer

import (
	"slices"
	"strings"
)

// The special lines that this program adds to GoNB's, without their %. Each is also a verb of the program.
const (
	KeptVerb  = "kept"
	HyperVerb = "hyper"
)

// scriptMagics lists the cell magics whose cells are scripts.
var scriptMagics = []string{"%%bash", "%%sh", "%%script"}

// notGo lists all cell magics whose cells are not Go code.
var notGo = append([]string{"%%writefile", "%%gx"}, scriptMagics...)

// magics lists the names of special lines, including the ones that this program adds to GoNB's.
var magics = []string{"%%", "%args", "%autoget", "%capture", "%cd", "%env", "%exec", "%goflags", "%goworkfix", "%help",
	"%" + HyperVerb, "%" + KeptVerb, "%list", "%ls", "%main", "%noautoget", "%remove", "%reset", "%rm", "%test", "%track",
	"%untrack", "%version", "%wasm", "%widgets", "%widgets_hb", "%with_inputs", "%with_password"}

// bare removes GoNB's comment prefix from a line.
func bare(line string) string { return strings.TrimPrefix(line, "//gonb:") }

// magic returns the first word of a cell and the rest of its first line. It removes the prefix that hides magics from
// editors.
func magic(code string) (word, rest string) {
	line, _, _ := strings.Cut(code, "\n")
	word, rest, _ = strings.Cut(bare(line), " ")
	return word, rest
}

// isGoCell reports whether a cell is Go code, with or without special lines.
func isGoCell(code string) bool {
	word, _ := magic(code)
	return !slices.Contains(notGo, word)
}
