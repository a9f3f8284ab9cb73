package testbed

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// costs returns the scores, by the scorer of a kind, of functions [indices][inputs] at each input of one problem.
func costs(t *testing.T, name string, k Kind, truth map[string][]float64, noise float64, f [][]float64) []float64 {
	t.Helper()
	in := named[*tensors.Tensor]{noiseName: tensors.FromValue([]float32{float32(noise)})}
	for key, x := range truth {
		in["test."+key] = tensors.FromValue([][]float32{singles(x)})
	}
	var functions [][]float32
	for _, x := range f {
		functions = append(functions, singles(x))
	}
	in["f"] = tensors.FromValue([][][]float32{functions})
	p := newProgram(must.M1(backend.Open(name)), func(in named[*Node]) named[*Node] {
		now := k.scorer().draw(nil, in)
		maps.Copy(now, k.scorer().add(now, in["f"], nil))
		return named[*Node]{"cost": k.scorer().cost(now)}
	})
	return flat(must.M1(p.call(in))["cost"])
}

func singles(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// before returns the distribution of f before data.
func before(p processTruth, test *mat.Dense) drawnTruth {
	n, _ := test.Dims()
	k := p.Kernel(test, test)
	for i := range n {
		k.Set(i, i, k.At(i, i)+ridge)
	}
	return drawnTruth{Test: test, Mean: make([]float64, n), Cov: mat.NewSymDense(n, k.RawMatrix().Data)}
}

// An agent that knows the truth scores exactly 0 if responses are predicted. The exact posterior scores ln(1 +
// s^2/sigma^2)/2 on average over truths, and no agent scores less. An agent that only knows the prior scores by the
// densities of N(0, k + sigma^2).
func TestScoresOfResponses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes dozens of problems")
	}
	const tests, functions = 30, 1000
	p := processTruth{Inputs: 2, Noise: 0.5}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		problems := 20
		if name != backend.Go { // each problem is compiled
			problems = 3
		}
		var posterior, prior []float64
		for seed := range uint64(problems) {
			s := rng.NewHost(seed)
			r := must.M1(p.Draw(s, 6, tests))
			x, f, y, err := r.responses(s, p.Noise)
			must.M(err)
			places := map[float64]int{} // of the test inputs, by their first number
			for i := range tests {
				places[r.Test.At(i, 0)] = i
			}
			at := make([]int, len(y)) // the test inputs of the responses, which are drawn with replacement
			for i := range at {
				at[i] = places[x[i*p.Inputs]]
			}
			truth := map[string][]float64{"x": x, "truth": f, "y": y}
			for i, cost := range costs(t, name, Responses, truth, p.Noise, [][]float64{f, f, f}) {
				if cost != 0 {
					t.Fatalf("response %d: the truth has score %g, want 0", i, cost)
				}
			}
			excess := func(know drawnTruth) float64 {
				expected := 0.0
				for _, i := range at {
					v, noise := know.Cov.At(i, i), p.Noise*p.Noise
					square := math.Pow(r.Mean[i]-know.Mean[i], 2) + r.Cov.At(i, i) + noise
					expected += (math.Log((v+noise)/noise) - 1 + square/(v+noise)) / 2 / float64(len(at))
				}
				var samples [][]float64 // functions at the inputs of the responses
				for k := range functions {
					all, some := must.M1(know.Sample(s.Named("functions").At(uint32(k)))), make([]float64, len(at))
					for i, place := range at {
						some[i] = all[place]
					}
					samples = append(samples, some)
				}
				return stat.Mean(costs(t, name, Responses, truth, p.Noise, samples), nil) - expected
			}
			posterior, prior = append(posterior, excess(r)), append(prior, excess(before(p, r.Test)))
		}
		within(t, "the exact posterior, less its analytic score", posterior, 0)
		within(t, "the prior, less its analytic score", prior, 0)
	})
}

// Functions with the moments of the exact posterior score 0, and functions with the moments of the prior score the
// divergence from the prior. Two functions, mean + sd and mean - sd, have such moments. Functions that are all equal
// have the standard deviation of the ridge.
func TestScoresOfFunctions(t *testing.T) {
	p := processTruth{Inputs: 3, Noise: 0.1}
	r := must.M1(p.Draw(rng.NewHost(1), 10, 20))
	sd, k := r.deviations(), before(p, r.Test).deviations()
	truth := map[string][]float64{"x": make([]float64, 20), "mean": r.Mean, "sd": sd}
	two := func(mean, sd []float64) [][]float64 {
		f := [][]float64{make([]float64, len(sd)), make([]float64, len(sd))}
		for i, s := range sd {
			f[0][i], f[1][i] = mean[i]+s, mean[i]-s
		}
		return f
	}
	divergences := func(mean, sd2 []float64) (out []float64) {
		for i := range sd2 {
			a, b := sd[i]+deviationRidge, sd2[i]+deviationRidge
			out = append(out, math.Log(b/a)+(a*a+math.Pow(r.Mean[i]-mean[i], 2))/(2*b*b)-0.5)
		}
		return out
	}
	zero := make([]float64, 20)
	testbackend.ForEach(t, func(t *testing.T, name string) {
		near(t, "posterior", costs(t, name, Functions, truth, 1, two(r.Mean, sd)), zero, 1e-5)
		near(t, "prior", costs(t, name, Functions, truth, 1, two(zero, k)), divergences(zero, k), single)
		near(t, "no deviations", costs(t, name, Functions, truth, 1, two(r.Mean, zero)), divergences(r.Mean, zero), 1e-4)
		same := eval(t, name, func(in []*Node) []*Node {
			return []*Node{gaussianDivergence(in[0], in[1], in[0], in[1])}
		}, singles(r.Mean), singles(sd))[0]
		near(t, "a Gaussian from itself", same, zero, 0)
	})
}

