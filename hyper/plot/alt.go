package plot

import (
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
)

// Alt returns a text that describes plots for readers who cannot see them: titles and axis labels. A text that several
// plots have appears once.
func Alt(plots ...*gonum.Plot) string {
	var texts []string
	for _, p := range plots {
		if p == nil {
			continue
		}
		if text := described(p); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "Figure without a title"
	}
	return strings.Join(texts, "; ")
}

// described returns a description of a plot.
func described(p *gonum.Plot) string {
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
