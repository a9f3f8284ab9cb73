package hyper

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// withPriors returns a belief with a prior of another kind, a belief with two priors, and a belief whose prior has a
// prior. With each it returns the beliefs that are added.
func withPriors() map[string]struct {
	WithPrior
	parts []Belief
} {
	p, net := index.Gaussian{N: 3}, base.MLP{Layers: []int{2, 3, 1}}
	line := Model{Base: base.Linear{Features: 2}, Hyper: Linear{Layout: Dense(2, 3), P: p}}
	hypernet := Model{Base: net, Hyper: Network{P: p, Hidden: []int{4}, Params: NumTheta(net)}}
	own := Model{Base: net, Hyper: Linear{Layout: Dense(13, 3), P: p},
		Prior: &Prior{Base: base.MLP{Layers: []int{2, 2, 1}}, Layout: Dense(9, 3)}}
	type c = struct {
		WithPrior
		parts []Belief
	}
	return map[string]c{
		"one":    {WithPrior{line, hypernet}, []Belief{line, hypernet}},
		"nested": {WithPrior{WithPrior{own, hypernet}, own}, []Belief{own, hypernet, own}},
		"prior":  {WithPrior{line, WithPrior{own, line}}, []Belief{line, own, line}},
	}
}

// streams returns the streams of the parts of a belief of withPriors.
func streams(name string, s rng.Stream) []rng.Stream {
	switch name {
	case "one":
		return []rng.Stream{s, s.Named("with.1.")}
	case "nested":
		return []rng.Stream{s, s.Named("with.1."), s.Named("with.2.")}
	}
	inner := s.Named("with.1.")
	return []rng.Stream{s, inner, inner.Named("with.1.")}
}

// Predictions are the sum of the predictions of the parts. Each part draws what it would draw alone, from a separate
// stream. The trained parameters are the parameters of the trained belief. The fixed part is the sum without the
// trained part, also for several steps at once. No gradient flows into the priors.
func TestWithPriorIsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, many := random(r, 2, 5, 2), random(r, 6, 5, 2)
	for name, w := range withPriors() {
		must.M(w.Validate())
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			s := rng.New(in[0])
			scale := Const(in[0].Graph(), []float32{0.5, 3})
			p, z := w.Init(s.Named("init"), scale), w.Index().Sample(s.Named("z"), 12)
			var sum, alone *Node
			for i, part := range streams(name, s.Named("init")) {
				alone = w.parts[i].Predict(w.parts[i].Init(part, scale), z, in[1])
				if sum == nil {
					sum = alone
				} else {
					sum = Add(sum, alone)
				}
			}
			f := w.Predict(p, z, in[1])
			grads := Gradient(ReduceAllSum(Square(f)), append(p.Nu, p.Fixed["with.1.0"])...)
			first := w.Belief
			for inner, ok := first.(WithPrior); ok; inner, ok = first.(WithPrior) {
				first = inner.Belief
			}
			model := first.(Model)
			trained := model.Base.Apply(model.Hyper.Theta(p.Nu, z), in[1])
			out := []*Node{f, sum, Add(w.FixedPart(p, z, in[1], 1), trained), ReduceAllMax(Abs(grads[0])),
				ReduceAllMax(Abs(grads[len(grads)-1]))}
			// Three steps, each with 4 indices and its own inputs.
			steps := w.FixedPart(p, z, in[2], 3)
			for i := range 3 {
				at := func(x *Node) *Node {
					return Squeeze(Slice(Reshape(x, 2, 3, -1, x.Shape().Dim(2)), AxisRange(), AxisElem(i)), 1)
				}
				out = append(out, w.FixedPart(p, z.Slice(4*i, 4*i+4), at(in[2]), 1), at(steps))
			}
			return out
		}, []uint64{1, 2}, x, many)
		same(t, name+": sum", out[0], out[1], single)
		same(t, name+": fixed and trained part", out[2], out[0], single)
		if out[3][0] == 0 || out[4][0] != 0 {
			t.Errorf("%s: the gradient of the trained part has the size %v, the prior's %v, want 0 for the prior",
				name, out[3], out[4])
		}
		for i := range 3 {
			same(t, fmt.Sprintf("%s: step %d", name, i), out[6+2*i], out[5+2*i], single)
		}
	}
}

