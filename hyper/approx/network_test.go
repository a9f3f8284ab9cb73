package approx

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// task returns the arguments of a construction for a transport map to a measure.
func task(t testing.TB, m Measure, r Reference, epsilon, delta float64) Task {
	t.Helper()
	return Task{
		Map: transport(t, m, r), Reference: r, K: m.K(), Bound: m.Bound, Epsilon: epsilon, Delta: delta,
		Reach: newBox(m.K(), delta).Reach(), Seed: 1,
	}
}

func build(t testing.TB, c Construction, at Task, level int) Network {
	t.Helper()
	n, err := c.Build(context.Background(), at, level)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// share returns the share of z at which the network is within epsilon of the map.
func share(n Network, at Task, epsilon float64) float64 {
	z := draws(at.Reference, source(7, "share"), 5000, at.K)
	return float64(count(supErrors(n.Capped(at.Bound).Evaluate(z), apply(at.Map.At, z, at.K)), epsilon)) / 5000
}

func TestNetworksComposeAndCap(t *testing.T) {
	halve := Network{Layers: []Layer{{W: [][]float64{{0.5, 0}, {0, -0.5}}, B: []float64{1, 0}}}}
	relu := Network{Layers: []Layer{identity(2), {W: [][]float64{{1, 1}}, B: []float64{-2}}}}
	both, f := halve.then(relu), make([]float64, 1)
	if both.Hidden() != 1 || both.Size() != 2*3+3 || !slices.Equal(both.Widths(), []int{2, 2, 1}) {
		t.Errorf("got widths %v and size %d, want [2 2 1] and 9", both.Widths(), both.Size())
	}
	for _, z := range [][]float64{{4, 2}, {4, -2}, {-8, 1}, {20, 0}} {
		both.At(z, f)
		want := max(z[0]/2+1, 0) + max(-z[1]/2, 0) - 2
		if math.Abs(f[0]-want) > 1e-12 {
			t.Errorf("f(%v) = %v, want %v", z, f[0], want)
		}
		both.Capped(1.5).At(z, f)
		if want = min(max(want, -1.5), 1.5); math.Abs(f[0]-want) > 1e-12 {
			t.Errorf("capped f(%v) = %v, want %v", z, f[0], want)
		}
	}
}

func TestMaximaIsTheMaximum(t *testing.T) {
	for n := 1; n <= 7; n++ {
		b := newBuilder(n)
		top := b.inputs()
		for len(top) > 1 {
			top = b.maxima(top, -9)
			b.next()
		}
		net, f := b.network(top), make([]float64, 1)
		for _, z := range draws(Gaussian, source(1, "max"), 100, n) {
			if net.At(z, f); math.Abs(f[0]-floats.Max(z)) > 1e-12 {
				t.Fatalf("maximum of %v: got %v", z, f[0])
			}
		}
	}
}

func TestQuantileIsInterpolatedWithinTheTolerance(t *testing.T) {
	for _, tolerance := range []float64{0.1, 0.01, 0.001} {
		knots := quantileKnots(0.001, tolerance)
		net, f, worst := normals(1, knots), make([]float64, 1), 0.0
		for i := 1; i < 1000; i++ {
			u := 0.001 + 0.998*float64(i)/1000
			net.At([]float64{u}, f)
			worst = max(worst, math.Abs(f[0]-quantile(u)))
		}
		if worst > tolerance || worst < tolerance/3 {
			t.Errorf("got error %v with %d knots, want between a third of the tolerance and the tolerance %v",
				worst, len(knots), tolerance)
		}
	}
}

// Each exact construction is close to the map for all but a share delta of z, and closer at the next level.
func TestConstructionsAreCloseAndGetCloser(t *testing.T) {
	for name, c := range map[string]Construction{"process": Coordinatewise{}, "discrete": Steps{},
		"posterior": MaxAffine{}} {
		for _, r := range References {
			at := task(t, known(t, name, 3), r, 0.02, 0.1)
			if natural(at.Map, 3) != c {
				t.Errorf("%s: got the construction %s", name, natural(at.Map, 3).Name())
			}
			before := share(build(t, c, at, 0), at, at.Epsilon)
			after := share(build(t, c, at, 2), at, at.Epsilon)
			if before < 1-at.Delta || after < 1-at.Delta/3 {
				t.Errorf("%s, %s z: within epsilon with probability %.4f, refined %.4f, want above 1 - delta "+
					"and 1 - delta/3", name, r, before, after)
			}
		}
	}
}

// The network of Kuhn's triangulation equals the interpolation. At a point of a cell with sorted coordinates v_(1) >=
// v_(2) >= ..., the vertices follow from steps along (1), then (2), ..., and the weights are the differences.
func TestKuhnInterpolates(t *testing.T) {
	for k := 1; k <= 3; k++ {
		at := task(t, known(t, "process", k), Uniform, 0.1, 0.1)
		net := build(t, Kuhn{Cells: 4}, at, 0)
		knots := make([][]float64, k)
		for i := range knots {
			knots[i] = at.knots(i, 4)
		}
		for _, z := range draws(Uniform, source(8, "kuhn"), 200, k) {
			got := make([]float64, k)
			net.At(z, got)
			if want := interpolated(at, knots, z); !floats.EqualApprox(got, want, 1e-9) {
				t.Fatalf("K = %d: %v at %v, want %v", k, got, z, want)
			}
		}
	}
}

func interpolated(at Task, knots [][]float64, z []float64) []float64 {
	k := len(z)
	node, part, order := make([]int, k), make([]float64, k), make([]int, k)
	for i, v := range z {
		v = min(max(v, knots[i][0]), knots[i][len(knots[i])-1])
		for node[i]+2 < len(knots[i]) && v >= knots[i][node[i]+1] {
			node[i]++
		}
		part[i] = (v - knots[i][node[i]]) / (knots[i][node[i]+1] - knots[i][node[i]])
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, part[j]-part[i])) })
	f, weight := make([]float64, k), 1.0
	for _, i := range order {
		floats.AddScaled(f, weight-part[i], at.value(knots, node))
		weight = part[i]
		node[i]++
	}
	floats.AddScaled(f, weight, at.value(knots, node))
	return f
}

func TestKnotsLieWhereTheMapBends(t *testing.T) {
	at := task(t, known(t, "mixture", 1), Uniform, 0.1, 0.1)
	near := 0
	for _, v := range at.knots(0, 20) {
		if math.Abs(v-0.4) < 0.02 { // the jump between the two modes; the first has probability 0.4
			near++
		}
	}
	if near < 3 {
		t.Errorf("%d of 21 knots are near the jump, want more", near)
	}
}

// A trained network learns the step of a mixture on one point.
func TestTrainedNetworksLearn(t *testing.T) {
	at := task(t, known(t, "mixture", 1), Uniform, 0.2, 0.1)
	if p := share(build(t, Trained{Width: 24, Steps: 1500}, at, 0), at, at.Epsilon); p < 0.95 {
		t.Errorf("within epsilon with probability %.3f, want at least 0.95", p)
	}
}
