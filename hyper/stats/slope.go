package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Slope is the slope of log y against log x: y grows like x to the power Slope. Its interval is at [Level].
type Slope struct {
	Slope Float `json:"slope"`
	Lower Float `json:"lower"`
	Upper Float `json:"upper"`
}

// LogSlope fits a line to log y against log x by least squares. It needs at least two points of positive numbers. The
// interval is Student's, for residuals that are independent and normal. With two points there is no interval: its ends
// are NaN.
func LogSlope(x, y []float64) Slope {
	n := len(x)
	lx, ly, fitted := logs(x), logs(y), make([]float64, n)
	a, b := stat.LinearRegression(lx, ly, nil, false)
	for i, v := range lx {
		fitted[i] = a + b*v
	}
	deviation := floats.Distance(ly, fitted, 2) / math.Sqrt(float64(n-2)) // standard deviation of a residual
	half := math.NaN()
	if n > 2 {
		half = deviation / math.Sqrt(float64(n-1)*stat.Variance(lx, nil)) * studentQuantile(n-2)
	}
	return Slope{Float(b), Float(b - half), Float(b + half)}
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}
