package approx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

var references = []Reference{Uniform, Gaussian}

// made has the results that several tests use.
var made = map[string]any{}

// once computes a result at its first use.
func once[T any](t testing.TB, key string, do func() (T, error)) T {
	t.Helper()
	if _, ok := made[key]; !ok {
		v := must.M1(do())
		made[key] = v
	}
	return made[key].(T)
}

// known returns a known measure on a grid, with B = 2.
func known(t testing.TB, name string, k int) Measure {
	t.Helper()
	return once(t, fmt.Sprint(name, k), func() (Measure, error) {
		return NewMeasure(context.Background(), name, Setting{Points: Grid(k), Bound: 2})
	})
}

// transport returns a transport map to a measure.
func transport(t testing.TB, m Measure, r Reference) Map {
	t.Helper()
	find := func() (Map, error) { return m.Transport(context.Background(), r, 1) }
	if _, ok := measures[m.Name]; ok {
		return once(t, fmt.Sprint("map", m.Name, m.Points, r, m.Law), find)
	}
	return must.M1(find())
}

// H(z) has the distribution mu: on every direction, the projections of H(z) and of independent draws have the same
// distribution (Cramer and Wold). Kolmogorov and Smirnov's statistic exceeds critical with probability 1e-4. H(z) times
// 0.6 has a different distribution.
func TestMapsHaveTheMeasuresLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("solves transport problems")
	}
	const n, k, directions = 10_000, 3, 4
	critical := math.Sqrt(-math.Log(1e-4/2) / n)
	for _, name := range KnownNames() {
		for _, r := range references {
			m := known(t, name, k)
			f := apply(transport(t, m, r).At, draws(r, source(2, name), n, k), k)
			mu := m.Sample(source(3, name), n)
			distance := func(scale float64) (largest float64) {
				for _, d := range draws(Gaussian, source(4, name), directions, k) {
					a, b := make([]float64, n), make([]float64, n)
					for i := range a {
						a[i], b[i] = scale*floats.Dot(d, f[i]), floats.Dot(d, mu[i])
					}
					slices.Sort(a)
					slices.Sort(b)
					largest = max(largest, stat.KolmogorovSmirnov(a, nil, b, nil))
				}
				return largest
			}
			if d, other := distance(1), distance(0.6); d > critical || other < critical {
				t.Errorf("%s, %s z: distance %.4f of H(z) and %.4f of 0.6 H(z) from mu, want below and above %.4f", name,
					r, d, other, critical)
			}
		}
	}
}

// The levels of H(z) in the mixture's distribution functions, computed in a different way, are equal to z.
func TestKnotheOfAMixtureInvertsItsDistributionFunctions(t *testing.T) {
	mean, weight, sd, rho := []float64{-1, 2}, []float64{0.3, 0.7}, 0.8, 0.6
	var l Mixture
	for c := range mean {
		l.Components = append(l.Components, Component{weight[c], []float64{mean[c], mean[c]}, neighbours(2, sd, rho)})
	}
	h := transport(t, Measure{Name: "mine", Points: Grid(2), Bound: 50, Law: l}, Uniform)
	z, f := make([]float64, 2), make([]float64, 2)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		Uniform.draw(rnd, z)
		h.At(z, f)
		var first, second, density float64
		for c := range mean {
			e := (f[0] - mean[c]) / sd
			p := weight[c] * math.Exp(-e*e/2)
			first += weight[c] * cumulative(e)
			second += p * cumulative((f[1]-mean[c]-rho*(f[0]-mean[c]))/(sd*math.Sqrt(1-rho*rho)))
			density += p
		}
		if math.Abs(first-z[0]) > 1e-9 || math.Abs(second/density-z[1]) > 1e-9 {
			t.Fatalf("got levels %v and %v, want z = %v", first, second/density, z)
		}
	}
}

// On the line, the optimal map is increasing. Equal functions of the sampler share a cell.
func TestBrenierOnTheLineSorts(t *testing.T) {
	values := []float64{1, -1, -1, 0, 1}
	sampler := FromSampler(1, len(values), 1, func(_ *rand.Rand, f []float64) { f[0], values = values[0], values[1:] })
	h, f := transport(t, Measure{Name: "mine", Points: []float64{7}, Bound: 2, Law: sampler}, Uniform), make([]float64, 1)
	for z, want := range map[float64]float64{0.05: -1, 0.38: -1, 0.42: 0, 0.58: 0, 0.62: 1, 0.95: 1} {
		// ends at 0.4 and 0.6
		if h.At([]float64{z}, f); f[0] != want {
			t.Errorf("H(%v) = %v, want %v", z, f[0], want)
		}
	}
}
