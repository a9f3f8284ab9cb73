package hyper

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// blockBelief has 2 blocks of 3 features, and a phi of 4 + 3 + 1 numbers.
var blockBelief = BayesianLinear{Features: 6, Blocks: 2, Waves: 4, Length: 0.8}

// blockInputs returns four inputs of blockBelief for each of two runs: two of the first block and two of the second.
// The last two are equal.
func blockInputs(r *rand.Rand) *tensors.Tensor {
	v := make([]float32, 2*4*6)
	for i := range 2 * 4 {
		for j := range 3 {
			v[i*6+i%4/2*3+j] = float32(r.NormFloat64())
		}
	}
	for run := range 2 {
		copy(v[run*24+18:run*24+24], v[run*24+12:run*24+18])
	}
	return tensors.FromFlatDataAndDimensions(v, 2, 4, 6)
}

// withBelief calls f with parameters of a belief drawn from two seeds, in which mu and S are replaced by random
// numbers.
func withBelief(t *testing.T, name string, b BayesianLinear, r *rand.Rand, x *tensors.Tensor,
	f func(p Params, s rng.Stream, x *Node) []*Node) [][]float64 {
	t.Helper()
	mu, root := random(r, 2, b.NumTheta()), random(r, 2, b.blocks(), b.size(), b.size())
	d := b.width() + 1
	line := random(r, 2, b.blocks(), d, d)
	return eval(t, name, func(in []*Node) []*Node {
		s := rng.New(in[0])
		p := b.Init(s, in[1])
		if p.Nu = in[2:4]; b.Line {
			p.Nu = in[2:6]
		}
		return f(p, s, in[6])
	}, []uint64{5, 6}, []float32{0.5, 2}, mu, root, line, []float32{0.25, 0.9}, x)
}

// Predict returns phi(x)^T (mu + sigma_p S z) in the block of the input. The test computes it from phi in plain Go.
func TestBayesianLinearPredicts(t *testing.T) {
	b := blockBelief
	n := b.size()
	testbackend.ForEach(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(3, 4))
		x := blockInputs(r)
		out := withBelief(t, name, b, r, x, func(p Params, s rng.Stream, x *Node) []*Node {
			phi, block := b.Phi(p, x)
			z := s.Named("z").Normal(3, b.NumTheta())
			return []*Node{b.Predict(p, index.Vectors(z), x), phi, ConvertDType(block, x.DType()), z, p.Nu[0], p.Nu[1]}
		})
		f, phi, block, z, mu, root := out[0], out[1], out[2], out[3], out[4], out[5]
		var want []float64
		for run := range 2 {
			scale := []float64{0.5, 2}[run]
			for k := range 3 {
				for i := range 4 {
					at := int(block[run*4+i])
					if at != i/2 {
						t.Fatalf("input %d is in block %d, want half of its number", i, at)
					}
					sum := 0.0
					for p := range n {
						theta := mu[run*2*n+at*n+p]
						for q := range n {
							theta += scale * root[((run*2+at)*n+p)*n+q] * z[(run*3+k)*2*n+at*n+q]
						}
						sum += phi[(run*4+i)*n+p] * theta
					}
					want = append(want, sum)
				}
			}
		}
		same(t, name, f, want, 1e-5)
	})
}

