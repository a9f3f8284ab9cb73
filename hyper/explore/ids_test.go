package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	streams "github.com/hypermodels/hypermodels/hyper/rng"
)

// minimise runs MinimumRatio on r and v, [runs][actions].
func minimise(name string, r, v [][]float32) (probabilities [][]float32) {
	return minimiseBy(name, MinimumRatio, r, v)
}

// minimiseBy is minimise by a function like MinimumRatio.
func minimiseBy(name string, by func(r, v *Node) Mixture, r, v [][]float32) (probabilities [][]float32) {
	return must.M1(CallOnce(must.M1(backend.Open(name)), func(r, v *Node) *Node {
		return by(r, v).Probabilities(r.Shape().Dim(1))
	}, r, v)).Value().([][]float32)
}

// ratio returns (pi.r)^2 / (pi.v). It is 0 without regret, and +Inf with regret and without variance.
func ratio[T float32 | float64](pi []T, r, v []float32) float64 {
	var regret, variance float64
	for x := range pi {
		regret += float64(pi[x]) * float64(r[x])
		variance += float64(pi[x]) * float64(v[x])
	}
	if regret == 0 {
		return 0
	}
	return regret * regret / variance
}

// leastOfPairs returns the least ratio by brute force: for all pairs of actions, at the stationary point of their
// mixtures and at both ends.
func leastOfPairs(r, v []float32) float64 {
	least := math.Inf(1)
	for x := range r {
		for y := range r {
			rx, ry, vx, vy := float64(r[x]), float64(r[y]), float64(v[x]), float64(v[y])
			// d/dq of (rx + q dr)^2 / (vx + q dv) is 0 where 2 dr (vx + q dv) = dv (rx + q dr).
			for _, q := range []float64{0, 1, rx/(rx-ry) - 2*vx/(vy-vx)} {
				if q >= 0 && q <= 1 { // not NaN
					pair := []float64{1 - q, q}
					least = min(least, ratio(pair, []float32{r[x], r[y]}, []float32{v[x], v[y]}))
				}
			}
		}
	}
	return least
}

// instances makes pairs r, v of n actions of many kinds: independent, correlated, tied, discrete, spread over many
// magnitudes, on a curve that makes every action a vertex of the hull, and degenerate.
func instances(rng *rand.Rand, n, count int) (r, v [][]float32) {
	for i := range count {
		a, b := make([]float32, n), make([]float32, n)
		for x := range n {
			u, w := rng.Float64(), rng.Float64()
			switch i % 10 {
			case 0:
				a[x], b[x] = float32(u), float32(w)
			case 1: // regret grows with information
				a[x], b[x] = float32(u), float32(u*u*(1+0.1*w))
			case 2: // discrete, with many ties
				a[x], b[x] = float32(1+rng.IntN(3)), float32(rng.IntN(4))
			case 3: // many magnitudes
				a[x], b[x] = float32(math.Exp(-12*u)), float32(math.Exp(-12*w))
			case 4: // every action on the hull, a parabola away from the origin
				a[x], b[x] = float32(0.2+u), float32(math.Sqrt(u))
			case 5: // a hull that doubles
				a[x], b[x] = float32(math.Pow(2, float64(x%24)-20)+1e-7), float32(math.Pow(1.9, float64(x%24)-20))
			case 6: // some have no information
				a[x], b[x] = float32(0.1+u), float32(max(w-0.7, 0))
			case 7: // all alike
				a[x], b[x] = 0.3, 0.2
			case 8: // no information, or one without regret
				a[x], b[x] = float32(u), 0
				if i%20 == 8 {
					b[x] = float32(w)
					if x == i%n {
						a[x] = 0
					}
				}
			case 9: // tiny units
				a[x], b[x] = float32(u*1e-12), float32(w*1e-20)
			}
		}
		r, v = append(r, a), append(v, b)
	}
	return r, v
}

// checkMinimum reports faults of pi as the minimiser.
func checkMinimum(pi, r, v []float32) error {
	sum, support, biggest := 0.0, 0, float32(0)
	for _, p := range pi {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("probabilities %v", pi)
		}
		sum += float64(p)
		if p > 0 {
			support++
		}
	}
	if math.Abs(sum-1) > 1e-6 || support > 2 {
		return fmt.Errorf("%d actions with probabilities of sum %v", support, sum)
	}
	for _, x := range v {
		biggest = max(biggest, x)
	}
	got := ratio(pi, r, v)
	if biggest == 0 { // the action with the least regret
		for x, p := range pi {
			for y := range r {
				if p > 0 && r[y] < r[x] {
					return fmt.Errorf("nothing to learn, and action %d of regret %v, above %v of %d", x, r[x], r[y], y)
				}
			}
		}
		return nil
	}
	if want := leastOfPairs(r, v); !(got <= want*(1+2e-5)) { // some roundings of single precision
		return fmt.Errorf("ratio %v, and %v for a pair", got, want)
	}
	return nil
}

