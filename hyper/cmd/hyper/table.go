package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

func tableCommand() *cobra.Command {
	var asJSON bool
	var study string
	var mix mixFlag
	c := &cobra.Command{
		Use:   "table",
		Short: "Print one table of agents: their costs, beliefs and regrets",
		Long: `table prints what results say of each agent, as Markdown: the operations, the time on one core and the memory
of a period; how far its predictions of tau classes together are from the truth's on the Neural Testbed, over those of a
single network; and its mean regret in each world, then at three horizons. Numbers in brackets are 95% intervals.

It reads records of hyper testbed, pieces of studies (hyper export) and costs.json (hyper bench study --json), in
folders that are laid out as those of notebooks/results. An agent of one's own whose pieces lie there is in the table.`,
		Example: "  hyper table --study notebooks/results",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := os.Stat(study); err != nil {
				return fmt.Errorf("there is no folder %s: give --study DIR, a folder of results", study)
			}
			t, err := beyond.Tabulate(paper.Known, study, mix.hear())
			if errors.Is(err, beyond.ErrNoResults) {
				return fmt.Errorf("%w: give --study DIR, a folder of results", err)
			} else if err != nil {
				return err
			}
			if asJSON {
				return printLines(t)
			}
			writeTable(os.Stdout, t)
			return nil
		},
	}
	mix.add(c.Flags())
	c.Flags().StringVar(&study, "study", filepath.Join("notebooks", "results"), "DIR: the folder of results")
	c.Flags().BoolVar(&asJSON, "json", false, "print the table as one JSON object")
	return c
}

