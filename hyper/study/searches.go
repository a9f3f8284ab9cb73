package study

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// Searches returns a Markdown table of the records of searches in a folder of the archive. A row has the winner's
// settings, its regret in the last round, and the correlation between the ranks of settings in successive rounds.
func (a *Archive) Searches(folder string) (string, error) {
	files, err := filepath.Glob(a.File(folder + "/*.json"))
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, file := range files {
		t, err := tune.ReadSearch(file)
		if err != nil {
			return "", err
		}
		if len(t.Rungs) == 0 {
			return "", fmt.Errorf("%s is the record of a search without a finished round", file)
		}
		rows = append(rows, searchCells(strings.TrimSuffix(filepath.Base(file), ".json"), t))
	}
	return markdown.Table([]string{"Record", "Winner", "Mean regret ± standard error", "Rank correlation of rounds"},
		rows), nil
}

func searchCells(name string, t tune.Search) []string {
	last := t.Rungs[len(t.Rungs)-1]
	winner := strings.Join(t.Best(), " ")
	for _, d := range t.AtEdge() {
		winner += fmt.Sprintf("; %s lies at an edge", d.Key)
	}
	var correlations []string
	for round := 1; round < len(t.Rungs); round++ {
		r, n := t.RankCorrelation(round)
		correlations = append(correlations, fmt.Sprintf("%.2f (%d settings)", r, n))
	}
	best := last.Results[0]
	return []string{name, winner, digits(best.Mean) + " ± " + digits(best.SE), strings.Join(correlations, ", ")}
}

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