// With Line, functions have the mean and the covariances of the mixture of two regressions: at indices z, in moments,
// and in plain Go. The test computes them from phi, and from the means, the roots and the shares of both regressions.
func TestBayesianLinearWithLine(t *testing.T) {
	b := blockBelief
	b.Line = true
	const inputs, whole, deviations = 4, 8 + 4, 8 + 4 + 1
	r := rand.New(rand.NewPCG(3, 4))
	out := withBelief(t, backend.Go, b, r, blockInputs(r), func(p Params, s rng.Stream, x *Node) []*Node {
		phi, block := b.Phi(p, x)
		z := s.Named("z").Normal(1, b.Index().Dim())
		mean, root := b.moments(p, phi, block)
		return append([]*Node{b.Predict(p, index.Vectors(z), x), phi, z, mean, root, x}, p.Nu...)
	})
	f, phi, z, mean, root, x, nu := out[0], out[1], out[2], out[3], out[4], out[5], out[6:]
	var predicted, means, roots []float64
	for run := range 2 {
		scale, share := []float64{0.5, 2}[run], []float64{0.25, 0.9}[run]
		p := HostParams{Fixed: map[string][]float32{"scale": {float32(scale)}}}
		for _, part := range nu {
			p.Nu = append(p.Nu, narrowed(part[run*len(part)/2:(run+1)*len(part)/2]))
		}
		for i := range inputs {
			block := i / 2
			at := phi[(run*inputs+i)*whole : (run*inputs+i+1)*whole]
			mu := nu[0][(run*2+block)*whole:]
			own, own2 := make([]float64, deviations), [2]float64{}
			for j, of := range b.spans() {
				n, weight := of.Size(), []float64{1 - share, share}[j]
				s := nu[1+j][(run*2+block)*n*n:]
				for q := range n {
					own2[j] += at[of.From+q] * mu[of.From+q]
					for k := range n {
						own[of.From+q] += scale * math.Sqrt(weight) * at[of.From+k] * s[k*n+q]
					}
				}
			}
			own[whole] = math.Sqrt(share*(1-share)) * (own2[1] - own2[0])
			means, roots = append(means, (1-share)*own2[0]+share*own2[1]), append(roots, own...)
			value := means[len(means)-1]
			for q, v := range own {
				value += v * z[(run*2+block)*deviations+q]
			}
			predicted = append(predicted, value)

			hosted := make([]float32, deviations)
			m := b.hostMoments(p, b.flatBlocks(p)[block], narrowed(at), hosted)
			for q := range hosted {
				hosted[q] *= float32(scale)
			}
			same(t, "mean in plain Go", []float64{float64(m)}, means[len(means)-1:], 1e-5)
			same(t, "root in plain Go", wide(hosted), own, 1e-5)
		}
	}
	same(t, "predictions", f, predicted, 1e-5)
	same(t, "means", mean, means, 1e-5)
	same(t, "roots", root, roots, 1e-5)
	for i := range 2 * inputs { // the line sees x and an intercept, with the prior variance of the cosines
		line, numbers := phi[i*whole+8:(i+1)*whole], x[i*6+i%4/2*3:]
		for k, v := range line {
			want := []float64{numbers[0], numbers[1], numbers[2], 1}[k] * math.Sqrt(1.18/4)
			same(t, "line", []float64{v}, []float64{want}, 1e-5)
		}
	}
}

func narrowed(x []float64) (out []float32) {
	for _, v := range x {
		out = append(out, float32(v))
	}
	return out
}

func wide(x []float32) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// Numbered inputs give the same results as inputs in blocks.
func TestBayesianLinearNumbers(t *testing.T) {
	b, r := blockBelief, rand.New(rand.NewPCG(1, 2))
	x := blockInputs(r)
	out := withBelief(t, backend.Go, b, r, x, func(p Params, _ rng.Stream, x *Node) []*Node {
		short := b
		short.Features, short.Numbered = 4, true
		number := ConvertDType(Const(x.Graph(), [][][]int32{{{0}, {0}, {1}, {1}}}), x.DType())
		number = BroadcastToDims(number, 2, 4, 1)
		own := ReduceSum(Reshape(x, 2, 4, 2, 3), 2)
		phi, at := b.Phi(p, x)
		sameP, sameAt := short.Phi(p, Concatenate([]*Node{number, own}, 2))
		return []*Node{Concatenate([]*Node{phi, ConvertDType(InsertAxes(at, -1), x.DType())}, 2),
			Concatenate([]*Node{sameP, ConvertDType(InsertAxes(sameAt, -1), x.DType())}, 2)}
	})
	same(t, "phi and block", out[1], out[0], 0)
}

// The cosines have the kernel exp(-|x - y|^2 / (2 d Length^2)), up to an error that shrinks with the number of cosines.
// The linear part and the intercept each add about a tenth of this.
func TestBayesianLinearIsAGaussianProcess(t *testing.T) {
	b := BayesianLinear{Features: 2, Waves: 20_000, Length: 0.7}
	x := tensors.FromValue([][][]float32{{{0, 0}, {1, 0}, {-0.5, 2}}})
	phi := eval(t, backend.Go, func(in []*Node) []*Node {
		p := b.Init(rng.New(in[0]), nil)
		phi, _ := b.Phi(p, in[1])
		return []*Node{Einsum("rip,rjp->rij", phi, phi)}
	}, []uint64{9}, x)[0]
	at := [][]float64{{0, 0}, {1, 0}, {-0.5, 2}}
	var want []float64
	for _, u := range at {
		for _, v := range at {
			d2 := (u[0]-v[0])*(u[0]-v[0]) + (u[1]-v[1])*(u[1]-v[1])
			want = append(want, math.Exp(-d2/(2*2*0.7*0.7))+0.09*(1+(u[0]*v[0]+u[1]*v[1])/2))
		}
	}
	same(t, "kernel", phi, want, 0.02)
}

