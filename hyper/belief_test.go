package hyper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

func init() { testbackend.CompileQuickly() }

// conforming returns beliefs of every kind, with their capabilities: one letter for each field of Capabilities, in the
// order of the fields.
func conforming() map[string]struct {
	Belief
	can string
} {
	type row = struct {
		Belief
		can string
	}
	wide := base.MLP{Layers: []int{2, 5, 3, 1}} // 34 parameters
	thirteen := PerParameter(13, 1)
	out := map[string]row{
		"MLP, matched networks": {Model{net, Ensemble{Particles: 4, Params: 13},
			&Prior{Base: net, Layout: Dense(13, 4), InitB: InitTruncatedLayers(net, 0.7), Output: net.Output()}}, ""},
		"MLP, no prior": {Model{net, Ensemble{Particles: 4, Params: 13}, nil}, ""},
		"prior in parameters": {Model{net, Linear{Layout: thirteen, P: index.Gaussian{N: 13}},
			&Prior{Layout: thirteen}}, ""},
		"no prior, diagonal": {Model{line, Linear{Layout: PerParameter(2, 3), P: index.Gaussian{N: 6}}, nil}, ""},
		"line, diagonal": {Model{line, Linear{Layout: PerParameter(2, 3), P: index.Gaussian{N: 6}},
			&Prior{Base: line, Layout: PerParameter(2, 3)}}, ""},
		"intercept": {Model{base.Linear{Features: 2, Intercept: true},
			Linear{Layout: Dense(3, 4), P: index.Gaussian{N: 4}}, nil}, ""},
		"Bayes by Backprop":     {Model{net, MeanField{Params: 13}, nil}, ""},
		"mean field of a line":  {Model{line, MeanField{Params: 2}, &Prior{Base: net, Layout: Dense(13, 2)}}, ""},
		"dropout":               {Model{wide, Dropout{Net: wide, Keep: 0.5}, nil}, ""},
		"one-sparse":            {Model{line, OneSparse{N: 2, Alpha: 0.01, Beta: 3}, nil}, ""},
		"somebody else's":       {plane{}, ""},
		"a network of one-hots": {Model{net, Network{P: index.OneHot{N: 3}, Params: 13}, nil}, ""},
	}
	for what, m := range models {
		out[what] = row{m, ""}
	}
	for what, can := range map[string]string{
		"per arm":               "P-LA--M-",
		"arms, ensemble":        "P-L-R---",
		"line, dense":           "P-LA----",
		"line, MLP prior":       "P+LA----",
		"MLP, per group":        "P+-A---G",
		"MLP, ensemble":         "P+--R--G",
		"MLP, network":          "P+-----G",
		"MLP, matched networks": "P+--R--G",
		"blocks of ensemble":    "P-L-R---",
		"MLP, no prior":         "P---R--G",
		"prior in parameters":   "P--A---G",
		"no prior, diagonal":    "P-LA--M-",
		"line, diagonal":        "P-LA--M-",
		"intercept":             "P-LA----",
		"Bayes by Backprop":     "P----V-G",
		"mean field of a line":  "P+L--V--",
		"dropout":               "P------G",
		"one-sparse":            "P-L-----",
		"somebody else's":       "--------",
		"a network of one-hots": "P------G",
	} {
		out[what] = row{out[what].Belief, can}
	}
	return out
}

// letters returns a letter for each capability of a belief.
func letters(c Capabilities) string {
	out := ""
	for _, is := range []struct {
		it     bool
		letter string
	}{{c.Parametric != nil, "P"}, {c.Additive != nil, "+"}, {c.Linear != nil, "L"}, {c.Affine != nil, "A"},
		{c.Particles != nil, "R"},
		{c.Variational != nil, "V"}, {c.Marginals != nil, "M"}, {c.Gradient != nil, "G"}} {
		if !is.it {
			is.letter = "-"
		}
		out += is.letter
	}
	return out
}

// plane is a belief that is not a Model and can only predict: z is the slope of the plane, and nu its height.
type plane struct{}

func (plane) Index() index.Distribution { return index.Gaussian{N: 2} }

func (plane) Init(s rng.Stream, _ *Node) Params {
	nu := []*Node{s.Normal(1)}
	return Params{Nu: nu}
}

func (plane) Predict(p Params, z index.Set, x *Node) *Node {
	return Add(Einsum("rnf,rbf->rnb", z.Dense(), x), InsertAxes(p.Nu[0], 1))
}

