package approx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// made has the results that several tests use.
var made = map[string]any{}

// once computes a result at its first use.
func once[T any](t testing.TB, key string, do func() (T, error)) T {
	t.Helper()
	if _, ok := made[key]; !ok {
		v, err := do()
		if err != nil {
			t.Fatal(err)
		}
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
	h, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// H(z) has the distribution mu: its energy distance to independent draws is as small as after random permutations of
// both. H(z) times 0.6 has a different distribution.
func TestMapsHaveTheMeasuresLaw(t *testing.T) {
	const n, k = 250, 3
	for _, name := range KnownNames() {
		for _, r := range References {
			m := known(t, name, k)
			f := apply(transport(t, m, r).At, draws(r, source(2, name), n, k), k)
			mu := m.Sample(source(3, name), n)
			if _, p := energyTest(source(4, name), f, mu, 250); p < 0.005 {
				t.Errorf("%s, %s z: p = %.4f for the distribution of H(z), want at least 0.005", name, r, p)
			}
			for _, row := range f {
				floats.Scale(0.6, row)
			}
			if _, p := energyTest(source(4, name), f, mu, 250); p > 0.005 {
				t.Errorf("%s, %s z: p = %.4f for the distribution of 0.6 H(z), want less than 0.005", name, r, p)
			}
		}
	}
}

func TestKnotheOfOneGaussianIsAffine(t *testing.T) {
	covariance := mat.NewSymDense(2, []float64{4, 1, 1, 2.5})
	m := Measure{Name: "mine", Points: Grid(2), Bound: 50, Law: Mixture{[]Component{{3, []float64{1, -1}, covariance}}}}
	f := make([]float64, 2)
	transport(t, m, Gaussian).At([]float64{0.5, -1}, f)
	// L = [[2, 0], [0.5, 1.5]] by hand.
	if want := []float64{1 + 2*0.5, -1 + 0.5*0.5 - 1.5}; !floats.EqualApprox(f, want, 1e-12) {
		t.Errorf("H = %v, want %v", f, want)
	}
	transport(t, m, Uniform).At([]float64{cumulative(0.5), cumulative(-1)}, f)
	if want := []float64{2, -2.25}; !floats.EqualApprox(f, want, 1e-9) {
		t.Errorf("H from uniform z = %v, want %v", f, want)
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
		Uniform.Draw(rnd, z)
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

// cyclesThatFall counts cycles of random points on which the sum is negative. A gradient of a convex function is
// cyclically monotone: sum_i z_i (H(z_i) - H(z_{i+1})) >= 0 on every cycle.
func cyclesThatFall(h Map, r Reference, k int) int {
	rnd, bad := source(5, "cycles"), 0
	for range 2000 {
		z := draws(r, rnd, 2+rnd.IntN(5), k)
		f, sum := apply(h.At, z, k), 0.0
		for i := range z {
			sum += floats.Dot(z[i], f[i]) - floats.Dot(z[i], f[(i+1)%len(f)])
		}
		if sum < -1e-12 {
			bad++
		}
	}
	return bad
}

func TestBrenierMapsAreCyclicallyMonotone(t *testing.T) {
	for _, r := range References {
		m := known(t, "discrete", 3)
		l := m.Law.(Atoms)
		if bad := cyclesThatFall(transport(t, m, r), r, 3); bad == 0 {
			t.Errorf("%s z: the map by intervals passes as cyclically monotone", r)
		}
		l.Optimal = true
		m.Law = l
		h := transport(t, m, r).(*brenier)
		if bad := cyclesThatFall(h, r, 3); bad > 0 {
			t.Errorf("%s z: the sum is negative on %d cycles of 2000, want none", r, bad)
		}
		if mass := h.massError(draws(r, source(6, "mass"), 1<<17, 3)); mass > massTolerance {
			t.Errorf("%s z: the masses of the cells differ from the weights by %.4f", r, mass)
		}
	}
}

// On the line the optimal map is the quantile map.
func TestBrenierOnTheLineSorts(t *testing.T) {
	m := Measure{Name: "mine", Points: []float64{7}, Bound: 2, Law: Atoms{Values: [][]float64{{1}, {-1}, {0}, {1}},
		Weights: []float64{1, 2, 1, 1}, Optimal: true}}
	h, f := transport(t, m, Uniform), make([]float64, 1)
	for z, want := range map[float64]float64{0.05: -1, 0.38: -1, 0.42: 0, 0.58: 0, 0.62: 1, 0.95: 1} {
		// ends at 0.4 and 0.6
		if h.At([]float64{z}, f); f[0] != want {
			t.Errorf("H(%v) = %v, want %v", z, f[0], want)
		}
	}
}

func TestMeasureFromASampler(t *testing.T) {
	sampler := FromSampler(2, 10, 1, func(rnd *rand.Rand, f []float64) {
		f[0] = rnd.Float64()
		f[1] = f[0] * f[0]
	})
	if h := transport(t, Measure{Name: "sampler", Points: Grid(2), Bound: 1, Law: sampler},
		Gaussian).(*brenier); len(h.values) != 10 {
		t.Errorf("%d functions, want 10", len(h.values))
	}
}

// The p-value is exact if there are few permutations: two pairs that are far apart.
func TestEnergyTest(t *testing.T) {
	d, p := energyTest(source(1, "energy"), [][]float64{{0}, {0}}, [][]float64{{3}, {3}}, 2000)
	if math.Abs(d-6) > 1e-12 || math.Abs(p-1.0/3) > 0.05 { // 2*3 - 0 - 0; 2 of the 6 ways to split have this distance
		t.Errorf("got distance %v and p-value %v, want 6 and 1/3", d, p)
	}
}
