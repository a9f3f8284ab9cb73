package study

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
)

// Means returns a Markdown table of the mean regrets of all agents in some folders of the archive, at the last period
// that all runs of an agent have reached. It has 95% intervals, medians and the numbers of runs that diverged.
func (a *Archive) Means(folders ...string) (string, error) {
	var cells [][]string
	for _, folder := range folders {
		h, rows, err := a.Study(folder)
		if err != nil {
			return "", err
		}
		if rows == nil {
			continue
		}
		all, err := analysis.Compare(h, rows, 0)
		if err != nil {
			return "", err
		}
		for _, s := range all {
			c := Comparison{Runs: s.Runs, Periods: s.Period, Estimate: s.Mean}
			cells = append(cells, []string{folder, nameOf(s), c.size(), c.Interval(), digits(s.Median.Value),
				fmt.Sprint(s.Diverged)})
		}
	}
	return markdown.Table([]string{"Folder", "Agent", "Runs x periods", "Mean regret", "Median", "Diverged"}, cells), nil
}

// nameOf returns the name of an agent with its number of particles, its bound on gradients and its random actions, if it
// has them.
func nameOf(s analysis.Standing) string {
	name := s.Agent
	if n, ok := s.Settings["particles"]; ok {
		name += fmt.Sprintf(" of %v", n)
	}
	if c, ok := s.Settings["clip"]; ok && fmt.Sprint(c) != "0" {
		name += fmt.Sprintf(", gradients bounded by %v", c)
	}
	if s.Settings["policy"] == "egreedy" && s.Agent != "egreedy" {
		name += ", with random actions"
	}
	return name
}
