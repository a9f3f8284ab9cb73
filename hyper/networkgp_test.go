package hyper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

var smallGP = NetworkGP{Features: 2, Hidden: []int{4, 3}, Waves: 5, Length: 0.8, PriorScale: 1.5}

// Predictions equal the formula, which the test computes from phi number by number: the network, plus sigma phi(x)^T S
// z, where S S^T is the inverse of I + sigma^2 sum w phi phi^T over five data. The data and their precisions differ
// between runs.
func TestNetworkGP(t *testing.T) {
	const data, inputs, indices, n = 5, 4, 3, 5 + 2 + 1
	b := smallGP
	testbackend.ForEach(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(3, 4))
		seen, x, z := random(r, 2, data, 2), random(r, 2, inputs, 2), random(r, 2, indices, n)
		precisions := []float32{0.3, 2}
		out := eval(t, name, func(in []*Node) []*Node {
			p := b.Init(rng.New(in[0]), in[1])
			before := b.Predict(p, index.Vectors(in[4]), in[3])
			for i := range data {
				p.Kept = b.Keep(p, Slice(in[2], AxisRange(), AxisRange(i, i+1)), in[5])
			}
			phi := func(x *Node) *Node { phi, _ := b.process().Phi(p, x); return phi }
			root := ConvertDType(p.Kept["root"], dtypes.Float32)
			return []*Node{before, b.Predict(p, index.Vectors(in[4]), in[3]), b.network().Apply(p.Nu[0], in[3]), phi(in[3]),
				phi(in[2]), root}
		}, []uint64{5, 6}, []float32{0.5, 2}, seen, x, z, precisions)
		before, after, mean, phi, ofSeen, roots := out[0], out[1], out[2], out[3], out[4], out[5]
		zs := append(part(z, 0, 2), part(z, 1, 2)...)
		for run := range 2 {
			sigma := 1.5 * []float64{0.5, 2}[run] * math.Sqrt(1/(1+2*0.3*0.3))
			precision, q, ss := mat.NewDense(n, n, nil), mat.Dense{}, mat.Dense{}
			for i := range n {
				precision.Set(i, i, 1)
			}
			for i := range data {
				at := mat.NewVecDense(n, ofSeen[(run*data+i)*n:(run*data+i+1)*n])
				precision.RankOne(precision, float64(precisions[run])*sigma*sigma, at, at)
			}
			must.M(q.Inverse(precision))
			root := mat.NewDense(n, n, roots[run*n*n:(run+1)*n*n])
			ss.Mul(root, root.T())
			if !mat.EqualApprox(&ss, &q, 1e-6) {
				t.Errorf("run %d: S S^T is\n%v, want\n%v", run, mat.Formatted(&ss), mat.Formatted(&q))
			}
			var wantBefore, want []float64
			for k := range indices {
				at := mat.NewVecDense(n, zs[(run*indices+k)*n:(run*indices+k+1)*n])
				var theta mat.VecDense
				theta.MulVec(root, at)
				for i := range inputs {
					features := mat.NewVecDense(n, phi[(run*inputs+i)*n:(run*inputs+i+1)*n])
					m := mean[run*inputs+i]
					wantBefore = append(wantBefore, m+sigma*mat.Dot(features, at))
					want = append(want, m+sigma*mat.Dot(features, &theta))
				}
			}
			same(t, "before data", before[run*indices*inputs:(run+1)*indices*inputs], wantBefore, 1e-5)
			same(t, "after data", after[run*indices*inputs:(run+1)*indices*inputs], want, 1e-5)
		}
	})
}

// Before any data, deviations have variance PriorScale^2 over standardised inputs, on average over cosines, inputs and
// indices.
func TestNetworkGPVariance(t *testing.T) {
	const runs = 50
	b := NetworkGP{Features: 3, Hidden: []int{2}, Waves: 40, Length: 1, PriorScale: 1.5}
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	out := eval(t, "go", func(in []*Node) []*Node {
		s := rng.New(in[0])
		p, x := b.Init(s, nil), s.Named("x").Normal(40, 3)
		f := b.Predict(p, b.Index().Sample(s, 40), x)
		return []*Node{Reshape(ReduceAllMean(Square(Sub(f, b.network().Apply(p.Nu[0], x)))), 1)}
	}, seeds)
	if v := out[0][0]; math.Abs(v/2.25-1) > 0.05 {
		t.Errorf("a variance of %.3f, want 2.25", v)
	}
}

// Validate reports every fault at once.
func TestNetworkGPValidate(t *testing.T) {
	for _, b := range []NetworkGP{smallGP, NewNetworkGP(3), NewNetworkGP(3).ForInputs(7).(NetworkGP)} {
		if err := b.Validate(); err != nil {
			t.Error(err)
		}
	}
	err := fmt.Sprint(NetworkGP{Hidden: []int{2}, PriorScale: math.NaN()}.Validate())
	for _, part := range []string{"hyper.NetworkGP: ", "Features", "Waves", "Length", "PriorScale"} {
		if !strings.Contains(err, part) {
			t.Errorf("error %q does not contain %s", err, part)
		}
	}
	if err := fmt.Sprint(NetworkGP{Features: 2, Hidden: []int{0}, Waves: 1, Length: 1}.Validate()); !strings.Contains(err,
		"hyper.NetworkGP: ") {
		t.Errorf("layer without units: got error %s, want one of hyper.NetworkGP", err)
	}
	prior := WithPrior{Belief: smallGP, Prior: BayesianLinear{Features: 2, Waves: 5, Length: 1}}
	if err := fmt.Sprint(prior.Validate()); !strings.Contains(err, "hyper.Conditioned") {
		t.Errorf("with a prior: got error %s, want one of hyper.Conditioned", err)
	}
}

func ExampleNewNetworkGP() {
	b := NewNetworkGP(4)
	b.Hidden, b.Waves = []int{8}, 20
	fmt.Println(b.Validate(), b.NumInvolved(), b.NumKept())
	// Output: <nil> 49 625
}
