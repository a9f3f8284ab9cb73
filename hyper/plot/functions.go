package plot

import "math"

// Functions is the series of functions drawn at random, f [functions][len(x)], such as agent.Sample returns: their mean at
// each x with a band of two standard deviations, and the first few of them as thin lines.
func Functions(label string, x []float64, f [][]float32, shown int) Series {
	s := Series{Label: label, X: x, Y: make([]float64, len(x)), Lower: make([]float64, len(x)), Upper: make([]float64, len(x))}
	for i := range x {
		var sum, squares float64
		for _, values := range f {
			sum += float64(values[i])
		}
		mean := sum / float64(len(f))
		for _, values := range f {
			squares += (float64(values[i]) - mean) * (float64(values[i]) - mean)
		}
		sd := math.Sqrt(squares / float64(len(f)))
		s.Y[i], s.Lower[i], s.Upper[i] = mean, mean-2*sd, mean+2*sd
	}
	for _, values := range f[:min(shown, len(f))] {
		sample := make([]float64, len(x))
		for i, v := range values {
			sample[i] = float64(v)
		}
		s.Samples = append(s.Samples, sample)
	}
	return s
}
