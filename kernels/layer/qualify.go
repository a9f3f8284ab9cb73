package layer

import (
	"regexp"
	"strings"
)

const ownModule = "github.com/hypermodels/hypermodels/hyper"

// ownPackages are the packages below hyper whose names goimports takes for nothing else.
var ownPackages = []string{"agent", "approx", "backend", "bandit", "base", "explore", "index", "lab", "notebook", "paper", "rng", "train"}

// qualifier is a package's name before the cursor: "hyper." or "hyper.Li".
var qualifier = regexp.MustCompile(`(?:^|[^\w.])([a-z]\w*)\.\w*$`)

// missingImport is the line that goimports would add to a cell for the package's name before the cursor, or "". Without
// it gopls guesses what is in the package: it leaves types out, and offers the tests and some names twice.
func missingImport(code string, cursor int) string {
	if word, _ := magic(code); isOneOf(word, notGo) {
		return ""
	}
	runes := []rune(code)
	found := qualifier.FindStringSubmatch(string(runes[:min(max(cursor, 0), len(runes))]))
	if found == nil {
		return ""
	}
	name := found[1]
	path := ownModule + "/" + name
	if name == "hyper" {
		path = ownModule
	} else if !isOneOf(name, ownPackages) {
		return ""
	}
	if strings.Contains(code, path+`"`) || regexp.MustCompile(`\b`+name+`\b(?:[^.]|$)`).MatchString(code) {
		return "" // Imported, or the name of something else.
	}
	return `import "` + path + `"` + "\n"
}

// shiftCursor moves the places that a reply names back by the length of a line that the cell does not have.
func shiftCursor(reply message, by int) message {
	var content map[string]any
	if reply.read(&content) != nil {
		return reply
	}
	for _, key := range []string{"cursor_start", "cursor_end"} {
		if at, ok := content[key].(float64); ok {
			content[key] = max(0, int(at)-by)
		}
	}
	return reply.with(content)
}