// The values that Draw returns have the means and the covariances of Predict at indices z ~ N(0, I), which follow from
// phi, mu and S. Values of equal inputs are equal, and values of two blocks are independent. The test uses 40,000
// functions, or 4,000 if there are many inputs, and bounds of 5 standard errors.
func TestBayesianLinearDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many functions")
	}
	r := rand.New(rand.NewPCG(7, 8))
	one, line := BayesianLinear{Features: 6, Waves: 4, Length: 0.8}, blockBelief
	line.Line = true
	for name, b := range map[string]BayesianLinear{"blocks": blockBelief, "one block": one, "many inputs": blockBelief,
		"more than are joint": blockBelief, "line": line, "line, more than are joint": line} {
		draws, copies := 10_000, map[string]int{"many inputs": 9, "more than are joint": mostJoint/4 + 1,
			"line, more than are joint": mostJoint/4 + 1}[name]
		if copies > 9 {
			draws = 4000
		}
		x := blockInputs(rand.New(rand.NewPCG(1, 2)))
		out := withBelief(t, backend.Go, b, r, x, func(p Params, s rng.Stream, x *Node) []*Node {
			values := Sample(b, p, s.Named("draw"), draws, x)
			if copies > 0 {
				many := Concatenate(slices.Repeat([]*Node{x}, copies), 1)
				values = Slice(Sample(b, p, s.Named("draw"), draws, many), AxisRange(), AxisRange(), AxisRange(0, 4))
			}
			phi, block := b.Phi(p, x)
			mean, root := b.moments(p, phi, block)
			same := ConvertDType(Equal(InsertAxes(block, -1), InsertAxes(block, 1)), x.DType())
			return []*Node{values, mean, Mul(same, Einsum("riq,rjq->rij", root, root))}
		})
		f, mean, covariance := out[0], out[1], out[2]
		for run := range 2 {
			value := func(k, i int) float64 { return f[(run*draws+k)*4+i] - mean[run*4+i] }
			for i := range 4 {
				for j := range 4 {
					m, c, c2 := 0.0, 0.0, 0.0
					for k := range draws {
						m += value(k, i) / float64(draws)
						v := value(k, i) * value(k, j)
						c, c2 = c+v/float64(draws), c2+v*v/float64(draws)
					}
					want := covariance[(run*4+i)*4+j]
					if e := 5 * math.Sqrt(math.Abs(c2-c*c)/float64(draws)); math.Abs(c-want) > e+1e-4 {
						t.Errorf("%s: covariance of %d and %d is %g, want %g +- %g", name, i, j, c, want, e)
					}
					if e := 5 * math.Sqrt(covariance[(run*4+i)*4+i]/float64(draws)); math.Abs(m) > e {
						t.Errorf("%s: mean %d has an error of %g, want at most %g", name, i, m, e)
					}
				}
			}
			for k := range draws {
				if d := math.Abs(value(k, 2) - value(k, 3)); d > 1e-2*(1+math.Abs(value(k, 2))) {
					t.Fatalf("%s: function %d has values at one input that differ by %g", name, k, d)
				}
			}
		}
	}
}

// Validate reports each invalid field.
func TestWrongBayesianLinear(t *testing.T) {
	for want, b := range map[string]BayesianLinear{
		"Features must be at least 1":           {},
		"Features must be a multiple of Blocks": {Features: 5, Blocks: 2},
		"Features must be 2 or more with":       {Features: 1, Blocks: 2, Numbered: true},
		"Waves must be at least 0":              {Features: 1, Waves: -1},
		"Length must be positive":               {Features: 1, Waves: 1, Length: math.NaN()},
		"Blocks must be at least 0":             {Features: 1, Blocks: -1},
		"Waves must be 1 at least with Line":    {Features: 1, Line: true},
		"Blocks x size x size would be":         {Features: 100_000},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", b, err, want)
		}
	}
}
