package explore

import (
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// DecideOnHost draws an action from the minimiser of the information ratio.
func (p IDS) DecideOnHost(values []float32, actions int, s rng.Host, _ int32) ([]float32, int) {
	regret, variance, best := informationOnHost(values, actions)
	if p.OnlyCandidates {
		worse := 2*slices.Max(regret) + 1 // as in Decide
		for a, is := range best {
			if !is {
				regret[a], variance[a] = worse, 0
			}
		}
	}
	first, second, weight := minimumRatioOnHost(regret, variance)
	probabilities, action := make([]float32, actions), first
	probabilities[first] = 1 - weight
	probabilities[second] += weight
	var u [1]float32
	if s.Named("ids").Uniform(u[:]); u[0] < weight {
		action = second
	}
	return probabilities, action
}

// informationOnHost is [Information] in plain Go. best marks the actions that are best for some function.
func informationOnHost(values []float32, actions int) (regret, variance []float32, best []bool) {
	type group struct { // functions with the same best action
		sum   []float64
		count float64
	}
	var groups []group
	groupOf := make([]int, actions) // the number of the group of a best action, counted from 1
	worse, top := make([]float64, actions), 0.0
	best = make([]bool, actions)
	for f := range slices.Chunk(values, actions) {
		own := highest(f)
		if !best[own] {
			groups = append(groups, group{sum: make([]float64, actions)})
			best[own], groupOf[own] = true, len(groups)
		}
		g := &groups[groupOf[own]-1]
		for a, v := range f {
			g.sum[a] += float64(v)
			worse[a] += float64(f[own]) - float64(v) // exactly 0 if a is a best action of every function
		}
		g.count++
		top += float64(f[own])
	}
	n := float64(len(values) / actions)
	regret, variance = make([]float32, actions), make([]float32, actions)
	for a := range regret {
		mean, moved := (top-worse[a])/n, 0.0
		for _, g := range groups {
			d := g.sum[a]/g.count - mean
			moved += g.count * d * d
		}
		regret[a], variance[a] = float32(worse[a]/n), float32(moved/n)
	}
	return regret, variance, best
}

// minimumRatioOnHost is [MinimumRatio] in plain Go, step by step. second has probability weight, and first has the
// rest.
func minimumRatioOnHost(regret, variance []float32) (first, second int, weight float32) {
	r, v := unitOnHost(regret), unitOnHost(variance)
	x, y := 0, 0
	for a := range r {
		if r[a] < r[x] || r[a] == r[x] && v[a] > v[x] {
			x = a
		}
		if v[a] > v[y] || v[a] == v[y] && r[a] < r[y] {
			y = a
		}
	}
	if r[x] == 0 || v[y] == 0 {
		return x, x, 0
	}
	low, high := r[x], r[y]*r[y]/max(r[x], 1e-30)
	for i := range rounds {
		var t float32
		if dr, dv := r[y]-r[x], v[y]-v[x]; i%3 == 2 {
			t = sqrt(low) * sqrt(high)
		} else {
			t = math.MaxFloat32
			if dv > 0 {
				t = 2 * dr / max(dv, 1e-30)
			}
			t = max(min(t, r[x]/max(v[x], 1e-30)), r[y]/max(v[y], 1e-30))
		}
		score := func(a int) float32 { return 2*r[a] - t*v[a] }
		w, least := 0, score(0)
		for a := range r {
			s := score(a)
			if s < least || s == least && (v[a] > v[w] || v[a] == v[w] && r[a] < r[w]) {
				w, least = a, s
			}
		}
		rising := r[w] > t*v[w]
		if least < score(x) && least < score(y) {
			if rising {
				x = w
			} else {
				y = w
			}
		}
		if rising {
			low = max(low, t)
		} else {
			high = min(high, t)
		}
	}
	return x, y, weighOnHost(r[y]-r[x], v[y]-v[x], r[x], v[x])
}

// weighOnHost is weigh in plain Go. dr and dv are the differences of y from x.
func weighOnHost(dr, dv, r, v float32) float32 {
	switch {
	case !(dv > 0):
		return 0
	case !(dr > 0):
		return 1
	}
	return min(max(r/max(dr, 1e-30)-2*v/max(dv, 1e-30), 0), 1)
}

// unitOnHost is unit in plain Go.
func unitOnHost(x []float32) []float32 {
	largest, out := slices.Max(x), slices.Clone(x)
	if largest > 0 {
		for i := range out {
			out[i] /= largest
		}
	}
	return out
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
