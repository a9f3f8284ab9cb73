package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	gonum "gonum.org/v1/plot"
)

// extent holds the coordinates of all points that the axes of a figure can show.
type extent struct {
	Axes
	x, y []float64
}

func (e *extent) add(x, y float64) {
	if drawable(x, e.LogX) && drawable(y, e.LogY) {
		e.x, e.y = append(e.x, x), append(e.y, y)
	}
}

// setRanges fits the axes to the data. On a logarithmic axis, a band's lower bound counts only down to a third of the
// lowest line, because an interval that nearly reaches zero would dominate the figure. For the same reason the upper
// bound of a band of few runs counts only up to twice the highest line.
func setRanges(p *gonum.Plot, axes Axes, series []Series) error {
	e := extent{Axes: axes}
	for _, s := range series {
		for _, y := range append(s.Samples[:len(s.Samples):len(s.Samples)], s.Y) {
			for i := range y {
				e.add(s.X[i], y[i])
			}
		}
	}
	least, most := math.Inf(-1), math.Inf(1)
	if axes.LogY && len(e.y) > 0 {
		least = floats.Min(e.y) / 3
	}
	if len(e.y) > 0 && floats.Max(e.y) > 0 {
		most = 2 * floats.Max(e.y)
	}
	for _, s := range series {
		for i := range s.Lower {
			if drawable(s.Lower[i], false) && drawable(s.Upper[i], false) {
				upper := s.Upper[i]
				if s.few {
					upper = min(upper, most)
				}
				e.add(s.X[i], upper)
				e.add(s.X[i], max(s.Lower[i], least))
			}
		}
	}
	if len(e.x) == 0 {
		return fmt.Errorf("%w: no series has a point that the axes can show", errNothing)
	}
	p.X.Min, p.X.Max = bounds(e.x, axes.LogX, axes.FromZero, 0)
	if axes.MinX != 0 || axes.MaxX != 0 {
		if !(axes.MinX < axes.MaxX) || !drawable(axes.MinX, axes.LogX) || !drawable(axes.MaxX, axes.LogX) {
			return fmt.Errorf("an x axis from %v to %v: give two ascending finite numbers, positive on a log axis",
				axes.MinX, axes.MaxX)
		}
		p.X.Min, p.X.Max = axes.MinX, axes.MaxX
	}
	p.Y.Min, p.Y.Max = bounds(e.y, axes.LogY, axes.FromZero, 0.05)
	return nil
}

// bounds returns the range of an axis, with a margin on both sides. margin is a fraction of the data's range.
func bounds(data []float64, log, fromZero bool, margin float64) (low, high float64) {
	low, high = floats.Min(data), floats.Max(data)
	pad := margin * (high - low)
	constant := high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) // but for rounding
	switch {
	case log && constant:
		return low / 2, high * 2
	case log:
		factor := math.Pow(high/low, margin)
		return low / factor, high * factor
	case fromZero && low == 0 && high == 0:
		return 0, 1
	case fromZero && low >= 0:
		return 0, high * (1 + margin)
	case constant:
		return low - 1, high + 1
	}
	return low - pad, high + pad
}