// The fixed part at every index at once equals the fixed part at each index, in each step.
func TestWithPriorAtEveryIndex(t *testing.T) {
	net := base.MLP{Layers: []int{2, 3, 1}}
	ensemble := Model{Base: net, Hyper: Ensemble{Particles: 4, Params: 13}}
	w := WithPrior{ensemble, Model{Base: net, Hyper: Ensemble{Particles: 4, Params: 13, InitNu: InitNormal(1)}}}
	x := random(rand.New(rand.NewPCG(1, 2)), 4, 5, 2)
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		p, all := w.Init(s, nil), index.OneHot{N: 4}.All(in[0].Graph(), 2)
		steps := Reshape(w.FixedPart(p, all, in[1], 2), 2, 2, 4, 5)
		x := Reshape(in[1], 2, 2, 5, 2)
		out := []*Node{}
		for i := range 2 {
			at := func(x *Node) *Node { return Squeeze(Slice(x, AxisRange(), AxisElem(i)), 1) }
			out = append(out, at(steps), w.FixedPart(p, all, at(x), 1))
		}
		return out
	}, []uint64{1, 2}, x)
	same(t, "first step", out[0], out[1], single)
	same(t, "second step", out[2], out[3], single)
}

// A WithPrior has the capabilities of the trained belief, except Marginals, which would not include the prior.
func TestWithPriorCapabilities(t *testing.T) {
	arms := base.Tabular{Arms: 3}
	m := Model{Base: arms, Hyper: Linear{Layout: PerParameter(3, 2), P: index.PerArm{Arms: 3, M: 2}}}
	got, want := WithPrior{m, m}.Capabilities(), m.Capabilities()
	if want.Marginals == nil || got.Marginals != nil || got.Additive == nil || want.Additive != nil {
		t.Errorf("Marginals %v and Additive %v, the belief's %v and %v", got.Marginals, got.Additive, want.Marginals,
			want.Additive)
	}
	if got.Parametric == nil || got.Linear == nil || got.Affine == nil {
		t.Errorf("got capabilities %+v, want those of %+v", got, want)
	}
	net := base.MLP{Layers: []int{2, 1}}
	particles := Model{Base: net, Hyper: Ensemble{Particles: 2, Params: 3}}
	field := Model{Base: net, Hyper: MeanField{Params: 3}}
	if c := (WithPrior{particles, particles}).Capabilities(); c.Particles == nil || c.Gradient == nil {
		t.Errorf("an ensemble has the capabilities %+v", c)
	}
	if c := (WithPrior{field, field}).Capabilities(); c.Variational == nil {
		t.Errorf("a mean field has the capabilities %+v", c)
	}
}

func TestWithPriorValidate(t *testing.T) {
	net := base.MLP{Layers: []int{2, 1}}
	ensemble := func(n int) Model { return Model{Base: net, Hyper: Ensemble{Particles: n, Params: 3}} }
	for want, w := range map[string]WithPrior{
		"Prior is missing":                {Belief: ensemble(2)},
		"Belief is a pointer":             {&WithPrior{ensemble(2), ensemble(2)}, ensemble(2)},
		"Prior: hyper.Ensemble: Particle": {ensemble(2), ensemble(0)},
		"features, but Prior of 0": {ensemble(2), Model{Base: base.Tabular{Arms: 3},
			Hyper: Ensemble{Particles: 2, Params: 3}}},
		"indices of index.OneHot {N:2}": {ensemble(2), ensemble(3)},
	} {
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A network with a hypernetwork as its prior: before any data its predictions are the prior's.
func ExampleWithPrior() {
	p, net := index.Gaussian{N: 8}, base.MLP{Layers: []int{4, 20, 1}}
	b := WithPrior{
		Belief: Model{Base: net, Hyper: Linear{Layout: Dense(NumTheta(net), 8), P: p, InitC: InitZeros, InitM: InitZeros}},
		Prior:  Model{Base: net, Hyper: Network{P: p, Hidden: []int{16}, Params: NumTheta(net)}},
	}
	fmt.Println(b.Validate(), CapabilitiesOf(b).Additive != nil)
	// Output: <nil> true
}
