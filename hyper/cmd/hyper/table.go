package main

import (
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
)

func tableCommand() *cobra.Command {
	var asJSON bool
	var study string
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
			mix := mixFlag(true)
			t, err := beyond.Tabulate(paper.Known, study, mix.hear())
			if err != nil {
				return err
			}
			if asJSON {
				return printLines(t)
			}
			writeTable(os.Stdout, t)
			return nil
		},
	}
	c.Flags().StringVar(&study, "study", filepath.Join("notebooks", "results"), "DIR: the folder of results")
	c.Flags().BoolVar(&asJSON, "json", false, "print the table as one JSON object")
	return c
}

// writeTable writes the table as Markdown: a line for each agent, and then the horizons of each world.
func writeTable(w io.Writer, t beyond.Table) {
	head := []string{"Agent", "Operations a period", "Time, µs", "Memory of a run, MB"}
	type column struct {
		of  beyond.SweepScores
		tau int
	}
	var columns []column
	for _, s := range t.Sweeps {
		taus := map[int]bool{}
		for _, l := range s.Scores {
			if !taus[l.Tau] {
				taus[l.Tau] = true
				columns = append(columns, column{s, l.Tau})
				head = append(head, fmt.Sprintf("`%s`, tau = %d", s.Sweep, l.Tau))
			}
		}
	}
	for _, world := range t.Worlds {
		head = append(head, "Regret: "+world.Title)
	}
	writeRow(w, head...)
	writeRow(w, slices.Repeat([]string{"---"}, len(head))...)
	for _, agent := range t.Agents {
		row := append([]string{agent}, costCells(t.Worlds, agent)...)
		for _, c := range columns {
			row = append(row, cell(c.of.Score(agent, c.tau)))
		}
		for _, world := range t.Worlds {
			r, ok := world.Of(agent)
			if !ok {
				row = append(row, "")
				continue
			}
			row = append(row, interval(r.Regret[len(r.Regret)-1]))
		}
		writeRow(w, row...)
	}
	for _, world := range t.Worlds {
		fmt.Fprintf(w, "\n**%s** (`%s`):\n\n", world.Title, world.Experiment)
		head := []string{"Agent", "Runs", "Operations a period", "Time, µs"}
		for _, period := range world.Agents[0].Periods {
			head = append(head, "Regret at "+thousands(period))
		}
		head = append(head, "Median", "Share that fails")
		writeRow(w, head...)
		writeRow(w, slices.Repeat([]string{"---"}, len(head))...)
		for _, r := range world.Agents {
			row := []string{r.Agent, fmt.Sprint(r.Runs), scientific(r.Operations), micros(r)}
			for _, x := range r.Regret {
				row = append(row, interval(x))
			}
			writeRow(w, append(row, interval(r.Median), interval(r.Failed))...)
		}
	}
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

func cell(x lab.Estimate, ok bool) string {
	if !ok {
		return ""
	}
	return interval(x)
}

// interval is an estimate in a table.
func interval(x lab.Estimate) string {
	return fmt.Sprintf("%s [%s, %s]", number(float64(x.Value)), number(float64(x.Lower)), number(float64(x.Upper)))
}

func writeRow(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
