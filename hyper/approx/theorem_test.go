package approx

import (
	"context"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// theorem returns the theorem's network for a known measure on k points.
func theorem(t testing.TB, name string, k int, r Reference) *Theorem {
	t.Helper()
	m := known(t, name, k)
	at := task(t, m, r, 0.2, 0.1)
	var box *Box
	if r == Gaussian {
		box = newBox(k, 0.1)
	}
	return NewTheorem(m, r, build(t, natural(at.Map), at, 0), box)
}

// exotic returns z from a wider distribution than p_z. For Gaussian z many are outside the box, and at some of them
// ReLU cuts the shifted InputZ units off.
func exotic(r Reference, n, k int) [][]float64 {
	z := draws(r, source(9, "exotic"), n, k)
	if r == Gaussian {
		for i, row := range z {
			for j := range row {
				row[j] *= 1 + 2*float64(i%3)
			}
		}
	}
	return z
}

// exact returns measures with exact constructions, so that tests of the theorem's network need no training. The
// posterior's transport takes seconds: with -short it is left out.
func exact() []string {
	if testing.Short() {
		return []string{"discrete", "gaussian", "process"}
	}
	return []string{"discrete", "gaussian", "posterior", "process"}
}

func TestClampedSumIsTheCappedNetwork(t *testing.T) {
	for _, name := range exact() {
		for _, r := range references {
			for _, k := range []int{1, 3} {
				if k == 1 && name == "posterior" {
					continue // the same test with more computation
				}
				th, outside := theorem(t, name, k, r), 0
				for _, z := range exotic(r, 100, k) {
					got, want := make([]float64, k), make([]float64, k)
					th.At(z, got)
					th.near(z, want)
					if d := supErrors([][]float64{got}, [][]float64{want})[0]; d > 1e-9*th.Bound {
						t.Fatalf("%s, K = %d, %s z: h~ and the capped H~ differ by %g at %v", name, k, r, d, z)
					}
					if th.Box != nil && th.Box.at(z) == 0 {
						outside++
					}
				}
				if r == Gaussian && outside == 0 {
					t.Errorf("%s, K = %d: all z are inside the box, want some outside", name, k)
				}
			}
		}
	}
}

// The one-hot encoding works for points that are not a grid: with unequal distances, negative, and large.
func TestOneHotOnAnyPoints(t *testing.T) {
	m := Measure{Name: "mine", Points: []float64{-310, -300.5, -300, 2, 900}, Bound: 3,
		Law: known(t, "discrete", 5).Law}
	at := task(t, m, Uniform, 0.1, 0.1)
	th := NewTheorem(m, Uniform, build(t, natural(at.Map), at, 0), nil)
	z := exotic(Uniform, 50, 5)
	f := must.M1(th.Evaluate(context.Background(), backend.Go, z))
	if d := slices.Max(supErrors(f, apply(th.near, z, 5))); d > 1e-3*m.Bound {
		// Ramps of slope 240 have larger rounding errors than the rest.
		t.Errorf("f and the capped H~ differ by %g, want at most 1e-3 B", d)
	}
}

// K parameters of theta are z, and all others are constant, as hyper.Linear makes them. InputZ units have no weight
// from x.
func TestOnlyInputZDependsOnZ(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		th := theorem(t, "process", k, Gaussian)
		mu, c := th.Nu()
		z := exotic(Gaussian, 4, k)
		theta := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
			return []*Node{th.Model().Hyper.Theta(in[:2], index.Vectors(in[2]))}
		}, tensor(mu, 1, len(mu)), tensor(c, 1, len(c), 1), batchOf(z, 0, 4, k))[0]
		for i, row := range z {
			want := slices.Clone(mu)
			copy(want[th.First:], row)
			testbackend.Near(t, "theta", theta[i*len(mu):(i+1)*len(mu)], want, 1e-7)
		}
		if slices.ContainsFunc(th.Net.Layers[1].W[1:], func(row []float64) bool { return row[1] != 0 }) {
			t.Error("an InputZ unit has a weight from x")
		}
	}
}

// Model.Predict and the direct evaluation agree up to rounding.
func TestPredictionsAreTheDirectEvaluation(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for measure, tolerance := range map[string]float64{"gaussian": 1e-5, "posterior": 1e-3} {
			if !slices.Contains(exact(), measure) {
				continue
			}
			// Steep ramps, as of posterior, amplify rounding errors.
			for _, r := range references {
				th, z := theorem(t, measure, 3, r), exotic(r, 40, 3)
				f := must.M1(th.Evaluate(context.Background(), name, z))
				if d := slices.Max(supErrors(f, apply(th.At, z, 3))); d > tolerance*th.Bound {
					t.Errorf("%s, %s z: single precision has an error of %g", measure, r, d)
				}
			}
		}
	})
}

func TestBoxHasItsProbability(t *testing.T) {
	for _, k := range []int{1, 4, 16} {
		b, inside := newBox(k, 0.2), 0
		const n = 20_000
		for _, z := range draws(Gaussian, source(10, "box"), n, k) {
			if b.at(z) == 1 {
				inside++
			}
		}
		if p := float64(inside) / n; math.Abs(p-0.95) > 0.007 { // 1 - delta/4; 4 standard errors
			t.Errorf("K = %d: got probability %.4f, want 0.95", k, p)
		}
	}
	if b := (Box{Eta: 1, Ramp: 0.5}); b.at([]float64{1.25, 0}) != 0.5 || b.at([]float64{-1.25, 1.25}) != 0 ||
		b.reach() != 1.5 {
		t.Error("the ramp of the box is wrong")
	}
}
