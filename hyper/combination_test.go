package hyper

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A Combination is the combination of its networks by z, times the scale of the run. Beside a trained belief it is the
// same prior as an epinet's, up to rounding, if it has the same networks over the same index. Over indices along the
// axes, its second moment is as documented.
func TestCombination(t *testing.T) {
	e := smallEpinet
	e.PriorScale, e.Truncated = 1, true
	b := Combination{Net: e.prior(), P: index.Gaussian{N: 2}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			s := rng.New(in[0])
			x, z := s.Named("x").Normal(4, 2), b.P.Sample(s.Named("z"), 3)
			p := e.Init(s, in[1])
			q := b.Init(s, in[1])
			q.Nu = []*Node{p.Fixed["prior"]}
			none := e
			none.PriorScale = 0
			prior := Sub(e.Predict(p, z, x), none.Predict(p, z, x))
			with := WithPrior{none, b}
			w := with.Init(s, in[1])
			w.Fixed["with.1.0"] = p.Fixed["prior"]
			axes := b.Predict(q, index.Axes(b.P, x.Graph(), 2, 1), x)
			f := b.Net.Apply(q.Nu[0], x)
			second := Mul(ReduceSum(Square(f), 1), InsertAxes(Square(in[1]), -1))
			return []*Node{b.Predict(q, z, x), prior, with.Predict(w, z, x), e.Predict(p, z, x), ReduceMean(Square(axes), 1),
				second}
		}, []uint64{1, 2}, []float32{0.5, 3})
		for i, what := range []string{"of the networks", "with a belief", "second moment"} {
			same(t, what, out[2*i], out[2*i+1], 2*single)
		}
	})
}

// With one-hot indices a Combination is an ensemble of prior networks, equal to a Prior with an InitB.
func TestCombinationOfOneHots(t *testing.T) {
	b := Combination{Net: net, P: index.OneHot{N: 4}, InitNu: InitTruncatedLayers(net, 1/math.Sqrt2)}
	m := Model{net, Ensemble{Particles: 4, Params: 13, InitNu: InitZeros},
		&Prior{Base: net, Layout: Dense(13, 4), InitB: InitTruncatedLayers(net, 1/math.Sqrt2), Output: net.Output()}}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		x, all := s.Named("x").Normal(5, 2), index.OneHot{N: 4}.All(in[0].Graph(), 2)
		p, q := b.Init(s, in[1]), m.Init(s, in[1])
		p.Nu = []*Node{InitTruncatedLayers(net, 1/math.Sqrt2)(s.Named("prior"), 0, 0, 4, 13)}
		return []*Node{b.Predict(p, all, x), m.Predict(q, all, x)}
	}, []uint64{1, 2}, []float32{0.5, 3})
	same(t, "predictions", out[0], out[1], single)
}

func TestCombinationValidate(t *testing.T) {
	for want, b := range map[string]Combination{
		"hyper.Combination: Net: base.MLP: Layers need": {P: index.Gaussian{N: 2}},
		"hyper.Combination: P: ":                        {Net: base.MLP{Layers: []int{2, 1}}},
		"hyper.Combination: Net must predict one numbe": {Net: base.MLP{Layers: []int{2, 3}}, P: index.Gaussian{N: 2}},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A last layer with the testbed's prior, eight small networks, instead of its own prior.
func ExampleCombination() {
	b := NewLastLayer(4)
	b.Dim, b.PriorScale = 8, 0
	w := WithPrior{Belief: b, Prior: Combination{Net: base.MLP{Layers: []int{4, 5, 5, 1}}, P: b.Index()}}
	fmt.Println(w.Validate(), CapabilitiesOf(w).Additive != nil)
	// Output: <nil> true
}
