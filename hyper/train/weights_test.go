package train

import (
	"fmt"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// referenceWeight returns the weight for u.
func referenceWeight(w Weights, u float64) float64 {
	switch {
	case w == Exponential:
		return -math.Log(math.Erfc(u/math.Sqrt2) / 2)
	case w == Unweighted:
		return 1
	case u > 0:
		return 2
	}
	return 0
}

// drawnWeights returns weights of data for one index of each of two runs, or for every index of a finite distribution:
// [runs, indices, data].
func drawnWeights(t *testing.T, w Weights, z index.Distribution, data int) array {
	t.Helper()
	return eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		indices := z.Sample(s.Named("z"), 1)
		if e, ok := z.(index.Enumerable); ok {
			indices = e.All(s.Graph(), problemRuns)
		}
		x := s.Named("x").Intn(Const(s.Graph(), int32(3)), data, 1) // arms
		q := problem{Config: Config{Weights: w}, z: z}
		return []*Node{q.ofData(Batch{X: x, A: z.Perturbation(s.Named("a"), data)}, indices)}
	}, []uint64{5, 6})[0]
}

// Weights have their distribution for every kind of index. The weights of Bernoulli are 0 and 2, half of the time each.
// The weights of Exponential are Exp(1) by the statistic of Kolmogorov and Smirnov, with a bound of 2.6 / sqrt(n) at
// the level 1e-6. They have mean and variance 1; the fourth central moment is 9, so that the standard errors are 1 and
// sqrt(8) over sqrt(n). All indices of many dimensions have nearly the same length, so that a^T z is N(0, 1) given z as
// well. On a sphere, and for particles, this holds exactly.
func TestWeightsDistribution(t *testing.T) {
	const n = 20_000
	for _, z := range []index.Distribution{index.OneHot{N: 3}, index.Sphere{N: 5}} {
		for _, v := range drawnWeights(t, Bernoulli, z, n).split() {
			twos := 0.0
			for _, w := range v {
				if w != 0 && w != 2 {
					t.Fatalf("%T: got weight %v, want 0 or 2", z, w)
				}
				twos += w / 2 / n
			}
			if math.Abs(twos-0.5) > 5*0.5/math.Sqrt(n) {
				t.Errorf("%T: got a share of %.4f of weights of 2, want 0.5", z, twos)
			}
		}
		for _, v := range drawnWeights(t, Exponential, z, n).split() {
			mean, variance := stat.MeanVariance(v, nil)
			if math.Abs(mean-1) > 5/math.Sqrt(n) || math.Abs(variance-1) > 5*math.Sqrt(8.0/n) {
				t.Errorf("%T: mean %.4f and variance %.4f, want 1", z, mean, variance)
			}
			slices.Sort(v)
			worst := 0.0
			for i, w := range v {
				below := 1 - math.Exp(-w)
				worst = max(worst, math.Abs(below-float64(i)/n), math.Abs(below-float64(i+1)/n))
			}
			if worst > 2.6/math.Sqrt(n) {
				t.Errorf("%T: got a distance of %.4f from Exp(1)", z, worst)
			}
		}
	}
}

// split returns the last axis of an array, row by row.
func (a array) split() [][]float64 {
	return slices.Collect(slices.Chunk(a.v, a.dims[len(a.dims)-1]))
}

// Weights of different particles, runs and data are independent: correlations are 0 within 5 standard errors.
func TestWeightsAreIndependent(t *testing.T) {
	const n = 20_000
	for _, w := range []Weights{Bernoulli, Exponential} {
		rows := drawnWeights(t, w, index.OneHot{N: 3}, n).split()
		if len(rows) != problemRuns*3 {
			t.Fatalf("got %d rows, want one for each run and index", len(rows))
		}
		for i, v := range rows {
			for j := range i {
				if c := stat.Correlation(v, rows[j], nil); math.Abs(c) > 5/math.Sqrt(n) {
					t.Errorf("%s: particles %d and %d have a correlation of %.4f, want 0", w, i, j, c)
				}
			}
			if c := stat.Correlation(v[1:], v[:n-1], nil); math.Abs(c) > 5/math.Sqrt(n) {
				t.Errorf("%s: data of particle %d have a correlation of %.4f, want 0", w, i, c)
			}
		}
	}
}

// The weight for a given u equals the formula, on both sides and beyond the point where single precision distinguishes
// 1 - Phi(u) from 0.
func TestWeightsOf(t *testing.T) {
	u := []float32{-9, -2, -0.5, 0, 0.25, 1, 2.5, 4}
	for _, w := range []Weights{Bernoulli, Exponential} {
		got := eval(t, backend.Go, func(in []*Node) []*Node { return []*Node{w.of(in[0])} }, u)[0]
		for i := range u {
			near(t, fmt.Sprintf("%s of %v", w, u[i]), got.v[i:i+1], []float64{referenceWeight(w, float64(u[i]))}, 1e-3)
		}
	}
	far := eval(t, backend.Go, func(in []*Node) []*Node { return []*Node{Exponential.of(in[0])} }, []float32{6, 30})[0]
	near(t, "far weights", far.v, []float64{-math.Log(1e-7), -math.Log(1e-7)}, single)
}