// conformance compares the capabilities of a belief with its predictions.
type conformance struct {
	p    Params
	z    index.Set
	x    *Node // [runs, inputs, ...]
	s    rng.Stream
	out  []*Node
	what []string
}

// same records that two nodes must be equal.
func (c *conformance) same(what string, got, want *Node) {
	got.AssertDims(want.Shape().Dimensions...)
	c.out, c.what = append(c.out, got, want), append(c.what, what)
}

// of compares all capabilities of a belief with its predictions.
func (c *conformance) of(b Belief) {
	can, all := CapabilitiesOf(b), b.Predict(c.p, c.z, c.x)
	all.AssertDims(runs, c.z.Len(), inputs)
	trained := all
	if can.Additive != nil {
		trained = Sub(all, can.Additive.FixedPart(c.p, c.z, c.x, 1))
		c.steps(b, can.Additive)
	}
	if can.Parametric == nil {
		return
	}
	theta := can.Parametric.Trained(c.p.Nu, c.z)
	theta.AssertDims(runs, c.z.Len(), can.Parametric.NumTheta())
	c.forms(can, theta)
	whole := can.Parametric.Complete(theta, c.p, c.z)
	if can.Linear != nil {
		c.same("Linear.Apply", can.Linear.Apply(whole, c.x), trained)
		c.linear(can.Linear, whole)
	}
	if can.Marginals != nil {
		c.same("Marginals.PredictAt", can.Marginals.PredictAt(whole, c.x), all)
	}
	if can.Gradient != nil {
		f, backward := can.Gradient.Forward(whole, c.x)
		c.same("Gradient.Forward", f, trained)
		df := c.s.Named("df").Normal(f.Shape().Dimensions[1:]...)
		c.same("Gradient backward", backward(df), Gradient(ReduceAllSum(Mul(f, df)), whole)[0])
	}
}

// forms compares theta with the formulas of Affine and Particles.
func (c *conformance) forms(can Capabilities, theta *Node) {
	if can.Affine != nil {
		z, nu := c.z.Dense(), c.p.Nu
		c.same("Affine", Add(InsertAxes(nu[0], 1), Einsum("rpz,rnz->rnp", can.Affine.Structure().Expand(nu[1]), z)), theta)
		if db, layout := can.Affine.PriorMatrix(c.p); db != nil {
			prior := can.Parametric.Complete(ZerosLike(theta), c.p, c.z)
			c.same("Affine.PriorMatrix", Einsum("rpz,rnz->rnp", layout.Expand(db), z), prior)
		} else {
			c.same("no Affine.PriorMatrix", can.Parametric.Complete(theta, c.p, c.z), theta)
		}
	}
	if can.Particles != nil {
		c.p.Nu[0].AssertDims(runs, can.Particles.NumParticles(), can.Parametric.NumTheta())
		c.same("Particles", Einsum("rnz,rzp->rnp", c.z.Dense(), c.p.Nu[0]), theta)
	}
}

// linear compares the operations on data with products of phi(x), which is the gradient of the predictions.
func (c *conformance) linear(b LinearBase, theta *Node) {
	var rows []*Node // phi(x) of each input, [runs, N_theta]
	alone := Slice(theta, AxisRange(), AxisRange(0, 1))
	for i := range inputs {
		f := b.Apply(alone, take(c.x, 1, i))
		rows = append(rows, Squeeze(Gradient(ReduceAllSum(f), alone)[0], 1))
	}
	phi := Stack(rows, 1) // [runs, inputs, N_theta]
	v, w := c.s.Named("v").Normal(inputs, 2), c.s.Named("w").Normal(phi.Shape().Dim(2), 2)
	c.same("Linear.Project", b.Project(c.x, v), Einsum("rbp,rbc->rpc", phi, v))
	product := Einsum("rbp,rbc->rpc", phi, Einsum("rbp,rpc->rbc", phi, w))
	c.same("Linear.GramMul", b.GramMul(b.Gram(c.x), w), product)
	c.same("Linear.NoData", b.GramMul(Add(b.NoData(v.Graph(), runs), b.Gram(c.x)), w), product)
}

