package plot

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/plot"
)

// span is a range of numbers; it is empty while low exceeds high.
type span struct{ low, high float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(x float64) { s.low, s.high = math.Min(s.low, x), math.Max(s.high, x) }

// extent is the part of the plane that the data of a figure take.
type extent struct {
	Axes
	x, y span
}

// add includes a point if the axes can show it.
func (e *extent) add(x, y float64) {
	if drawable(x, e.LogX) && drawable(y, e.LogY) {
		e.x.add(x)
		e.y.add(y)
	}
}

// setRanges fits the axes to all data. On a log axis a band's lower bound counts down to a third of the lowest line: an
// interval that nearly reaches zero would take the figure.
func setRanges(p *gonum.Plot, axes Axes, series []Series) error {
	e := extent{axes, emptySpan(), emptySpan()}
	for _, s := range series {
		for i, x := range s.X {
			for _, y := range s.at(i) {
				e.add(x, y)
			}
		}
	}
	least := math.Inf(-1)
	if axes.LogY && e.y.low <= e.y.high {
		least = e.y.low / 3
	}
	for _, s := range series {
		for i, x := range s.X {
			if s.Lower != nil && drawable(s.Lower[i], false) && drawable(s.Upper[i], false) {
				e.add(x, s.Upper[i])
				e.add(x, math.Max(s.Lower[i], least))
			}
		}
	}
	if e.x.low > e.x.high {
		return fmt.Errorf("%w: no series has a point that the axes can show", ErrNothing)
	}
	p.X.Min, p.X.Max = e.x.axis(axes.LogX, axes.FromZero, 0)
	if axes.MinX != 0 || axes.MaxX != 0 {
		if !(axes.MinX < axes.MaxX) || !drawable(axes.MinX, axes.LogX) || !drawable(axes.MaxX, axes.LogX) {
			return fmt.Errorf("an x axis from %v to %v: want two finite numbers, ascending, on a log axis positive",
				axes.MinX, axes.MaxX)
		}
		p.X.Min, p.X.Max = axes.MinX, axes.MaxX
	}
	p.Y.Min, p.Y.Max = e.y.axis(axes.LogY, axes.FromZero, 0.05)
	return nil
}

// at returns the values of lines, samples and points at a position.
func (s Series) at(i int) (values []float64) {
	if s.Y != nil {
		values = append(values, s.Y[i])
	}
	for _, y := range s.Samples {
		values = append(values, y[i])
	}
	return values
}

// axis returns the bounds of an axis with a margin, a fraction of the range, on both sides.
func (s span) axis(log, fromZero bool, margin float64) (low, high float64) {
	if log {
		if s.low == s.high {
			return s.low / 2, s.high * 2
		}
		factor := math.Pow(s.high/s.low, margin)
		return s.low / factor, s.high * factor
	}
	if fromZero && s.low >= 0 {
		if s.high == 0 {
			return 0, 1
		}
		return 0, s.high * (1 + margin)
	}
	if s.low == s.high {
		return s.low - 1, s.high + 1
	}
	pad := margin * (s.high - s.low)
	return s.low - pad, s.high + pad
}
