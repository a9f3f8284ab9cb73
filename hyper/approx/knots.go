package approx

import (
	"math"
)

// Number of lines along which knots evaluates H, and number of intervals on each.
const (
	knotLines = 64
	knotParts = 400
)

// knots returns the ends of cells of the i-th component of z. Cells are shorter where H bends more along the component.
// The error of straight lines is the second derivative times the square of a cell's length; therefore the density of
// knots is proportional to the square root of the second derivative's absolute value. The derivatives are evaluated on
// some lines through draws of z, at levels of the component.
func (t Task) knots(i, cells int) []float64 {
	tail := min(t.Delta/(16*float64(t.K)), 1.0/(2*knotParts))
	at := make([]float64, knotParts+1)
	for p := range at {
		at[p] = t.Reference.at(tail + (1-2*tail)*float64(p)/knotParts)
	}
	bends := make([][]float64, knotLines)
	z := draws(t.Reference, source(t.Seed, "knots"), knotLines, t.K)
	each(knotLines, func(l int) { bends[l] = t.bends(z[l], i, at) })
	density := make([]float64, knotParts) // of each interval, in cells, up to a factor
	total := 0.0
	for p := range density {
		sum := 0.0
		for _, b := range bends {
			sum += math.Sqrt((b[p] + b[p+1]) / 2)
		}
		density[p] = sum/knotLines + 1e-3*math.Sqrt(t.Bound)
		total += density[p]
	}
	return quantilesOf(density, total, at, cells)
}

// bends returns the absolute second differences of H along the i-th component of z, at their maximum over the points.
func (t Task) bends(z []float64, i int, at []float64) []float64 {
	f, line := rows(len(at), t.K), append([]float64{}, z...)
	for p, v := range at {
		line[i] = v
		t.Map.At(line, f[p])
	}
	out := make([]float64, len(at))
	for p := 1; p+1 < len(at); p++ {
		left, right := at[p]-at[p-1], at[p+1]-at[p]
		for x := range t.K {
			chord := (f[p-1][x]*right + f[p+1][x]*left) / (left + right)
			out[p] = max(out[p], math.Abs(f[p][x]-chord))
		}
	}
	out[0], out[len(at)-1] = out[1], out[len(at)-2]
	return out
}

// quantilesOf divides the intervals between at[0], at[1], ... into cells with equal shares of the density.
func quantilesOf(density []float64, total float64, at []float64, cells int) []float64 {
	knots, sum, p := []float64{at[0]}, 0.0, 0
	for c := 1; c < cells; c++ {
		want := total * float64(c) / float64(cells)
		for sum+density[p] < want {
			sum += density[p]
			p++
		}
		knots = append(knots, at[p]+(at[p+1]-at[p])*(want-sum)/density[p])
	}
	return append(knots, at[len(at)-1])
}
