package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// Searches returns a Markdown table of the records of searches in a folder of the archive. A row has the winner's
// settings, its regret in the last round, and the correlation between the ranks of settings in successive rounds.
func (a *Archive) Searches(folder string) (string, error) {
	files, err := filepath.Glob(a.File(folder + "/*.json"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| Record | Winner | Mean regret ± standard error | Rank correlation of rounds |\n| --- | --- | --- | --- |\n")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var t tune.Search
		if err := json.Unmarshal(text, &t); err != nil || len(t.Rungs) == 0 {
			return "", fmt.Errorf("%s is not a record of a finished search: %w", file, err)
		}
		fmt.Fprintln(&b, searchLine(strings.TrimSuffix(filepath.Base(file), ".json"), t))
	}
	return b.String(), nil
}

func searchLine(name string, t tune.Search) string {
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
	return fmt.Sprintf("| %s | %s | %s ± %s | %s |", name, winner, digits(best.Mean), digits(best.SE),
		strings.Join(correlations, ", "))
}

// Means returns a Markdown table of the mean regrets of all agents in some folders of the archive, at the last period
// that all runs of an agent have reached. It has 95% intervals, medians and the numbers of runs that diverged.
func (a *Archive) Means(folders ...string) (string, error) {
	var b strings.Builder
	b.WriteString("| Folder | Agent | Runs x periods | Mean regret | Median | Diverged |\n" +
		"| --- | --- | --- | --- | --- | --- |\n")
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
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d |\n", folder, nameOf(s), c.size(), c.Interval(),
				digits(s.Median.Value), s.Diverged)
		}
	}
	return b.String(), nil
}

// nameOf returns the name of an agent with its number of particles and its bound on gradients, if it has them.
func nameOf(s analysis.Standing) string {
	name := s.Agent
	if n, ok := s.Settings["particles"]; ok {
		name += fmt.Sprintf(" of %v", n)
	}
	if c, ok := s.Settings["clip"]; ok && fmt.Sprint(c) != "0" {
		name += fmt.Sprintf(", gradients bounded by %v", c)
	}
	return name
}
