package approx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

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
	c, err := Certify(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCertificates(t *testing.T) {
	for i, name := range exact {
		for j, r := range References {
			if testing.Short() && i%len(References) != j {
				continue // each measure and each reference, but not all pairs
			}
			checkCertificate(t, known(t, name, 3), 0.02, 0.02, Options{Reference: r})
		}
	}
}

func TestCertificatesOnManyPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("large networks")
	}
	for name, r := range map[string]Reference{"process": Uniform, "discrete": Gaussian} {
		checkCertificate(t, known(t, name, 16), 0.1, 0.1, Options{Reference: r, Backend: backend.Default(), Draws: 5000})
	}
}

func TestCertificateOfATrainedNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a network")
	}
	checkCertificate(t, known(t, "mixture", 2), 0.1, 0.1, Options{Construction: Trained{Width: 32, Steps: 1500},
		Backend: backend.Default(), Draws: 5000})
}

// checkCertificate checks that a certificate is consistent.
func checkCertificate(t *testing.T, m Measure, epsilon, delta float64, o Options) {
	t.Helper()
	c := certify(t, m, epsilon, delta, o)
	if !c.Certified || c.LowerBound < 1-delta || c.LowerBound > c.Probability || c.Draws != cmp.Or(o.Draws, 20_000) {
		t.Errorf("%s, K = %d, %s z: got %s, want a certificate", m.Name, m.K(), c.Reference, c)
	}
	if c.Reached > c.Epsilon || c.FromIndex != m.K() || c.FromIndex+c.Constants != c.Parameters {
		t.Errorf("%s, K = %d, %s z: got %+v, want consistent numbers", m.Name, m.K(), c.Reference, c)
	}
}

func TestCertificateOfATriangulation(t *testing.T) {
	c := certify(t, known(t, "mixture", 2), 0.1, 0.1, Options{Construction: Kuhn{}, Draws: 5000})
	if !c.Certified {
		t.Error(c)
	}
}

// A network that is too coarse is refined. Without time, the certificate has the reached epsilon.
func TestRefinementAndBudget(t *testing.T) {
	m, coarse := known(t, "process", 1), Kuhn{Cells: 2}
	if c := certify(t, m, 0.05, 0.1, Options{Construction: coarse, Draws: 2000}); !c.Certified || c.Attempts < 2 {
		t.Errorf("refinement of 2 cells: got %+v, want a certificate after several attempts", c)
	}
	if c := certify(t, m, 0.05, 0.1, Options{Construction: coarse, Budget: time.Nanosecond,
		Draws: 2000}); c.Certified || c.Attempts != 1 || c.Reached <= c.Epsilon {
		t.Errorf("2 cells without time: got %+v, want no certificate after one attempt", c)
	}
}

// wide returns a Gaussian with standard deviation B, which the bound often clips.
func wide(k int) Measure {
	return Measure{Name: "wide", Points: Grid(k), Bound: 2,
		Law: Mixture{[]Component{{1, make([]float64, k), neighbours(k, 2, 0)}}}}
}

// Every part of the theorem's network is necessary: without one of them the certificate fails.
func TestSpoiltNetworksFail(t *testing.T) {
	for name, spoil := range map[string]func(*recipe){
		"clamp B, not 4B":   func(c *recipe) { c.clamp /= 4 },
		"no cap":            func(c *recipe) { c.cap = false },
		"ball too small":    func(c *recipe) { c.box = &Box{Eta: 0.8, Ramp: 0.1} },
		"nothing is spoilt": func(*recipe) {},
	} {
		c := certify(t, wide(3), 0.1, 0.1, Options{Reference: Gaussian, Budget: time.Nanosecond, spoil: spoil})
		if c.Certified != (name == "nothing is spoilt") {
			t.Errorf("%s: got certificate %s", name, c)
		}
	}
}

// The same seed gives the same certificate, and another seed gives other draws.
func TestCertificatesAreReproducible(t *testing.T) {
	o := Options{Epsilon: 0.02, Delta: 0.1, Draws: 2000, Backend: backend.Go}
	var got []int
	for _, seed := range []uint64{3, 3, 4} {
		o.Seed = seed
		c, err := Certify(context.Background(), known(t, "gaussian", 2), o)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Within)
	}
	if got[0] != got[1] || got[1] == got[2] {
		t.Errorf("draws within epsilon: %v of 2000, want equal for one seed and different for another", got)
	}
}

func TestLowerBound(t *testing.T) {
	if b := LowerBound(20_000, 20_000, 0.99); math.Abs(b-math.Pow(0.01, 1.0/20_000)) > 1e-12 {
		// All trials succeed: p^n = 1 - confidence.
		t.Errorf("lower bound without failures: got %v", b)
	}
	b, tail := LowerBound(7, 10, 0.95), 0.0
	for i := 7; i <= 10; i++ { // at the bound, 7 or more of 10 successes have probability 0.05
		tail += choose(10, i) * math.Pow(b, float64(i)) * math.Pow(1-b, float64(10-i))
	}
	if math.Abs(tail-0.05) > 1e-9 || LowerBound(0, 10, 0.9) != 0 {
		t.Errorf("got bound %v with tail %v, want the tail 0.05", b, tail)
	}
}

