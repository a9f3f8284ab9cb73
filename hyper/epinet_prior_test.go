package hyper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Before g is trained, here while it is 0, functions vary over z ~ N(0, I) only by the prior: their variance at an
// input x is PriorScale^2 scale^2 sum_i p_i(x)^2. The indices +-sqrt(Dim) e_i have the mean and the covariance of
// N(0, I). The variance over these indices is therefore exact up to rounding.
func TestEpinetPriorVariance(t *testing.T) {
	d, b := newEpinetData(), smallEpinet
	scale := []float64{0.5, 3}
	var want []float64
	for run := range 2 {
		prior := part(d.prior, run, 2)
		n := len(prior) / b.Dim
		for j := range 4 {
			sum := 0.0
			for i := range b.Dim {
				_, p := plainMLP(b.prior(), prior[i*n:(i+1)*n], part(d.x, run*4+j, 8))
				sum += p[0] * p[0]
			}
			want = append(want, b.PriorScale*b.PriorScale*scale[run]*scale[run]*sum)
		}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			p := epinetParams(in)
			p.Nu = []*Node{in[0], ZerosLike(in[1])}
			axes := MulScalar(Const(in[0].Graph(), [][][]float32{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}}), math.Sqrt2)
			f := b.Predict(p, index.Vectors(BroadcastToDims(axes, 2, 4, 2)), in[5])
			return []*Node{ReduceMean(Square(Sub(f, InsertAxes(ReduceMean(f, 1), 1))), 1)}
		}, newEpinetData().args()...)
		same(t, "variance", out[0], want, 2*single)
	})
}

// The matched prior is MatchedScale times an epinet with its own weights. It has the same inputs as g, and is never
// trained. If MatchedScale is 0, no weights are drawn for it, and all other draws stay the same.
func TestEpinetMatchedPrior(t *testing.T) {
	d, b := newEpinetData(), smallEpinet
	b.MatchedScale = 1.5
	matched := random(rand.New(rand.NewPCG(7, 8)), 2, NumTheta(b.epinet()))
	var want []float64
	scale := []float64{0.5, 3}
	for run := range 2 {
		mean, epinet, fixed := part(d.mean, run, 2), part(d.epinet, run, 2), part(matched, run, 2)
		for i := range 3 {
			z := part(d.z, run*3+i, 6)
			for j := range 4 {
				x := part(d.x, run*4+j, 8)
				units, _ := plainMLP(b.mean(), mean, x)
				_, g := plainMLP(b.epinet(), fixed, append(append(append([]float64{}, z...), x...), units...))
				f := plainEpinet(d, run, mean, mean, epinet, z, x)
				for k := range z {
					f += b.MatchedScale * scale[run] * g[k] * z[k]
				}
				want = append(want, f)
			}
		}
	}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		p := epinetParams(in)
		p.Fixed["matched"] = in[6]
		f := b.Predict(p, index.Vectors(in[4]), in[5])
		return append([]*Node{f}, Gradient(ReduceAllSum(f), in[6])...)
	}, append(d.args(), matched)...)
	same(t, "predictions", out[0], want, single)
	same(t, "gradient of the matched prior", out[1], make([]float64, len(out[1])), 0)

	out = eval(t, backend.Go, func(in []*Node) []*Node {
		with, without := b.Init(rng.New(in[0]), nil), smallEpinet.Init(rng.New(in[0]), nil)
		if without.Fixed["matched"] != nil {
			t.Error("a scale of 0 has a matched prior, want none")
		}
		return []*Node{with.Nu[0], without.Nu[0], with.Nu[1], without.Nu[1], with.Fixed["prior"], without.Fixed["prior"],
			with.Fixed["matched"]}
	}, []uint64{1, 2})
	for i := 0; i < 6; i += 2 {
		same(t, "beside a matched prior", out[i], out[i+1], 0)
	}
	if fmt.Sprint(out[6]) == fmt.Sprint(out[2]) {
		t.Error("the matched prior has the epinet's own weights")
	}
}

// With Truncated, networks are drawn by InitTruncatedLayers with biases of 0.
func TestEpinetTruncated(t *testing.T) {
	b := smallEpinet
	b.Truncated = true
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		p := b.Init(s, nil)
		return []*Node{p.Nu[0], InitTruncatedLayers(b.mean(), 0)(s.Named("mean"), 0, 0, NumTheta(b.mean())),
			p.Nu[1], InitTruncatedLayers(b.epinet(), 0)(s.Named("epinet"), 0, 0, NumTheta(b.epinet())),
			p.Fixed["prior"], InitTruncatedLayers(b.prior(), 0)(s.Named("prior"), 0, 0, b.Dim, NumTheta(b.prior()))}
	}, []uint64{1, 2})
	for i := 0; i < len(out); i += 2 {
		same(t, "networks", out[i], out[i+1], 0)
	}
}
