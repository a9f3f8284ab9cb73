package plot

import (
	"strings"

	gonum "gonum.org/v1/plot"
)

// Alt is the text that stands for plots where they cannot be seen: their titles and what they have on their axes. A
// text that several plots share is there once.
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
	axes := p.Y.Label.Text + p.X.Label.Text
	if p.X.Label.Text != "" && p.Y.Label.Text != "" {
		axes = p.Y.Label.Text + " against " + p.X.Label.Text
	}
	title := strings.Join(strings.Fields(p.Title.Text), " ")
	if title != "" && axes != "" {
		title += ": "
	}
	return title + axes
}
