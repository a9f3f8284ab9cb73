package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The second case is computed by hand: the slope Sxy / Sxx and its standard error, with the quantile 4.302653 of
// Student's t with 2 degrees of freedom from a table.
func TestLogSlope(t *testing.T) {
	x := []float64{1, 2, 4, 8}
	for name, c := range map[string]struct {
		y    []float64
		want Slope
	}{
		"an exact square": {[]float64{3, 12, 48, 192}, Slope{2, 2, 2}},
		"four points":     {[]float64{3, 7, 11, 30}, Slope{1.061786, 0.618967, 1.504605}},
		"two points":      {[]float64{3, 6}, Slope{1, Float(math.NaN()), Float(math.NaN())}},
	} {
		s := LogSlope(x[:len(c.y)], c.y)
		near(t, name, float64(s.Slope), float64(c.want.Slope))
		near(t, name+", lower end", float64(s.Lower), float64(c.want.Lower))
		near(t, name+", upper end", float64(s.Upper), float64(c.want.Upper))
	}
}

// The interval of a power law with noise of a twentieth covers its power as often as it states: 95% of 2000 samples,
// with a standard error of half a percent.
func TestLogSlopeCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y, covered := []float64{10, 20, 40, 80, 160}, make([]float64, 5), 0
	for range 2000 {
		for i, v := range x {
			y[i] = 7 * math.Pow(v, 0.8) * math.Exp(0.05*r.NormFloat64())
		}
		if s := LogSlope(x, y); s.Lower < 0.8 && 0.8 < s.Upper {
			covered++
		}
	}
	if share := float64(covered) / 2000; math.Abs(share-Level) > 0.02 {
		t.Errorf("%.3f of the intervals hold the slope, want %.2f", share, Level)
	}
}
