package approx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
)

// certify returns a certificate for epsilon times B and delta. Its default backend is go, which compiles faster.
func certify(t *testing.T, m Measure, epsilon, delta float64, o Options) Certificate {
	t.Helper()
	o.Epsilon, o.Delta, o.Seed = epsilon*m.Bound, delta, 1
	if o.Backend == "" {
		o.Backend = backend.Go
	}
	return must.M1(Certify(context.Background(), m, o))
}

// Each measure and each reference distribution has certificates, also on many points.
func TestCertificates(t *testing.T) {
	check := func(name string, k int, epsilon float64, o Options) {
		t.Helper()
		c := certify(t, known(t, name, k), epsilon, epsilon, o)
		if !c.Certified || c.LowerBound < 1-epsilon || c.LowerBound > c.Probability || c.Draws != cmp.Or(o.Draws, 20_000) ||
			c.Reached > c.Epsilon || c.FromIndex != k || c.FromIndex+c.Constants != c.Parameters {
			t.Errorf("%s, K = %d, %s z: got %+v, want a consistent certificate", name, k, c.Reference, c)
		}
	}
	for i, name := range exact() {
		if testing.Short() && i > 1 {
			break
		}
		check(name, 3, 0.02, Options{Reference: references[i%2]})
	}
	if !testing.Short() { // a large network
		check("discrete", 16, 0.1, Options{Reference: Gaussian, Backend: backend.Default(), Draws: 5000})
	}
}

// refined is a construction whose network at level 0 is 0.
type refined struct{ Construction }

func (c refined) Build(ctx context.Context, t Task, level int) (Network, error) {
	if level == 0 {
		return Network{Layers: []Layer{{W: rows(t.K, t.K), B: make([]float64, t.K)}}}, nil
	}
	return c.Construction.Build(ctx, t, level)
}

// A network that is too coarse is refined. Without time, the certificate has the reached epsilon.
func TestRefinementAndBudget(t *testing.T) {
	m := known(t, "process", 1)
	o := Options{Construction: refined{natural(transport(t, m, Uniform))}, Draws: 2000}
	if c := certify(t, m, 0.05, 0.1, o); !c.Certified || c.Attempts != 2 {
		t.Errorf("refinement: got %+v, want a certificate after two attempts", c)
	}
	o.Budget = time.Nanosecond
	if c := certify(t, m, 0.05, 0.1, o); c.Certified || c.Attempts != 1 || c.Reached <= c.Epsilon {
		t.Errorf("no time: got %+v, want no certificate after one attempt", c)
	}
}

// Every part of the theorem's network is necessary: with one of them spoilt, the network is too far from H for too many
// z. The measure is a Gaussian with standard deviation B, which the bound often clips.
func TestSpoiltNetworksFail(t *testing.T) {
	const k, bound, epsilon, delta = 3, 2, 0.2, 0.1
	m := Measure{Name: "wide", Points: Grid(k), Bound: bound,
		Law: Mixture{[]Component{{1, make([]float64, k), neighbours(k, bound, 0)}}}}
	at := task(t, m, Gaussian, epsilon, delta)
	z := draws(Gaussian, source(7, "spoilt"), 5000, k)
	want := apply(at.Map.At, z, k)
	for name, spoil := range map[string]func(layers []Layer){
		"clamp B, not 4B": func(layers []Layer) {
			clamp, out := layers[len(layers)-2], layers[len(layers)-1]
			for i, row := range clamp.W {
				for j := range row {
					if row[j] == 4*bound {
						row[j] = bound
					}
				}
				clamp.B[i] += 1.5 * bound // half of 4B becomes half of B
			}
			out.B[0] += 1.5 * bound
		},
		"no cap above B": func(layers []Layer) {
			cut := layers[len(layers)-4] // b(z), and two units for each value
			for i := range k {
				clear(cut.W[2+2*i])
			}
		},
		"box too small": nil, "nothing is spoilt": func([]Layer) {},
	} {
		box := newBox(k, delta)
		if spoil == nil {
			box = &Box{Eta: 0.8, Ramp: 0.1}
		}
		th := NewTheorem(m, Gaussian, build(t, natural(at.Map), at, 0), box)
		if spoil != nil {
			spoil(th.Net.Layers)
		}
		near := float64(count(supErrors(apply(th.At, z, k), want), epsilon)) / float64(len(z))
		if near >= 1-delta != (name == "nothing is spoilt") {
			t.Errorf("%s: within epsilon with probability %.3f", name, near)
		}
	}
}

