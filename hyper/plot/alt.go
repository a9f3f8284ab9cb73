package plot

import (
	"strings"

	gonum "gonum.org/v1/plot"
)

// Alt is the text that stands for plots where they cannot be seen: their titles, or for a plot without one what it has
// on its axes. A text that several plots share is there once.
func Alt(plots ...*gonum.Plot) string {
	var texts []string
	seen := map[string]bool{}
	for _, p := range plots {
		if p == nil {
			continue
		}
		if text := about(p); text != "" && !seen[text] {
			texts, seen[text] = append(texts, text), true
		}
	}
	if len(texts) == 0 {
		return "Figure without a title"
	}
	return strings.Join(texts, "; ")
}

// about says what a plot shows.
func about(p *gonum.Plot) string {
	title, x, y := strings.Join(strings.Fields(p.Title.Text), " "), p.X.Label.Text, p.Y.Label.Text
	switch {
	case title != "":
		return title
	case x != "" && y != "":
		return y + " against " + x
	}
	return y + x
}