// writeTable writes the table as Markdown: a line for each agent, with its scores on the first sweep and its regrets at
// the last period, then all sweeps, and the horizons of each world.
func writeTable(w io.Writer, t beyond.Table) {
	head := []string{"Agent", "Operations a period", "Time, µs", "Memory of a run, MB"}
	columns := sweepColumns(t.Sweeps)
	first := slices.DeleteFunc(slices.Clone(columns), func(c sweepColumn) bool { return c.of.Sweep != t.Sweeps[0].Sweep })
	for _, c := range first {
		head = append(head, fmt.Sprintf("Testbed, tau = %d", c.tau))
	}
	for _, world := range t.Worlds {
		head = append(head, "Regret: "+world.Title)
	}
	var rows [][]string
	for _, agent := range t.Agents {
		row := append([]string{agent}, costCells(t.Worlds, agent)...)
		for _, c := range first {
			row = append(row, c.score(agent))
		}
		for _, world := range t.Worlds {
			cell := ""
			if r, ok := world.Of(agent); ok {
				cell = interval(r.Regret[len(r.Regret)-1])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	writeRows(w, head, rows)
	if len(columns) > 0 {
		writeSweeps(w, t.Agents, columns)
	}
	for _, world := range t.Worlds {
		writeWorld(w, world)
	}
}

// sweepColumn is a sweep with one tau.
type sweepColumn struct {
	of  beyond.SweepScores
	tau int
}

func sweepColumns(sweeps []beyond.SweepScores) (columns []sweepColumn) {
	for _, s := range sweeps {
		var taus []int
		for _, l := range s.Scores {
			taus = append(taus, l.Tau)
		}
		slices.Sort(taus)
		for _, tau := range slices.Compact(taus) {
			columns = append(columns, sweepColumn{s, tau})
		}
	}
	return columns
}

// score is an agent's divergence over the single network's, or from the exact posterior in nats, where 0 is the best.
func (c sweepColumn) score(agent string) string {
	l, ok := c.of.Line(agent, c.tau)
	switch {
	case !ok:
		return ""
	case c.exact():
		return number(float64(l.Mean))
	}
	return interval(l.Ratio)
}

// exact tells whether divergences are from an exact posterior.
func (c sweepColumn) exact() bool { return testbed.Known[c.of.Sweep]().Kind == testbed.Functions }

// title is that of the column.
func (c sweepColumn) title() string {
	if c.exact() {
		return fmt.Sprintf("`%s`, nats", c.of.Sweep)
	}
	return fmt.Sprintf("`%s`, tau = %d", c.of.Sweep, c.tau)
}

// marks are an agent's accuracy and calibration error.
func (c sweepColumn) marks(agent string) string {
	l, ok := c.of.Line(agent, c.tau)
	if !ok || l.Accuracy == nil {
		return ""
	}
	return fmt.Sprintf("%.3f, %.3f", float64(*l.Accuracy), float64(*l.ECE))
}

// writeSweeps writes the scores of agents on all sweeps.
func writeSweeps(w io.Writer, agents []string, columns []sweepColumn) {
	fmt.Fprint(w, "\n**Neural Testbed**, divergence over that of the single network, mlp; in nats from the exact posterior:\n\n")
	head, marked := []string{"Agent"}, []sweepColumn{}
	for _, c := range columns {
		head = append(head, c.title())
	}
	for _, c := range columns {
		if slices.ContainsFunc(agents, func(agent string) bool { return c.marks(agent) != "" }) {
			head = append(head, fmt.Sprintf("`%s`: accuracy, calibration error", c.of.Sweep))
			marked = append(marked, c)
		}
	}
	var rows [][]string
	for _, agent := range agents {
		row := []string{agent}
		for _, c := range columns {
			row = append(row, c.score(agent))
		}
		for _, c := range marked {
			row = append(row, c.marks(agent))
		}
		if strings.Join(row[1:], "") != "" {
			rows = append(rows, row)
		}
	}
	writeRows(w, head, rows)
}

// writeWorld writes agents' regrets in a world.
func writeWorld(w io.Writer, world beyond.WorldRegrets) {
	fmt.Fprintf(w, "\n**%s** (`%s`):\n\n", strings.ToUpper(world.Title[:1])+world.Title[1:], world.Experiment)
	head := []string{"Agent", "Runs", "Operations a period", "Time, µs"}
	for _, period := range world.Agents[0].Periods {
		head = append(head, "Regret at "+thousands(period))
	}
	var rows [][]string
	for _, r := range world.Agents {
		row := []string{r.Agent, fmt.Sprint(r.Runs), scientific(r.Operations), micros(r)}
		for _, x := range r.Regret {
			row = append(row, interval(x))
		}
		ratio := ""
		if r.Ratio != nil {
			ratio = interval(*r.Ratio)
		}
		if r.Apart {
			ratio = "**" + ratio + "**"
		}
		rows = append(rows, append(row, ratio, interval(r.Median), interval(r.Failed)))
	}
	writeRows(w, append(head, "Over "+beyond.Reference, "Median", "Share that fails"), rows)
}

// costCells are an agent's costs in the first world, where it acted there.
func costCells(worlds []beyond.WorldRegrets, agent string) []string {
	if len(worlds) == 0 {
		return []string{"", "", ""}
	}
	r, ok := worlds[0].Of(agent)
	if !ok {
		return []string{"", "", ""}
	}
	memory := ""
	if r.Bytes > 0 {
		memory = number(float64(r.Bytes) / 1e6)
	}
	return []string{scientific(r.Operations), micros(r), memory}
}

func micros(r beyond.Regrets) string {
	if r.Micros > 0 {
		return number(float64(r.Micros))
	}
	return ""
}

// scientific is a number of operations.
func scientific(x float64) string { return strings.Replace(fmt.Sprintf("%.1e", x), "e+0", "e", 1) }

// interval is an estimate in a table.
func interval(x lab.Estimate) string {
	return fmt.Sprintf("%s [%s, %s]", number(float64(x.Value)), number(float64(x.Lower)), number(float64(x.Upper)))
}

// writeRows writes a table.
func writeRows(w io.Writer, head []string, rows [][]string) {
	for _, row := range slices.Concat([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}
