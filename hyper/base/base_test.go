package base

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

const runs, indices, inputs = 2, 3, 4

// eval runs a graph function once.
var eval = testbackend.Eval[float32]

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// same compares up to 5e-6 of the largest number: some hundred roundings of single precision.
func same(t testing.TB, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	largest := 1.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(float64(got[i])-want[i]) <= 5e-6*largest) {
			t.Errorf("%s: entry %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

// forward is an MLP in plain Go. It returns the outputs at one input.
func forward(b MLP, theta, x []float64) []float64 {
	for layer := range len(b.Layers) - 1 {
		in, out := b.Layers[layer], b.Layers[layer+1]
		next := make([]float64, out)
		for o := range next {
			next[o] = theta[in*out+o] // bias
			for i := range in {
				next[o] += theta[o*in+i] * x[i]
			}
			if layer == len(b.Layers)-2 {
				continue
			}
			switch b.Activation {
			case ActivationTanh:
				next[o] = math.Tanh(next[o])
			case 0, ActivationReLU:
				next[o] = max(next[o], 0)
			}
		}
		theta, x = theta[b.Groups()[layer]:], next
	}
	return x
}

func floats(v []float32) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

// MLPs of every activation and several depths compute the same as loops over the weights, for every run, index and
// input.
func TestMLP(t *testing.T) {
	for _, b := range []MLP{
		{Layers: []int{3, 1}},
		{Layers: []int{3, 4, 1}},
		{Layers: []int{2, 4, 3, 1}, Activation: ActivationTanh},
		{Layers: []int{3, 2, 2}, Activation: ActivationIdentity},
		{Layers: []int{3, 5, 2}, Activation: ActivationReLU},
	} {
		must.M(b.Validate())
		n, features, outputs := 0, b.Layers[0], b.Layers[len(b.Layers)-1]
		for _, g := range b.Groups() {
			n += g
		}
		r := rand.New(rand.NewPCG(1, 2))
		theta, x := random(r, runs*indices*n), random(r, runs*inputs*features)
		want := make([]float64, 0, runs*indices*outputs*inputs)
		for run := range runs {
			for i := range indices {
				parameters := floats(theta[(run*indices+i)*n:][:n])
				for o := range outputs {
					for j := range inputs {
						want = append(want, forward(b, parameters, floats(x[(run*inputs+j)*features:][:features]))[o])
					}
				}
			}
		}
		testbackend.ForEach(t, func(t *testing.T, name string) {
			got := eval(t, name, func(in []*Node) []*Node {
				if outputs == 1 {
					return []*Node{b.Outputs(in[0], in[1]), b.Apply(in[0], in[1])}
				}
				return []*Node{b.Outputs(in[0], in[1])}
			}, tensors.FromFlatDataAndDimensions(theta, runs, indices, n),
				tensors.FromFlatDataAndDimensions(x, runs, inputs, features))
			for _, out := range got {
				same(t, fmt.Sprint(b), out, want)
			}
		})
	}
}

func TestMLPValidate(t *testing.T) {
	for _, b := range []MLP{{}, {Layers: []int{3}}, {Layers: []int{3, 0, 1}}, {Layers: []int{3, 1}, Activation: -1}} {
		if b.Validate() == nil {
			t.Errorf("invalid %v is accepted", b)
		}
	}
}

// A tabular model equals the linear model of one-hot features, in its predictions and in the three operations on data.
func TestTabularIsLinearInOneHots(t *testing.T) {
	const arms, columns = 3, 2
	r := rand.New(rand.NewPCG(3, 4))
	played := make([]int32, runs*inputs)
	features := make([]float32, runs*inputs*arms)
	for i := range played {
		played[i] = int32(r.IntN(arms))
		features[i*arms+int(played[i])] = 1
	}
	theta, v, w := random(r, runs*indices*arms), random(r, runs*inputs*columns), random(r, runs*arms*columns)
	table, line := Tabular{arms}, Linear{Features: arms}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			x, phi, theta, v, w := in[0], in[1], in[2], in[3], in[4]
			return []*Node{
				table.Apply(theta, x), line.Apply(theta, phi),
				table.Project(x, v), line.Project(phi, v),
				table.GramMul(table.Gram(x), w), line.GramMul(line.Gram(phi), w),
				table.GramMul(table.NoData(x.Graph(), runs), w), line.GramMul(line.NoData(x.Graph(), runs), w),
				table.Apply(theta, nil), theta,
			}
		}, tensors.FromFlatDataAndDimensions(played, runs, inputs, 1),
			tensors.FromFlatDataAndDimensions(features, runs, inputs, arms),
			tensors.FromFlatDataAndDimensions(theta, runs, indices, arms),
			tensors.FromFlatDataAndDimensions(v, runs, inputs, columns),
			tensors.FromFlatDataAndDimensions(w, runs, arms, columns))
		for i, what := range []string{"Apply", "Project", "GramMul", "no data", "all arms"} {
			same(t, what, out[2*i], floats(out[2*i+1]))
		}
	})
}