// The same seed gives the same certificate, and another seed gives other draws.
func TestCertificatesAreReproducible(t *testing.T) {
	o := Options{Epsilon: 0.02, Delta: 0.1, Draws: 2000, Backend: backend.Go}
	var got []int
	for _, seed := range []uint64{3, 3, 4} {
		o.Seed = seed
		c := must.M1(Certify(context.Background(), known(t, "gaussian", 2), o))
		got = append(got, c.Within)
	}
	if got[0] != got[1] || got[1] == got[2] {
		t.Errorf("draws within epsilon: %v of 2000, want equal for one seed and different for another", got)
	}
}

func TestLowerBound(t *testing.T) {
	if b := lowerBound(20_000, 20_000, 0.99); math.Abs(b-math.Pow(0.01, 1.0/20_000)) > 1e-12 {
		// All trials succeed: p^n = 1 - confidence.
		t.Errorf("lower bound without failures: got %v", b)
	}
	b := lowerBound(7, 10, 0.95) // at the bound, 7 or more of 10 successes have probability 0.05
	tail := distuv.Binomial{N: 10, P: b}.Survival(6)
	if math.Abs(tail-0.05) > 1e-9 || lowerBound(0, 10, 0.9) != 0 {
		t.Errorf("got bound %v with tail %v, want the tail 0.05", b, tail)
	}
}

func TestFaultsAreReportedTogether(t *testing.T) {
	_, err := Certify(context.Background(), Measure{Points: []float64{1, 1, 0}, Bound: -1},
		Options{Delta: 1, Draws: -1, Reference: "x", Backend: "y"})
	for _, want := range []string{"given twice", "must increase", "bound B", "needs a distribution", "epsilon", "delta",
		"draws", "unknown reference", "unknown backend"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got no %q in error %v", want, err)
		}
	}
}

