package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// single is the tolerance for two single-precision computations of one number: some hundred roundings of 6e-8.
const single = 5e-6

// The gradient from statistics at given indices equals the gradient of the loss by automatic differentiation.
func TestGradientAtIsTheLossGradient(t *testing.T) {
	for i, m := range linearModels() {
		p := newTrial(t, m.Model, 5, 17)
		if !newProblem(Config{}, m.Model).linearInTheta() {
			t.Fatalf("model %s is not linear in theta", m.name)
		}
		for _, name := range sometimesXLA(i) {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				out := eval(t, name, func(in []*Node) []*Node {
					g := p.nodes(in)
					z := p.sample(in[0].Graph(), 6)
					want := p.gradient(Config{}, g, z)
					got := newProblem(Config{}, m.Model).gradientAt(collapse(m.Base.(hyper.LinearBase), g.data), g.Params, z,
						g.weight(), g.Rates)
					return append(want, got...)
				}, p.args()...)
				compareHalves(t, out)
			})
		}
	}
}

// compareHalves compares, run by run, two lists of arrays [runs, ...] that are given as one list: first the wanted
// arrays, then the computed arrays.
func compareHalves(t *testing.T, out []array) {
	t.Helper()
	half := len(out) / 2
	for r := range problemRuns {
		near(t, fmt.Sprintf("gradient of run %d", r), ofRun(out[half:], r), ofRun(out[:half], r), single)
	}
}

// The gradient with the expectation over z in closed form equals the mean of gradients over indices that have exactly
// the first and second moments of p_z: +-sqrt(N E z_i^2) e_i, or all particles. The mean is computed by automatic
// differentiation of the loss.
func TestExactGradientIsTheMeanOverExactIndices(t *testing.T) {
	tested := 0
	for i, m := range linearModels() {
		if (Config{Steps: 1, Capacity: 1, Integrate: FullData}).Validate(m.Model) != nil {
			continue
		}
		tested++
		p := newTrial(t, m.Model, 5, 17)
		for _, name := range sometimesXLA(i) {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				out := eval(t, name, func(in []*Node) []*Node {
					g := p.nodes(in)
					want := p.gradient(Config{}, g, exactIndices(m.Index(), in[0].Graph()))
					got := newProblem(Config{}, m.Model).exactGradient(collapse(m.Base.(hyper.LinearBase), g.data), g.Params,
						g.weight(), g.Rates)
					return append(want, got...)
				}, p.args()...)
				compareHalves(t, out)
			})
		}
	}
	if tested < 12 { // of the 22 models: otherwise a Validate that refuses every model would pass
		t.Errorf("%d models have exact gradients, want at least 12", tested)
	}
}

// exactIndices returns indices with a mean that is the expectation over p_z.
func exactIndices(p index.Distribution, g *Graph) index.Set {
	if d, ok := p.(index.Enumerable); ok {
		return d.All(g, problemRuns)
	}
	second := p.Moments().Second
	n := p.Dim()
	z := make([][][]float32, problemRuns)
	for r := range z {
		for i := range 2 * n {
			v := make([]float32, n)
			v[i/2] = float32(math.Sqrt(float64(n)*second) * float64(1-2*(i%2)))
			z[r] = append(z[r], v)
		}
	}
	return index.Vectors(Const(g, z))
}

// The statistics of two sets of data add up to the statistics of the union.
func TestStatisticsAdd(t *testing.T) {
	for _, m := range linearModels()[:12:12] {
		p := newTrial(t, m.Model, 5, 17)
		out := eval(t, backends()[0], func(in []*Node) []*Node {
			g, b := p.nodes(in), m.Base.(hyper.LinearBase)
			part := func(from, to int) statistics {
				cut := func(x *Node) *Node { return SliceAxis(x, 1, AxisRange(from, to)) }
				return collapse(b, Batch{X: cut(g.data.X), Y: cut(g.data.Y), A: cut(g.data.A)})
			}
			all, sum := collapse(b, g.data), part(0, 2).add(part(2, 5))
			return []*Node{all.gram, all.y, all.a, sum.gram, sum.y, sum.a}
		}, p.args()...)
		compareHalves(t, out)
	}
}