// The linear model's operations equal sums over the data in plain Go.
func TestLinear(t *testing.T) {
	const features = 3
	r := rand.New(rand.NewPCG(5, 6))
	x, v, w, theta := random(r, runs*inputs*features), random(r, runs*inputs), random(r, runs*features),
		random(r, runs*features)
	b := Linear{Features: features}
	var apply, project, gramMul []float64
	for run := range runs {
		sum, gram := make([]float64, features), make([]float64, features)
		for j := range inputs {
			phi := x[(run*inputs+j)*features:][:features]
			f, fw := 0.0, 0.0
			for i := range phi {
				f += float64(phi[i]) * float64(theta[run*features+i])
				fw += float64(phi[i]) * float64(w[run*features+i])
			}
			for i := range phi {
				sum[i] += float64(phi[i]) * float64(v[run*inputs+j])
				gram[i] += float64(phi[i]) * fw
			}
			apply = append(apply, f)
		}
		project, gramMul = append(project, sum...), append(gramMul, gram...)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			return []*Node{b.Apply(in[3], in[0]), b.Project(in[0], in[1]), b.GramMul(b.Gram(in[0]), in[2])}
		}, tensors.FromFlatDataAndDimensions(x, runs, inputs, features),
			tensors.FromFlatDataAndDimensions(v, runs, inputs, 1),
			tensors.FromFlatDataAndDimensions(w, runs, features, 1), tensors.FromFlatDataAndDimensions(theta, runs, 1, features))
		same(t, "Apply", out[0], apply)
		same(t, "Project", out[1], project)
		same(t, "GramMul", out[2], gramMul)
	})
}

// The network size of section 4.2, 20-10-10-1: 210 + 110 + 11 parameters.
func ExampleMLP_Groups() {
	fmt.Println(MLP{Layers: []int{20, 10, 10, 1}}.Groups())
	// Output: [210 110 11]
}

// 2 x_1 - x_2 + 5 at (3, 1) and (0, 0).
func ExampleLinear() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	line := Linear{Features: 2, Intercept: true}
	f, err := CallOnce(b, line.Apply, [][][]float32{{{2, -1, 5}}}, [][][]float32{{{3, 1}, {0, 0}}})
	fmt.Println(line.Groups(), f.Value(), err)
	// Output: [3] [[[10 5]]] <nil>
}

// One number for each of three arms, here looked up for arms 2 and 0.
func ExampleTabular() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	arms := Tabular{Arms: 3}
	f, err := CallOnce(b, arms.Apply, [][][]float32{{{10, 20, 30}}}, [][][]int32{{{2}, {0}}})
	fmt.Println(arms.Groups(), f.Value(), err)
	// Output: [3] [[[30 10]]] <nil>
}

// A network 1-1-1 that computes max(x - 1, 0) * 2 + 3.
func ExampleMLP() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	net := MLP{Layers: []int{1, 1, 1}}
	f, err := CallOnce(b, net.Apply, [][][]float32{{{1, -1, 2, 3}}}, [][][]float32{{{0}, {2}}})
	fmt.Println(f.Value(), err)
	// Output: [[[3 5]]] <nil>
}
