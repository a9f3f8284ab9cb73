package cli

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
	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

func tableCommand() *cobra.Command {
	var asJSON bool
	var study string
	var mix mixFlag
	c := &cobra.Command{
		Use:   "table",
		Short: "Print one table of agents: their costs, beliefs and regrets",
		Long: `table prints a Markdown table. For each agent it shows:
  - the operations of a period, the time of a period on one core, and the memory
    of a run
  - on the Neural Testbed, the KL divergence of the agent's joint predictions of
    tau labels from the truth, divided by the divergence of a single network
  - the mean regret in each world
More tables show all sweeps of the testbed, and three horizons of each world.
Numbers in brackets are 95% intervals.

table reads records of hyper testbed, study files (hyper export) and costs.json
(hyper bench study --json), in folders named as in notebooks/results. The
table includes all agents whose study files are in these folders.`,
		Example: "  hyper table --study notebooks/results",
		Args:    argument(),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := os.Stat(study); err != nil {
				return fmt.Errorf("there is no folder %s: give --study DIR, a folder of results", study)
			}
			t, err := beyond.Tabulate(knownExperiments, study, mix.reporter())
			if errors.Is(err, beyond.ErrNoResults) {
				return fmt.Errorf("%w: give --study DIR, a folder of results", err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printNumbers(c.OutOrStdout(), t)
			}
			writeTable(c.OutOrStdout(), t)
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
	head := []string{"Agent", "Operations per period", "Time, µs", "Memory of a run, MB"}
	columns := sweepColumns(t.Sweeps)
	first := slices.DeleteFunc(slices.Clone(columns), func(c sweepColumn) bool {
		return c.of.Sweep != t.Sweeps[0].Sweep
	})
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
				cell = markdown.Interval(r.Regret[len(r.Regret)-1])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	fmt.Fprint(w, markdown.Table(head, rows))
	if len(columns) > 0 {
		writeSweeps(w, t.Agents, columns)
	}
	for _, world := range t.Worlds {
		writeWorld(w, world)
	}
}

// sweepColumn is a column of scores: a sweep at one tau.
type sweepColumn struct {
	of  beyond.SweepScores
	tau int
}

// sweepColumns returns a column for each sweep and tau.
func sweepColumns(sweeps []beyond.SweepScores) (columns []sweepColumn) {
	for _, s := range sweeps {
		var taus []int
		for _, l := range s.Scores {
			taus = append(taus, l.Tau)
		}
		slices.Sort(taus)
		for _, tau := range slices.Compact(taus) {
			columns = append(columns, sweepColumn{of: s, tau: tau})
		}
	}
	return columns
}

// score returns an agent's divergence divided by the single network's, or its divergence from the exact posterior in
// nats, whose best value is 0.
func (c sweepColumn) score(agent string) string {
	l, ok := c.of.Line(agent, c.tau)
	switch {
	case !ok:
		return ""
	case c.exact():
		return markdown.Number(float64(l.Mean))
	}
	return markdown.Interval(l.Ratio)
}

// exact reports whether divergences are from an exact posterior.
func (c sweepColumn) exact() bool { return testbed.Known[c.of.Sweep]().Kind == testbed.Functions }

func (c sweepColumn) title() string {
	if c.exact() {
		return fmt.Sprintf("`%s`, nats", c.of.Sweep)
	}
	return fmt.Sprintf("`%s`, tau = %d", c.of.Sweep, c.tau)
}

// marks returns an agent's accuracy and calibration error.
func (c sweepColumn) marks(agent string) string {
	l, ok := c.of.Line(agent, c.tau)
	if !ok || l.Accuracy == nil {
		return ""
	}
	return fmt.Sprintf("%.3f, %.3f", float64(*l.Accuracy), float64(*l.ECE))
}

// writeSweeps writes the scores of agents on all sweeps.
func writeSweeps(w io.Writer, agents []string, columns []sweepColumn) {
	fmt.Fprint(w, "\n**Neural Testbed**, KL divergence divided by the KL divergence of mlp, a single network.\n"+
		"Columns in nats have the KL divergence from the exact posterior:\n\n")
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
	fmt.Fprint(w, markdown.Table(head, rows))
}

// writeWorld writes the agents' regrets in a world.
func writeWorld(w io.Writer, world beyond.WorldRegrets) {
	fmt.Fprintf(w, "\n**%s** (`%s`):\n\n", strings.ToUpper(world.Title[:1])+world.Title[1:], world.Experiment)
	head := []string{"Agent", "Runs", "Operations per period", "Time, µs"}
	for _, period := range world.Agents[0].Periods {
		head = append(head, "Regret at "+markdown.Thousands(period))
	}
	var rows [][]string
	for _, r := range world.Agents {
		row := []string{r.Agent, fmt.Sprint(r.Runs), scientific(r.Operations), micros(r)}
		for _, x := range r.Regret {
			row = append(row, markdown.Interval(x))
		}
		ratio := ""
		if r.Ratio != nil {
			ratio = markdown.Interval(*r.Ratio)
		}
		if r.Apart {
			ratio = "**" + ratio + "**"
		}
		rows = append(rows, append(row, ratio, markdown.Interval(r.Median), markdown.Interval(r.Failed)))
	}
	fmt.Fprint(w, markdown.Table(append(head, "Over "+beyond.Reference, "Median", "Share of failed runs"), rows))
}

// costCells returns an agent's costs in the first world, or empty cells if the agent is not in that world.
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
		memory = markdown.Number(float64(r.Bytes) / 1e6)
	}
	return []string{scientific(r.Operations), micros(r), memory}
}

// micros returns the microseconds of a period as text, or "" if they were not measured.
func micros(r beyond.Regrets) string {
	if r.Micros > 0 {
		return markdown.Number(float64(r.Micros))
	}
	return ""
}

// scientific returns a number of operations as text.
func scientific(x float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(fmt.Sprintf("%.1e", x))
}