// The anchor is a constant for the gradient, even if a graph computes the anchor from nu (here nu/2), as for nu_0 = nu
// before the first step.
func TestNoGradientThroughTheAnchor(t *testing.T) {
	m := otherModels()[0].Model
	p := newTrial(t, m, 5, 17)
	out := eval(t, backends()[0], func(in []*Node) []*Node {
		g := p.nodes(in)
		z := p.sample(in[0].Graph(), 6)
		connected, cut := g, g
		connected.Nu0, cut.Nu0 = nil, nil
		for _, v := range g.Nu {
			half := MulScalar(v, 0.5)
			connected.Nu0, cut.Nu0 = append(connected.Nu0, half), append(cut.Nu0, StopGradient(half))
		}
		return append(p.gradient(Config{}, cut, z), p.gradient(Config{}, connected, z)...)
	}, p.args()...)
	compareHalves(t, out)
}

// If the data are fewer than the features, the gradient is computed from the data themselves. It equals the gradient of
// the loss by automatic differentiation, and the gradient from statistics. The test has 4 data with 7 features, and
// every hypermodel with its own branch, with and without prior.
func TestFeaturesGiveTheLossGradient(t *testing.T) {
	line := base.Linear{Features: 7}
	dense := hyper.Dense(7, 4)
	oneSparse := hyper.Model{Base: line, Hyper: hyper.OneSparse{N: 7, Alpha: 0.01, Beta: 10}}
	for i, m := range []namedModel{
		{"one-sparse", oneSparse},
		{"one-sparse, prior", withPrior(oneSparse, line, hyper.Dense(7, 7))},
		{"dense", affineIn(line, dense, index.Gaussian{N: 4}, dense)},
		{"dense, no prior", affineIn(line, dense, index.Sphere{N: 4}, none)},
		{"diagonal", affineIn(line, hyper.PerParameter(7, 2), index.Gaussian{N: 14}, hyper.PerParameter(7, 2))},
		{"dense, other prior", affineIn(line, hyper.Dense(7, 14), index.Gaussian{N: 14}, hyper.PerParameter(7, 2))},
		{"ensemble", ensembleOf(line, 4, dense)},
		{"ensemble, no prior", ensembleOf(line, 4, none)},
		{"network", networkOf(line, index.Gaussian{N: 3}, hyper.Dense(7, 3))},
		{"network, one-hot", networkOf(line, index.OneHot{N: 3}, none)},
	} {
		const data = 4
		p := newTrial(t, m.Model, data, 17)
		for batch, want := range map[int]string{data: "features", 7: "sums"} {
			if route := (Trainer{m.Model, Config{Batch: batch}}).Route(); route.Name != want {
				t.Fatalf("%s: got the route %[3]q with %[2]d data of 7 features", m.name, batch, route.Name)
			}
		}
		every := []bool{false}
		if _, finite := m.Index().(index.Enumerable); finite {
			every = []bool{false, true} // sampled particles, and all particles
		}
		for _, name := range sometimesXLA(i) {
			for _, all := range every {
				out := eval(t, name, func(in []*Node) []*Node {
					g := p.nodes(in)
					z := p.sample(in[0].Graph(), 6)
					if all {
						z = exactIndices(m.Index(), in[0].Graph())
					}
					want := p.gradient(Config{}, g, z)
					d := draws{data: g.data, sets: z, count: z.Len()}
					solver := newFeatures(newProblem(Config{Batch: data}, m.Model))
					got := solver.gradient(g.state(), &d, loop.At(0), g.size, g.Rates)
					collapsed := newProblem(Config{}, m.Model).gradientAt(collapse(line, g.data), g.Params, z, g.weight(), g.Rates)
					return append(append(want, got...), collapsed...)
				}, p.args()...)
				n := len(out) / 3
				for r := range problemRuns {
					for j := range n { // each parameter, relative to its own largest gradient
						want := ofRun(out[j:j+1], r)
						relative(t, fmt.Sprintf("%s on %s, all particles %v, run %d, node %d", m.name, name, all, r, j),
							ofRun(out[n+j:n+j+1], r), want)
						relative(t, fmt.Sprintf("%s on %s, all particles %v, run %d, node %d from statistics", m.name, name, all, r, j),
							ofRun(out[2*n+j:2*n+j+1], r), want)
					}
				}
			}
		}
	}
}

// relative reports gradients that differ by more than 1e-4 of the largest gradient: some hundred roundings, magnified
// tenfold by cancellation.
func relative(t *testing.T, what string, got, want []float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if largest < 1e-3 || len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d of at most %g: the test says nothing", what, len(got), len(want), largest)
		return
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-4*largest) {
			t.Errorf("%s: entry %d is %.7g, want %.7g", what, i, got[i], want[i])
			return
		}
	}
}