func TestBadMeasures(t *testing.T) {
	at := func(l Law, points ...float64) Measure { return Measure{Name: "bad", Points: points, Bound: 1, Law: l} }
	atoms := func(values ...float64) Atoms { return Atoms{Values: [][]float64{values}} }
	gaussian := func(weight, mean, variance float64) Mixture {
		return Mixture{[]Component{{weight, []float64{mean}, mat.NewSymDense(1, []float64{variance})}}}
	}
	for want, m := range map[string]Measure{
		"at least 1, got 0":                      at(atoms(0)),
		"must be finite":                         at(atoms(0), math.NaN()),
		"too close for single precision":         at(atoms(0, 0), 1, 1+1e-9),
		"value 1.5 at point 1, outside":          at(atoms(0, 1.5), 0, 1),
		"value NaN at point 0, outside":          at(atoms(math.NaN()), 0),
		"has 1 values, but there are K = 2":      at(atoms(0), 0, 1),
		"at least one function":                  at(Atoms{}, 0),
		"2 weights for 1 functions":              at(Atoms{Values: [][]float64{{0}}, Weights: []float64{1, 1}}, 0),
		"weight 0 must be positive":              at(Atoms{Values: [][]float64{{0}}, Weights: []float64{-1}}, 0),
		"at least one component":                 at(Mixture{}, 0),
		"not positive definite":                  at(gaussian(1, 0, -1), 0),
		"must be for K = 2":                      at(gaussian(1, 0, 1), 0, 1),
		"the weight must be positive and finite": at(gaussian(math.Inf(1), 0, 1), 0),
		"the mean must be finite":                at(gaussian(1, math.NaN(), 1), 0),
		"bound B must be positive and finite":    {Points: []float64{0}, Bound: math.NaN(), Law: atoms(0)},
	} {
		if _, err := Certify(context.Background(), m, Options{Epsilon: 0.1, Delta: 0.1}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := NewMeasure(context.Background(), "gaussain", Setting{Points: Grid(2), Bound: 1}); err == nil ||
		!strings.Contains(err.Error(), "the measures are discrete, gaussian") {
		t.Error(err)
	}
}

func TestInterruptedCertificatesEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Certify(ctx, known(t, "gaussian", 2),
		Options{Epsilon: 0.1, Delta: 0.1, Backend: backend.Go}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A measure of two functions on two points. f at a point is the value of the function that z_1 selects.
func ExampleBuild() {
	m := Measure{
		Name: "up or down", Points: []float64{0, 1}, Bound: 1,
		Law: Atoms{Values: [][]float64{{0.5, 0.75}, {-0.5, -0.75}}},
	}
	t, err := Build(context.Background(), m, Options{Epsilon: 0.1, Delta: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := make([]float64, 2)
	for _, z := range [][]float64{{0.2, 0.9}, {0.7, 0.9}} {
		t.At(z, f)
		fmt.Printf("z = %v: f = %.2f\n", z, f)
	}
	fmt.Println("parameters:", t.Net.Size())
	// Output:
	// z = [0.2 0.9]: f = [0.50 0.75]
	// z = [0.7 0.9]: f = [-0.50 -0.75]
	// parameters: 106
}

// Six waves on three points. The first component of z selects one of them.
func ExampleCertify() {
	m, err := NewMeasure(context.Background(), "discrete", Setting{Points: Grid(3), Bound: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := Certify(context.Background(), m, Options{Epsilon: 0.01, Delta: 0.05, Backend: backend.Go})
	fmt.Printf("certified: %v; %d components of theta are z; %v\n", c.Certified, c.FromIndex, err)
	// Output: certified: true; 3 components of theta are z; <nil>
}

// The certificates of notebooks/results cover all measures on 2 to 16 points. The test repeats the quickest of them,
// and gets the same networks.
func TestCommittedCertificates(t *testing.T) {
	records := must.M1(lines.Read[Certificate]("../../notebooks/results/approx.jsonl"))
	seen := map[string]bool{}
	for _, c := range records {
		seen[fmt.Sprint(c.Measure, c.Points, c.Reference, c.Epsilon)] = true
		if !c.Certified || c.LowerBound < 1-c.Delta || c.Delta != c.Epsilon || c.FromIndex != c.Points {
			t.Errorf("got %+v, want a certificate", c)
		}
		if quick := c.Measure == "discrete" || c.Measure == "gaussian"; !quick || c.Points > 2 || c.Epsilon < 0.1 {
			continue
		}
		m := must.M1(NewMeasure(t.Context(), c.Measure, Setting{Points: Grid(c.Points), Bound: c.Bound}))
		again, err := Certify(t.Context(), m, Options{Epsilon: c.Epsilon, Delta: c.Delta, Reference: c.Reference,
			Seed: c.Seed, Backend: backend.Go})
		if err != nil || !again.Certified || !slices.Equal(again.Widths, c.Widths) {
			t.Errorf("%v, %v, want %v", again, err, c)
		}
	}
	for _, name := range KnownNames() {
		for _, r := range references {
			for _, at := range []struct {
				points  int
				epsilon float64
			}{{2, 0.1}, {3, 0.1}, {4, 0.1}, {8, 0.1}, {16, 0.1}, {2, 0.02}, {3, 0.02}} {
				if !seen[fmt.Sprint(name, at.points, r, at.epsilon)] {
					t.Errorf("no certificate of %s on %d points, %v, epsilon %v", name, at.points, r, at.epsilon)
				}
			}
		}
	}
}
