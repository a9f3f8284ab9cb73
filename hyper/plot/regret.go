package plot

import (
	"cmp"
	"fmt"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// Options are the options of Regret. The zero value draws cumulative regret with 95% intervals of its mean.
type Options struct {
	Title       string
	Labels      []string // labels of the curves; nil means the result of the function Labels
	Average     bool     // draw average regret per period, on logarithmic axes
	Quartiles   bool     // draw median and quartiles over runs instead of mean and interval
	Target      float64  // a dashed horizontal line, in the unit of the vertical axis; none if not positive
	TargetLabel string   // "" means "target"
}

// Regret draws regret, in units of reward, against the period t: a line with a shaded band for each curve. The legend
// has the number of runs that diverged. Curves without a point only appear in the legend. Agents have the colours of
// [Styled]. Labels are at the ends of the curves if these reach the last period. Regret returns an error if there is no
// point at all.
func Regret(curves []analysis.Curve, opts Options) (*gonum.Plot, error) {
	labels, err := regretLabels(curves, opts)
	if err != nil {
		return nil, err
	}
	series := styled(curves)
	last := 1.0
	for i, c := range curves {
		s := &series[i]
		if err := s.regret(c, opts); err != nil {
			return nil, err
		}
		s.Label = labels[i]
		if n := len(s.X); n > 0 {
			last = max(last, s.X[n-1])
		}
	}
	// A target alone is not a figure: the data are checked without it.
	axes, corners := regretAxes(opts)
	p, err := lines(axes, corners, series)
	if err != nil || !(opts.Target > 0) {
		return p, err
	}
	target := Series{Label: cmp.Or(opts.TargetLabel, "target"), X: []float64{1, last},
		Y: []float64{opts.Target, opts.Target}, Color: Gray, Dashed: true}
	return lines(axes, corners, append(series, target))
}

// regretLabels returns the labels of the options, with the number of runs that diverged. If the options have no labels,
// it returns the result of Labels.
func regretLabels(curves []analysis.Curve, opts Options) ([]string, error) {
	if opts.Labels == nil {
		return Labels(curves), nil
	}
	if len(opts.Labels) != len(curves) {
		return nil, fmt.Errorf("%d labels for %d curves", len(opts.Labels), len(curves))
	}
	labels := make([]string, len(curves))
	for i, c := range curves {
		labels[i] = opts.Labels[i] + divergence(c.Diverged, c.Runs)
	}
	return labels, nil
}

func regretAxes(opts Options) (Axes, []corner) {
	if opts.Average {
		return Axes{Title: opts.Title, X: "period t", Y: "average regret per period", LogX: true, LogY: true,
				Beside: true},
			[]corner{topRight, bottomLeft, topLeft, bottomRight}
	}
	return Axes{Title: opts.Title, X: "period t", Y: "cumulative regret", FromZero: true, Beside: true},
		[]corner{topLeft, bottomRight, topRight, bottomLeft}
}

// fewRuns is a number of runs below which intervals of a mean can be many times as large as the mean.
const fewRuns = 6

// regret sets the data of a curve. Regret is not negative, and no bound of a band is drawn below zero.
func (s *Series) regret(c analysis.Curve, opts Options) error {
	n := len(c.Periods)
	for _, y := range [][]float64{c.Mean, c.MeanLower, c.MeanUpper, c.Median, c.Lower, c.Upper} {
		if len(y) != n {
			return fmt.Errorf("curve of agent %s: %d periods and %d values", c.Agent, n, len(y))
		}
	}
	s.X, s.Y, s.Lower, s.Upper = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	s.few = c.Runs < fewRuns && !opts.Quartiles
	for i, t := range c.Periods {
		y, lower, upper := c.Mean[i], c.MeanLower[i], c.MeanUpper[i]
		if opts.Quartiles {
			y, lower, upper = c.Median[i], c.Lower[i], c.Upper[i]
		}
		scale := 1.0
		if opts.Average {
			scale = 1 / float64(t)
		}
		s.X[i], s.Y[i], s.Lower[i], s.Upper[i] = float64(t), y*scale, max(lower, 0)*scale, upper*scale
	}
	return nil
}