// Moments do not depend on how functions are cut into chunks, even if a chunk has no weight. A function without weight
// need not be finite.
func TestMoments(t *testing.T) {
	f := [][]float32{{1, -2}, {3, 5}, {float32(math.NaN()), float32(math.Inf(1))}, {0.5, 0.25}, {7, 7}}
	weights := []float32{2, 1, 0, 0, 3}
	var want [2][]float64
	for i := range 2 {
		x := []float64{float64(f[0][i]), float64(f[1][i]), float64(f[4][i])}
		mean, variance := stat.PopMeanVariance(x, []float64{2, 1, 3})
		want[0], want[1] = append(want[0], mean), append(want[1], variance*6)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, cuts := range [][]int{{0, 5}, {0, 2, 4, 5}, {0, 1, 2, 3, 4, 5}} {
			out := eval(t, name, func(in []*Node) []*Node {
				zero := MulScalar(Slice(Squeeze(in[1], 0), AxisRange(0, 2)), 0)
				m := moments{mean: InsertAxes(zero, 0), squares: InsertAxes(zero, 0), weight: Slice(zero, AxisRange(0, 1))}
				for i, from := range cuts[:len(cuts)-1] {
					of := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(from, cuts[i+1])) }
					m = m.accumulate(of(in[0]), of(in[1]))
				}
				return []*Node{m.mean, m.squares, m.weight}
			}, [][][]float32{f}, [][]float32{weights})
			near(t, fmt.Sprint(cuts, ": means"), out[0], want[0], single)
			near(t, fmt.Sprint(cuts, ": squares"), out[1], want[1], single)
			near(t, fmt.Sprint(cuts, ": weight"), out[2], []float64{6}, 0)
		}
	})
}

// fewResponses returns regression problems of one shape.
func fewResponses(k Kind, n, data int, noise float64) Sweep {
	s := Sweep{Name: "few", Kind: k, Seeds: 1}
	for i := range n {
		s.Problems = append(s.Problems, Problem{Number: i, Inputs: 2, Data: data, Noise: noise, Seed: uint64(i) + 1})
	}
	return s
}

// Agents learn responses, and their results do not depend on the problems beside them. The test has the testbed's
// agents, with a small ensemble instead of large ones, and an agent that reads its data one by one.
func TestRegressionAgents(t *testing.T) {
	for _, k := range []Kind{Responses, Functions} {
		s, o := fewResponses(k, 2, 5, 0.1), Options{Backend: backend.Go, Batches: 7}
		agents := append(Agents(s)[3:], EnsemblePlus(k, 3), cosines(s))
		if testing.Short() {
			agents = agents[len(agents)-2:]
		}
		for _, a := range agents {
			a = short(a, 4, 2)
			if err := a.Validate(2, 5); err != nil {
				t.Error(err)
			}
			o.Side = 2
			together := divergences(t, a, s, o)[1]
			o.Side = 1
			alone := divergences(t, a, s, o)[1]
			for i := range s.Problems {
				if x, y := together[i], alone[i]; !(math.Abs(x-y) < 0.01*(1+math.Abs(y))) {
					t.Errorf("%s, problem %d: got %v next to others, %v alone", a.Name, i, x, y)
				}
			}
		}
	}
}

// cosines returns an agent with a Gaussian process of random cosines.
func cosines(s Sweep) Agent {
	settings := []byte(`{"waves":50,"line":"no","prior-variance":0.01}`)
	return must.M1(FromCatalog(s, "cosines", "bayesian-linear", settings, 1))
}

// An agent with a Gaussian process of its own, as from a file, reads the data one by one and knows their noise. With
// many data its functions are far nearer to the exact posterior, and to responses, than with one datum.
func TestRegressionIsLearned(t *testing.T) {
	for _, k := range []Kind{Responses, Functions} {
		var score []float64
		for _, data := range []int{1, 60} {
			s := fewResponses(k, 5, data, 0.1)
			score = append(score, s.score(divergences(t, cosines(s), s, Options{Backend: backend.Go, Batches: 50})[1]).Mean())
		}
		if score[1] > score[0]/3 {
			t.Errorf("kind %d: got scores %v with one datum and with sixty, want a large decrease", k, score)
		}
	}
	a := MLP(Responses)
	p := regressionSweep().Problems[120] // D = 10, T = 100, sigma = 0.01
	n := a.Numbers(p)
	// The decay D/T of classes with rho = 1, added to a mean of squares over 2 sigma^2.
	if got := n["NoiseVariance"] / (n["PriorVariance"] * float64(p.Data)); math.Abs(got/(2*1e-4*10/100)-1) > 1e-9 {
		t.Errorf("weights decay by %v in addition to mean squares", got)
	}
}

// A problem is written with only the fields that it has: files of classification keep their format.
func TestProblemsInRecords(t *testing.T) {
	for want, p := range map[string]Problem{
		`{"number":75,"inputs":2,"data":10,"temperature":0.1,"seed":76}`: Classification2D().Problems[75],
		`{"number":75,"inputs":1,"data":100,"noise":0.1,"seed":76}`:      regressionSweep().Problems[75],
	} {
		var back Problem
		text := must.M1(json.Marshal(p))
		must.M(json.Unmarshal(text, &back))
		if string(text) != want || back != p {
			t.Errorf("%s, want %s; read as %+v", text, want, back)
		}
	}
	r, err := ReadRecord("../../notebooks/results/beyond/testbed/classification.jsonl")
	if err != nil || len(r.Results) == 0 || r.Results[0].Temperature == 0 {
		t.Errorf("got error %v, want none and results with a temperature", err)
	}
}
