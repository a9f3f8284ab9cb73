package gopls

import (
	"regexp"
	"strings"
)

var (
	more   = regexp.MustCompile(`^\[[^\]]* on pkg\.go\.dev\]\(.*\)$`)
	links  = regexp.MustCompile(`\[((?:\\.|[^\]\\])*)\]\([^)]*\)`)
	marked = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])|`")
)

// textOf converts gopls's Markdown to plain text. Code, between fences or after a tab, does not change.
func textOf(markdown string) string {
	var out []string
	fenced, ruled := false, false
	for line := range strings.SplitSeq(markdown, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "\t"):
			out = append(out, line)
		case line == "---":
			ruled = true
			continue
		case more.MatchString(line), ruled && line == "":
			continue
		default:
			// Escaped characters are part of the author's text.
			out = append(out, marked.ReplaceAllString(links.ReplaceAllString(line, "$1"), "$1"))
		}
		ruled = false
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
