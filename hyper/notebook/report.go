package notebook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// selected returns the entries of a study, see [Study], that have some settings, see [analysis.Select].
func selected(pattern string, sets []string) (x lab.Experiment, h lab.Header, rows []lab.Row) {
	h, rows = Study(pattern)
	x = must.M1(lab.Find(Known, h.Spec.Experiment))
	h, rows = analysis.Select(x, h, rows, sets...)
	return x, h, rows
}

// MeanRegret draws the mean regret of the entries of a study that have some settings, see [Study] and
// [analysis.Select]. Without labels in the options, an entry's label has its agent, and its values of the settings for
// which sets has several values.
func MeanRegret(o plot.Options, pattern string, sets ...string) *gonum.Plot {
	_, h, rows := selected(pattern, sets)
	all := analysis.Curves(h, rows)
	if o.Labels == nil {
		o.Labels = valueLabels(all, sets)
	}
	return must.M1(plot.Regret(all, o))
}

// Regrets draws the regret of the entries of a study twice: mean and median. See [MeanRegret].
func Regrets(o plot.Options, pattern string, sets ...string) []*gonum.Plot {
	mean, median := o, o
	median.Quartiles = true
	if o.Title != "" {
		mean.Title, median.Title = o.Title+", mean", o.Title+", median"
	}
	return []*gonum.Plot{MeanRegret(mean, pattern, sets...), MeanRegret(median, pattern, sets...)}
}

// valueLabels returns the labels of [MeanRegret].
func valueLabels(all []analysis.Curve, sets []string) (out []string) {
	for _, c := range all {
		label := c.Agent
		for _, set := range sets {
			key, values, listed := strings.Cut(set, "=")
			if v, ok := c.Settings[key]; ok && (!listed || strings.Contains(values, ",")) {
				label += fmt.Sprint(" ", v)
			}
		}
		out = append(out, label)
	}
	return out
}

// FinalRegrets returns the regret at the last period of the entries of a study that have some settings. The entries
// have the order of [analysis.Select].
func FinalRegrets(pattern string, sets ...string) []analysis.Standing {
	x, h, rows := selected(pattern, sets)
	return must.M1(analysis.Compare(h, rows, x.Failure))
}

// MeansAndMedians draws means and medians of final regrets with 95% intervals in two panels. Above each name there is a
// standing of each kind: standings of the first name come first, in the order of the kinds. Kinds have the colours of
// their agents. If all kinds are of one agent, they differ in shape alone.
func MeansAndMedians(axes plot.Axes, names, kinds []string, all []analysis.Standing) []*gonum.Plot {
	var agents []string
	for k := range kinds {
		agents = append(agents, all[k].Agent)
	}
	styles := plot.Styled(agents...)
	if len(slices.Compact(slices.Clone(agents))) == 1 {
		styles = slices.Repeat(styles[:1], len(kinds))
	}
	panel := func(y string, of func(analysis.Standing) stats.Estimate) *gonum.Plot {
		estimates := make([]plot.Estimates, len(kinds))
		for k, kind := range kinds {
			estimates[k] = plot.Estimates{Label: kind, Color: styles[k].Color}
		}
		for i, s := range all {
			e := &estimates[i%len(kinds)]
			e.Values = append(e.Values, of(s))
		}
		axes.Y = y
		return must.M1(plot.Points(axes, names, estimates...))
	}
	return []*gonum.Plot{panel("mean regret", meanOf), panel("median regret", medianOf)}
}

// MeanAndMedian draws the mean and the median of final regrets with 95% intervals in one panel. Each name has one
// standing. All standings are of one agent.
func MeanAndMedian(axes plot.Axes, names []string, all []analysis.Standing) *gonum.Plot {
	color := plot.Styled(all[0].Agent)[0].Color
	mean, median := plot.Estimates{Label: "mean", Color: color}, plot.Estimates{Label: "median", Color: color}
	for _, s := range all {
		mean.Values, median.Values = append(mean.Values, meanOf(s)), append(median.Values, medianOf(s))
	}
	axes.Y = "regret"
	return must.M1(plot.Points(axes, names, mean, median))
}

func meanOf(s analysis.Standing) stats.Estimate   { return s.Mean }
func medianOf(s analysis.Standing) stats.Estimate { return s.Median }