// steps compares the fixed part of two steps at once with the fixed part of each step.
func (c *conformance) steps(b Belief, a Additive) {
	const n = 2
	z := b.Index().Sample(c.s.Named("steps"), 2*n)
	other := Neg(c.x)
	x := Reshape(Stack([]*Node{c.x, other}, 1), append([]int{2 * runs}, c.x.Shape().Dimensions[1:]...)...)
	both := Reshape(a.FixedPart(c.p, z, x, 2), runs, 2, n, inputs)
	each := Stack([]*Node{a.FixedPart(c.p, z.Slice(0, n), c.x, 1), a.FixedPart(c.p, z.Slice(n, 2*n), other, 1)}, 1)
	c.same("Additive.FixedPart of two steps", both, each)
}

// begin returns a belief's parameters, moved from their initial values, with indices and inputs. Inputs have 2
// features, or are arms.
func begin(b Belief, seeds *Node, what string, indices int) *conformance {
	s := rng.New(seeds).Named(what)
	c := &conformance{s: s, z: b.Index().Sample(s.Named("z"), indices), p: b.Init(s, nil)}
	for i, v := range c.p.Nu {
		c.p.Nu = slices.Clone(c.p.Nu)
		c.p.Nu[i] = Add(v, MulScalar(s.Named("move").Step(i).Normal(v.Shape().Dimensions[1:]...), 0.3))
	}
	if m, ok := b.(Model); ok && m.Inputs() == 0 {
		c.x = s.Named("x").Intn(Const(s.Graph(), int32(3)), inputs, 1)
	} else {
		c.x = s.Named("x").Normal(inputs, 2)
	}
	return c
}

// The capabilities of beliefs agree with their predictions. The Go backend tests all beliefs. XLA tests some, because
// it takes seconds to compile them.
func TestCapabilitiesAgreeWithPredict(t *testing.T) {
	beliefs := conforming()
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, what := range slices.Sorted(maps.Keys(beliefs)) {
			b := beliefs[what]
			if got := letters(CapabilitiesOf(b.Belief)); got != b.can {
				t.Errorf("%s can do %s, want %s", what, got, b.can)
			}
			if name != backend.Go && !strings.Contains("line, MLP prior, MLP, ensemble, intercept", what) {
				continue
			}
			var c *conformance
			out := eval(t, name, func(in []*Node) []*Node {
				c = begin(b.Belief, in[0], what, 4)
				c.of(b.Belief)
				return append(c.out, b.Predict(c.p, c.z, c.x))
			}, []uint64{1, 2})
			for i, of := range c.what {
				same(t, what+": "+of, out[2*i], out[2*i+1], single)
				if slices.Max(out[2*i+1]) == slices.Min(out[2*i+1]) {
					t.Errorf("%s: %s: all values are equal: %v", what, of, out[2*i+1])
				}
			}
		}
	})
}

// Variational and Marginals return the mean and the standard deviation of the components of theta. Both agree with
// theta at 20,000 indices within 5 standard errors, sd/sqrt(n) and sd/sqrt(2n).
func TestMomentsAgreeWithTheta(t *testing.T) {
	const n = 20_000
	for what, b := range conforming() {
		can := CapabilitiesOf(b.Belief)
		if can.Variational == nil && can.Marginals == nil {
			continue
		}
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			c := begin(b.Belief, in[0], what, n)
			theta := can.Parametric.Trained(c.p.Nu, c.z)
			var mu, sd *Node
			if can.Marginals != nil {
				theta = can.Parametric.Complete(theta, c.p, c.z)
				mu, sd = can.Marginals.Marginal(c.p)
			} else {
				mu, sd = can.Variational.Gaussian(c.p.Nu)
			}
			mean := ReduceMean(theta, 1)
			return []*Node{mu, sd, mean, Sqrt(ReduceMean(Square(Sub(theta, InsertAxes(mean, 1))), 1))}
		}, []uint64{3, 4})
		for i, sd := range out[1] {
			if math.Abs(out[2][i]-out[0][i]) > 5*sd/math.Sqrt(n) || math.Abs(out[3][i]-sd) > 5*sd/math.Sqrt(2*n) || sd < 0.01 {
				t.Errorf("%s: component %d has mean %g and deviation %g, want %g and %g", what, i, out[2][i], out[3][i],
					out[0][i], sd)
			}
		}
	}
}

// For a belief that can only predict, Sample draws new indices and calls Predict.
func ExampleSample() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := CallOnce(b, func(seeds *Node) *Node {
		s := rng.New(seeds)
		return Sample(plane{}, plane{}.Init(s, nil), s.Named("sample"), 5, s.Named("x").Normal(3, 2))
	}, []uint64{1})
	fmt.Println(out.Shape().Dimensions, err)
	// Output: [1 5 3] <nil>
}