// The minimiser's ratio is never above the least ratio of all pairs by brute force, for a thousand r and v with up to
// 300 actions.
func TestMinimumRatioAgainstAllPairs(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, c := range [][2]int{{4, 300}, {100, 60}, {1, 10}, {2, 300}, {3, 300}, {30, 200}, {300, 10}} {
			// XLA takes seconds to compile.
			if (name != backend.Go || testing.Short()) && c[0] != 4 && c[0] != 100 {
				continue
			}
			r, v := instances(rng, c[0], c[1])
			for _, pairs := range []bool{false, true} {
				by := func(r, v *Node) Mixture { return minimumRatio(r, v, pairs) }
				probabilities := minimiseBy(name, by, r, v)
				for i, pi := range probabilities {
					if err := checkMinimum(pi, r[i], v[i]); err != nil {
						t.Errorf("%d actions, instance %d (kind %d), by pairs %t: %v", c[0], i, i%10, pairs, err)
					}
				}
			}
		}
	})
}

// The minimiser's ratio is never above the least ratio on a fine grid over the simplex of up to 4 actions.
func TestMinimumRatioAgainstGrid(t *testing.T) {
	const steps = 40
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 2; n <= 4; n++ {
		r, v := instances(rng, n, 300)
		probabilities := minimise(backend.Go, r, v)
		var grid [][]float64
		var fill func(pi []float64, left int)
		fill = func(pi []float64, left int) {
			if len(pi) == n-1 {
				grid = append(grid, append(append([]float64{}, pi...), float64(left)/steps))
				return
			}
			for k := 0; k <= left; k++ {
				fill(append(pi, float64(k)/steps), left-k)
			}
		}
		fill(nil, steps)
		for i, pi := range probabilities {
			got := ratio(pi, r[i], v[i])
			for _, other := range grid {
				if want := ratio(other, r[i], v[i]); got > want*(1+2e-5) {
					t.Fatalf("%d actions, instance %d: got the ratio %v with %v, but %v with %v",
						n, i, got, pi, want, other)
				}
			}
		}
	}
}

// FuzzMinimumRatio checks arbitrary regrets and variances: the bytes are pairs of mantissa and exponent.
func FuzzMinimumRatio(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{0, 0, 0, 0, 9, 1, 9, 1})
	f.Add([]byte{255, 40, 255, 0, 1, 0, 1, 40, 128, 20, 128, 20})
	f.Fuzz(func(t *testing.T, raw []byte) {
		const actions = 12 // one shape, one compilation
		var r, v [actions]float32
		number := func(i int) float32 {
			if 2*i+1 >= len(raw) {
				return 0.5
			}
			return float32(math.Ldexp(float64(raw[2*i]), int(raw[2*i+1]%41)-30))
		}
		for x := range actions {
			r[x], v[x] = number(2*x), number(2*x+1)
		}
		pi := minimise(backend.Go, [][]float32{r[:]}, [][]float32{v[:]})
		if err := checkMinimum(pi[0], r[:], v[:]); err != nil {
			t.Errorf("regrets %v, variances %v: %v", r, v, err)
		}
	})
}

// information computes r and v by the formulas of section 3.2.
func information(values [][]float32) (regret, variance []float64) {
	n, actions := float64(len(values)), len(values[0])
	regret, variance = make([]float64, actions), make([]float64, actions)
	mean, sums, counts := make([]float64, actions), map[int][]float64{}, map[int]float64{}
	for _, f := range values {
		best := 0
		for x := range f {
			if f[x] > f[best] {
				best = x
			}
		}
		if sums[best] == nil {
			sums[best] = make([]float64, actions)
		}
		counts[best]++
		for x := range f {
			regret[x] += float64(f[best]-f[x]) / n
			mean[x] += float64(f[x]) / n
			sums[best][x] += float64(f[x])
		}
	}
	for best, sum := range sums {
		for x := range sum {
			variance[x] += counts[best] / n * math.Pow(sum[x]/counts[best]-mean[x], 2)
		}
	}
	return regret, variance
}

