package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/janpfeifer/must"
	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

func benchFrontierCommand() *cobra.Command {
	var t timing
	study := []string{"notebooks/results/frontier/*.gz"}
	var mix mixFlag
	c := &cobra.Command{
		Use:   "frontier [ARMS...]",
		Short: "Measure the time of a period at the points of figure 2, and compare it to the paper's formula",
		Long: `frontier finds the points of figure 2 in a study: for each agent, training method and number of arms, the least
computation by the paper's formula that is below a bar. The bar is the paper's 0.01 sqrt(K), or twice the regret of
exact Thompson sampling (see hyper check frontier). It then measures the time of a run-period with these settings on one
core: settings with the same number of arms in turn, in rounds, of which the fastest counts. It measures the second half
of the periods, without compilation. A ratio divides an ensemble by the linear hypermodel with the same training method.`,
		Example: "  hyper bench frontier\n  hyper bench frontier 10 30 --json",
	}
	t.add(c)
	c.Flags().StringArrayVar(&study, "study", study,
		"DIR|FILE: results to find the points in; repeatable, or a pattern")
	mix.add(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		h, rows, err := readStudy(paper.Frontier, study, mix)
		if err != nil {
			return err
		}
		points, err := paper.FrontierOf(h, rows)
		if err != nil {
			return err
		}
		groups, err := byArms(points, args)
		if err != nil {
			return err
		}
		if err := t.open(); err != nil {
			return err
		}
		return t.frontier(c.Context(), groups)
	}
	return c
}

// byArms groups the points at which an agent is below a bar by their numbers of arms. named selects numbers; without
// names it returns all.
func byArms(points []paper.FrontierPoint, named []string) (out [][]paper.FrontierPoint, err error) {
	groups := map[int][]paper.FrontierPoint{}
	for _, p := range points {
		if p.Setting != nil {
			groups[p.Arms] = append(groups[p.Arms], p)
		}
	}
	var known []string
	for _, arms := range slices.Sorted(maps.Keys(groups)) {
		known = append(known, strconv.Itoa(arms))
	}
	if known == nil {
		return nil, errors.New("the study has no point of figure 2")
	}
	if len(named) == 0 {
		named = known
	}
	for _, arms := range named {
		if !slices.Contains(known, arms) {
			return nil, fmt.Errorf("the study has no point with %q arms; it has points with %s", arms,
				strings.Join(known, ", "))
		}
		out = append(out, groups[must.M1(strconv.Atoi(arms))])
	}
	return out, nil
}

const frontierRow = "%-5v %-12s %-10s %-9s %-46s %12s %9s %10s %9s\n"

// frontier measures group by group, and prints each group when it is measured.
func (t timing) frontier(ctx context.Context, groups [][]paper.FrontierPoint) error {
	if !t.json {
		fmt.Printf(frontierRow, "arms", "below", "trained", "agent", "setting", "computation", "ratio", "us/period",
			"ratio")
	}
	for _, points := range groups {
		times, err := t.times(ctx, points)
		if err != nil {
			return err
		}
		if t.json {
			err = printLines(times...)
		} else {
			printTimes(times)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// times measures points in turn.
func (t timing) times(ctx context.Context, points []paper.FrontierPoint) ([]paper.FrontierTime, error) {
	size := lab.Size{Periods: paper.Frontier.Full.Periods, Runs: lab.Options{Backend: t.backend}.Defaults(lab.Spec{}).BatchRuns}
	var specs []lab.Spec
	at := map[string]int{} // index in specs of a setting; several bars may share a setting
	name := func(p paper.FrontierPoint) string { return p.Agent + " " + strings.Join(p.Setting, " ") }
	for _, p := range points {
		if _, ok := at[name(p)]; ok {
			continue
		}
		spec, err := paper.Frontier.Spec([]string{p.Agent}, p.Setting, size, 0)
		if err != nil {
			return nil, err
		}
		at[name(p)] = len(specs)
		specs = append(specs, spec)
	}
	micros, _, err := t.inTurn(ctx, specs)
	if err != nil {
		return nil, err
	}
	type beside struct {
		bar       paper.Bar
		integrate string
	}
	linear := map[beside]float64{}
	times := make([]paper.FrontierTime, len(points))
	for i, p := range points {
		took := micros[at[name(p)]]
		times[i] = paper.FrontierTime{FrontierPoint: p, Micros: took, MicrosRatio: stats.Float(math.NaN()),
			Backend: t.backend, CPU: process.ThisMachine().CPU}
		if p.Agent == "linear" {
			linear[beside{p.Bar, p.Integrate}] = took
		} else if other, ok := linear[beside{p.Bar, p.Integrate}]; ok {
			times[i].MicrosRatio = stats.Float(took / other)
		}
	}
	return times, nil
}

func printTimes(times []paper.FrontierTime) {
	for _, p := range times {
		computation, ratio := strconv.FormatFloat(float64(p.Computation.Value), 'f', 0, 64),
			short(float64(p.Ratio.Value))
		fmt.Printf(frontierRow, p.Arms, p.Bar, p.Integrate, p.Agent, p.Found(), computation, ratio, short(p.Micros),
			short(float64(p.MicrosRatio)))
	}
}