func choose(n, k int) float64 {
	out := 1.0
	for i := range k {
		out *= float64(n-i) / float64(i+1)
	}
	return out
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
	gaussian := func(mean []float64, covariance *mat.SymDense, weight float64) Mixture {
		return Mixture{[]Component{{weight, mean, covariance}}}
	}
	for want, m := range map[string]Measure{
		"at least 1, got 0":                 at(atoms(0)),
		"must be finite":                    at(atoms(0), math.NaN()),
		"too close for single precision":    at(atoms(0, 0), 1, 1+1e-9),
		"value 1.5 at point 1, outside":     at(atoms(0, 1.5), 0, 1),
		"value NaN at point 0, outside":     at(atoms(math.NaN()), 0),
		"has 1 values, but there are K = 2": at(atoms(0), 0, 1),
		"at least one function":             at(Atoms{}, 0),
		"2 weights for 1 functions":         at(Atoms{Values: [][]float64{{0}}, Weights: []float64{1, 1}}, 0),
		"weight 0 must be positive":         at(Atoms{Values: [][]float64{{0}}, Weights: []float64{-1}}, 0),
		"at least one component":            at(Mixture{}, 0),
		"not positive definite": at(gaussian([]float64{0}, mat.NewSymDense(1, []float64{-1}), 1),
			0),
		"must be for K = 2": at(gaussian([]float64{0}, mat.NewSymDense(1, []float64{1}), 1), 0,
			1),
		"the weight must be positive and finite": at(gaussian([]float64{0}, mat.NewSymDense(1, []float64{1}),
			math.Inf(1)), 0),
		"the mean must be finite": at(gaussian([]float64{math.NaN()}, mat.NewSymDense(1, []float64{1}),
			1), 0),
		"bound B must be positive and finite, got ": {Points: []float64{0}, Bound: math.NaN(), Law: atoms(0)},
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
	if _, err := Certify(context.Background(), known(t, "mixture", 4),
		Options{Epsilon: 1, Delta: 0.1, Construction: Kuhn{}}); err == nil || !strings.Contains(err.Error(), "K <= 3") {
		t.Error(err)
	}
}

func TestInterruptedCertificatesEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Certify(ctx, known(t, "mixture", 2),
		Options{Epsilon: 0.1, Delta: 0.1, Backend: backend.Go}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCertificateAsJSON(t *testing.T) {
	line, err := json.Marshal(Certificate{LowerBound: 0.9})
	if err != nil || !strings.Contains(string(line), `"probability_lower_bound":0.9`) {
		t.Errorf("JSON: got %s, error %v, want a probability_lower_bound of 0.9...", line, err)
	}
}

func TestBuildReportsFaults(t *testing.T) {
	for _, o := range []Options{{Epsilon: 0.1}, {Epsilon: 0.1, Delta: 0.1, Construction: Steps{}}} {
		if net, err := Build(context.Background(), known(t, "gaussian", 2), o); err == nil || net != nil {
			t.Errorf("options %+v: got %v, error %v", o, net, err)
		}
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

// A measure of two functions on three points. The first component of z selects the function.
func ExampleCertify() {
	m := Measure{
		Name: "up or down", Points: []float64{0, 1, 2}, Bound: 1,
		Law: Atoms{Values: [][]float64{{0.5, 0.8, 0.9}, {-0.5, -0.8, -0.9}}, Weights: []float64{2, 1}},
	}
	c, err := Certify(context.Background(), m, Options{Epsilon: 0.01, Delta: 0.05, Backend: backend.Go})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("certified:", c.Certified)
	fmt.Println("components of theta that are z:", c.FromIndex)
	// Output:
	// certified: true
	// components of theta that are z: 3
}

// The certificates of notebooks/results cover all measures on 2 to 16 points. The test repeats the quickest of them,
// and gets the same networks.
func TestCommittedCertificates(t *testing.T) {
	records, err := lines.Read[Certificate]("../../notebooks/results/approx.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range records {
		seen[fmt.Sprint(c.Measure, c.Points, c.Reference, c.Epsilon)] = true
		if !c.Certified || c.LowerBound < 1-c.Delta || c.Delta != c.Epsilon || c.FromIndex != c.Points {
			t.Errorf("got %+v, want a certificate", c)
		}
		if quick := c.Measure == "discrete" || c.Measure == "gaussian"; !quick || c.Points > 2 || c.Epsilon < 0.1 {
			continue
		}
		m, err := NewMeasure(t.Context(), c.Measure, Setting{Points: Grid(c.Points), Bound: c.Bound})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Certify(t.Context(), m, Options{Epsilon: c.Epsilon, Delta: c.Delta, Reference: c.Reference,
			Seed: c.Seed, Backend: backend.Go})
		if err != nil || !again.Certified || !slices.Equal(again.Widths, c.Widths) {
			t.Errorf("%v, %v, want %v", again, err, c)
		}
	}
	for _, name := range KnownNames() {
		for _, r := range References {
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