// r and v agree with the formulas, with more actions than functions, with fewer, with ties, and with enough of both for
// the scatter and for unequal parts.
func TestInformation(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		rng := rand.New(rand.NewPCG(5, 6))
		for _, c := range []struct{ runs, functions, actions int }{{3, 40, 5}, {3, 6, 50}, {2, 1, 4}, {2, 5, 1},
			{2, 300, 1500}} {
			values := make([][][]float32, c.runs)
			for i := range values {
				for range c.functions {
					f := make([]float32, c.actions)
					for x := range f {
						f[x] = float32(3 + rng.NormFloat64())
						if i == 1 {
							f[x] = float32(rng.IntN(3))
						}
					}
					values[i] = append(values[i], f)
				}
			}
			out := must.M1(CallOnceN(b, func(in []*Node) []*Node {
				r, v := Information(in[0])
				return []*Node{r, v}
			}, values))
			r, v := out[0].Value().([][]float32), out[1].Value().([][]float32)
			for i := range values {
				wantR, wantV := information(values[i])
				for x := range wantR {
					if math.Abs(float64(r[i][x])-wantR[x]) > 1e-5 || math.Abs(float64(v[i][x])-wantV[x]) > 1e-5 {
						t.Fatalf("%+v, run %d, action %d: r, v = %v, %v, want %v, %v",
							c, i, x, r[i][x], v[i][x], wantR[x], wantV[x])
					}
				}
			}
		}
	})
}

// Two machines pay 2 and 1.9, or the other way round, and an oracle pays -1 or 1. The oracle's answer has more
// information than the machines', for more regret. IDS that is restricted to candidates cannot ask the oracle.
func TestIDSPlaysWhatIsSurelyNotBest(t *testing.T) {
	values := [][][]float32{{{2, 1.9, -1}, {1.9, 2, 1}}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, only := range []bool{false, true} {
			probabilities, _ := decideAt(name, IDS{N: 2, OnlyCandidates: only}, values, []uint64{1})
			if oracle := probabilities[0][2]; only != (oracle == 0) {
				t.Errorf("%s, only candidates %v: got probabilities %v for the oracle and the machines",
					name, only, probabilities)
			}
		}
	})
}

// One of 16 actions pays 1, the others pay 0, and which one pays is not known. Another action pays 1/2 if the paying
// action is among the first eight. It is certainly not the best, but playing it halves the uncertainty. IDS plays it,
// and Thompson sampling never does.
func ExampleIDS() {
	const n = 16
	var values [][]float32
	for i := range n {
		f := make([]float32, n+1)
		f[i] = 1
		if i < n/2 {
			f[n] = 0.5
		}
		values = append(values, f)
	}
	for _, p := range []Policy{IDS{N: n}, Thompson{N: n}} {
		probabilities, _ := decideAt(backend.Go, p, [][][]float32{values}, []uint64{1})
		fmt.Println(probabilities[0][n])
	}
	// Output:
	// 1
	// 0
}

// What IDS computes for a run does not depend on the other runs, to the bit: 8 runs at once equal the 8 runs alone. The
// shapes are processed in parts and whole, with more functions than actions and with fewer. On xla:cpu 199 of 2,368
// numbers of the first shape differed when sums were products or scatters depending on the size of the batch.
func TestInformationOfRunsAlone(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if name == backend.XLACUDA {
			t.Skip(testbackend.NotOnGPU)
		}
		b := must.M1(backend.Open(name))
		const runs = 8
		for _, shape := range [][2]int{{500, 148}, {30, 200}} {
			if testing.Short() && shape[0] == 500 {
				continue
			}
			n, actions := shape[0], shape[1]
			values := must.M1(CallOnce(b, func(seeds *Node) *Node { return streams.New(seeds).Normal(n, actions) },
				[]uint64{0, 1, 2, 3, 4, 5, 6, 7}))
			information := must.M1(NewExec(b, func(values *Node) (r, v *Node) { return Information(values) }))
			flat, whole := tensors.MustCopyFlatData[float32](values), information.MustCall(values)
			for run := range runs {
				own := flat[run*n*actions : (run+1)*n*actions]
				alone := information.MustCall(tensors.FromFlatDataAndDimensions(own, 1, n, actions))
				for i, what := range []string{"regret", "variance"} {
					want := tensors.MustCopyFlatData[float32](alone[i])
					got := tensors.MustCopyFlatData[float32](whole[i])[run*actions : (run+1)*actions]
					if !slices.Equal(got, want) {
						t.Errorf("%d functions, %d actions: the %s of run %d differs in a batch", n, actions, what, run)
					}
				}
			}
		}
	})
}

// Action 0 has regret 1 and no information, and action 1 has regret 4 and variance 1: (1 + 3p)^2 / p is least at p =
// 1/3.
func ExampleMinimumRatio() {
	b := must.M1(backend.Open(backend.Go))
	probabilities := must.M1(CallOnce(b, func(regret, variance *Node) *Node {
		return MinimumRatio(regret, variance).Probabilities(2)
	}, [][]float32{{1, 4}}, [][]float32{{0, 1}}))
	fmt.Printf("%.3f\n", probabilities.Value())
	// Output: [[0.667 0.333]]
}
