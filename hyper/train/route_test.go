package train

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// outsider is a belief without capabilities, f(x) = tanh(nu_0 + nu_1 z) x, for one index and one feature.
type outsider struct{}

func (outsider) Index() index.Distribution { return index.Gaussian{N: 1} }

func (outsider) Init(s rng.Stream, _ *Node) hyper.Params {
	nu := []*Node{s.Named("0").Normal(1), s.Named("1").Normal(1)}
	return hyper.Params{Nu: nu}
}

func (outsider) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	slope := Tanh(Add(p.Nu[0], Mul(p.Nu[1], Squeeze(z.Dense(), 2)))) // [runs, indices]
	return Mul(InsertAxes(slope, -1), Transpose(x, 1, 2))
}

// Each route is taken by a trainer for some belief.
func TestRoute(t *testing.T) {
	arms, line, net := base.Tabular{Arms: 3}, base.Linear{Features: 7}, base.MLP{Layers: []int{2, 3, 1}}
	diagonal := hyper.PerParameter(3, 2)
	perArm := linearInArms()
	dense := affineIn(line, hyper.Dense(7, 4), index.Gaussian{N: 4}, hyper.Dense(7, 4))
	particles, network := ensembleOf(arms, 4, none), affineIn(net, hyper.Dense(13, 4), index.Gaussian{N: 4}, none)
	apart := withPrior(affineIn(line, hyper.Dense(7, 4), index.Gaussian{N: 4}, none), base.MLP{Layers: []int{7, 1}},
		hyper.Dense(8, 4))
	meanField := hyper.Model{Base: line, Hyper: hyper.MeanField{Params: 7}}
	other := affineIn(arms, hyper.Dense(3, 6), index.Gaussian{N: 6}, diagonal)
	matched := ensembleOf(net, 3, hyper.Dense(13, 3))
	matched.Prior.InitB, matched.Prior.Output = hyper.InitTruncatedLayers(net, 0.7), net.Output()
	c := Config{Steps: 1, Batch: 4, Indices: 2, Capacity: 3}
	with := func(f func(*Config)) Config { c := c; f(&c); return c }
	analytic := with(func(c *Config) { c.Integrate = Analytic })
	taken := map[string]bool{}
	for _, x := range []struct {
		want   string
		belief hyper.Belief
		config Config
	}{
		{"posterior", hyper.BayesianLinear{Features: 7}, Config{Integrate: Exact}},
		{"exact", perArm, Config{Integrate: Exact}},
		{"exact", plusPlus(4, index.LawCube, index.LawSphere), Config{Integrate: Exact}},
		{"all sums", perArm, Config{Steps: 1, Integrate: FullData}},
		{"closed form", perArm, analytic},
		{"closed form", particles, analytic},
		{"sums", perArm, c},
		{"sums", other, c},
		{"sums", dense, with(func(c *Config) { c.Batch = 7 })},
		{"features", dense, c},
		{"features", perArm, with(func(c *Config) { c.Weights = Exponential })},
		{"features", dense, with(func(c *Config) { c.Batch, c.Loss = 7, logCosh{} })},
		{"own gradient", network, c},
		{"own gradient", ensembleOf(net, 3, hyper.Dense(13, 3)), analytic},
		{"own gradient", network, with(func(c *Config) { c.Loss, c.Weights = logCosh{}, Bernoulli })},
		{"own gradient", matched, with(func(c *Config) { c.Regularize, c.Loss = Decay, LogisticLoss{} })},
		{"automatic differentiation", dense, with(func(c *Config) { c.Regularize = Decay })},
		{"features", dense, with(func(c *Config) { c.IndexSet = Axes })},
		{"automatic differentiation", apart, c},
		{"automatic differentiation", meanField, with(func(c *Config) { c.Regularize = KL })},
		{"automatic differentiation", particles, with(func(c *Config) { c.Integrate, c.Weights = Analytic, Bernoulli })},
		{"automatic differentiation", outsider{}, c},
		{"automatic differentiation", network, with(func(c *Config) { c.IndexSet = PerDatum })},
	} {
		if err := x.config.Validate(x.belief); err != nil {
			t.Errorf("route %s: got error %v, want none", x.want, err)
		}
		if got := (Trainer{x.belief, x.config}).Route().Name; got != x.want {
			t.Errorf("%+v of %T: the route is %q, want %q", x.config, x.belief, got, x.want)
		}
		taken[x.want] = true
	}
	for _, w := range routes {
		if !taken[w.Name] {
			t.Errorf("no belief is trained by the route %q", w.Name)
		}
	}
}

func linearInArms() hyper.Model {
	l := hyper.PerParameter(3, 2)
	return affineIn(base.Tabular{Arms: 3}, l, index.PerArm{Arms: 3, M: 2}, l)
}

// Validate refuses what no route can train, with the reason.
func TestRoutesRefuse(t *testing.T) {
	c := Config{Steps: 1, Batch: 4, Indices: 2, Capacity: 3}
	deep := base.MLP{Layers: []int{2, 3, 2, 1}}
	masks := hyper.Model{Base: deep, Hyper: hyper.Dropout{Net: deep, Keep: 0.5}}
	with := func(f func(*Config)) Config { c := c; f(&c); return c }
	for want, x := range map[string]struct {
		config Config
		belief hyper.Belief
	}{
		"Weights bernoulli are made from a^T z":  {with(func(c *Config) { c.Weights = Bernoulli }), masks},
		"Integrate exact needs a quadratic loss": {Config{Integrate: Exact, Loss: logCosh{}}, linearInArms()},
		"Integrate full-data does not support Weights": {Config{Integrate: FullData, Steps: 1, Weights: Exponential},
			linearInArms()},
		"Integrate analytic does not support Weights": {with(func(c *Config) {
			c.Integrate, c.Weights = Analytic,
				Exponential
		}), linearInArms()},
		"Integrate analytic needs": {with(func(c *Config) { c.Integrate = Analytic }),
			outsider{}},
		"Regularize kl needs a mean-field":                     {with(func(c *Config) { c.Regularize = KL }), outsider{}},
		"Integrate exact supports only the regularizer anchor": {Config{Integrate: Exact, Regularize: Decay}, linearInArms()},
		"Integrate full-data supports only the regularizer anchor": {Config{Integrate: FullData, Steps: 1, Regularize: Decay},
			linearInArms()},
		"Integrate analytic supports only the regularizer anchor": {with(func(c *Config) {
			c.Integrate, c.Regularize = Analytic,
				Decay
		}), linearInArms()},
		"Weights: unknown -1": {with(func(c *Config) { c.Weights = -1 }), outsider{}},
	} {
		if err := x.config.Validate(x.belief); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", x.config, err, want)
		}
	}
}

// aimOf returns the loss whose gradient a route follows at indices z. The loss is L~ with one exception: for a belief
// that is affine in an index of mean 0, the own gradient averages the anchor over the whole distribution of the index.
// By hand that anchor is |mu - mu_0|^2 / 2 sigma_p^2 + E z_i^2 |C - C_0|^2 / 2 sigma_p^2.
func aimOf(w Route, q problem, at hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	loss := q.objective(at, data, z, size, r)
	mean, second := q.z.Moments().Mean, q.z.Moments().Second
	if w.Name != "own gradient" || q.Affine == nil || mean != 0 || !q.anchors() {
		return loss
	}
	loss = Sub(loss, q.regularizer(at, z, r))
	for i, weight := range []float64{1, second} {
		moved := Sub(at.Nu[i], at.Nu0[i])
		norm2 := ReduceSum(Reshape(Square(moved), problemRuns, moved.Shape().Size()/problemRuns), 1)
		loss = Add(loss, Div(MulScalar(norm2, weight/2), r.PriorVar))
	}
	return loss
}

// bothRoutes returns two gradients of a trial's second step: the gradient by automatic differentiation of the loss, and
// the gradient of a route. Both use the same draws. If the route integrates z, automatic differentiation uses indices
// that have exactly the first and second moments of z.
func bothRoutes(w Route, q problem, g inGraph) []*Node {
	s, state := rng.New(Const(g.size.Graph(), []uint64{11, 12})), stateOf(g)
	if q.Weighted {
		state["replay.w"] = AddScalar(Abs(g.data.Y), 0.5)
	}
	n := g.data.Y.Shape().Dim(1)
	count := Const(s.Graph(), int32(n))
	second, actions := loop.At(1), g.data.X
	m := minibatches{q}
	data := g.data
	var z index.Set
	switch w.Name {
	case "all sums":
		z = exactIndices(q.z, s.Graph())
	case "closed form":
		d := m.drawData(state, s, count, actions)
		d.data.A = row.Take(state["replay.a"], d.at)
		data, z = d.data.step(second, q.Batch), exactIndices(q.z, s.Graph())
	default:
		d := m.draw(state, s, count, actions, g.Rates)
		data, z = d.data.step(second, q.Batch), d.indices(second)
	}
	size := Const(s.Graph(), float32(n))
	want := Gradient(ReduceAllSum(aimOf(w, q, g.Params, data, z, size, g.Rates)), g.Nu...)

	solver := w.solver(q)
	if w.Name == "all sums" {
		for name, v := range solver.memory(s.Graph(), problemRuns) {
			state[name] = v
		}
		for i := range n {
			one := func(x *Node) *Node { return SliceAxis(x, 1, AxisElem(i)) }
			x := BroadcastToShape(Const(s.Graph(), int32(i)), shapes.Make(dtypes.Int32, problemRuns))
			solver.observe(state, datum{x: x, actions: actions, y: Squeeze(one(g.data.Y), 1), a: one(g.data.A)}, g.Rates)
		}
	}
	d := solver.draw(state, s, count, actions, g.Rates)
	return append(want, solver.gradient(state, &d, second, size, g.Rates)...)
}

// agree compares every route that fits with automatic differentiation, for every model and integration, and counts the
// comparisons.
func agree(t *testing.T, c Config, tolerance float64) map[string]int {
	t.Helper()
	fitting := map[string]int{}
	for i, m := range append(linearModels(), otherModels()...) {
		p := newTrial(t, m.Model, 5, 5)
		for _, integrate := range []Integration{Sampled, Analytic, FullData} {
			c := c
			c.Steps, c.Batch, c.Indices, c.Capacity, c.Integrate = 2, 6, 3, 5, integrate
			q := newProblem(c, m.Model)
			for _, w := range routes {
				if w.Fits(Trainer{m.Model, c}) != nil {
					continue
				}
				fitting[w.Name]++
				names := []string{backend.Go}
				if integrate == Sampled && c.Loss == nil && !c.Weighted && c.Regularize == 0 {
					names = sometimesXLA(i)
				}
				for _, name := range names {
					out := eval(t, name, func(in []*Node) []*Node { return bothRoutes(w, q, p.nodes(in)) }, p.args()...)
					for r, half := 0, len(out)/2; r < problemRuns; r++ {
						near(t, fmt.Sprintf("%s, %s, %s on %s, run %d", m.name, integrate, w.Name, name, r), ofRun(out[half:], r),
							ofRun(out[:half], r), tolerance)
					}
				}
			}
		}
	}
	return fitting
}

// All routes that fit have the gradient of the loss by automatic differentiation. TestLossAndGradient compares that
// gradient with plain Go. The routes posterior and exact make no steps: TestConjugateIsThePosterior and
// TestExactIsTheOracle test them.
func TestRoutesAgree(t *testing.T) {
	fitting := agree(t, Config{}, 2*single)
	for _, w := range routes[2:] {
		if fitting[w.Name] < 9 {
			t.Errorf("route %q fits %d problems, want at least 9", w.Name, fitting[w.Name])
		}
	}
	if testing.Short() {
		return
	}
	if own := agree(t, Config{Weighted: true}, 2*single); own["own gradient"] < 9 || own["features"] < 9 ||
		own["sums"] > 0 {
		t.Errorf("with weights of data: got the routes %v", own)
	}
	if kl := agree(t, Config{Regularize: KL}, 2*single); kl["own gradient"] == 0 || kl["features"]+kl["sums"] > 0 {
		t.Errorf("with KL: got the routes %v", kl)
	}
	decay := agree(t, Config{Regularize: Decay}, 2*single)
	if decay["own gradient"] < 9 || decay["features"]+decay["sums"]+decay["closed form"]+decay["all sums"] > 0 {
		t.Errorf("with Decay: got the routes %v", decay)
	}
}

// The gradient of a belief without capabilities equals the gradient of the loss in plain Go by central differences,
// with every kind of weights. The anchor is the anchor of nu.
func TestOutsider(t *testing.T) {
	const n, size, noise, prior, perturbation = 4, 9.0, 0.5, 2.25, 0.75
	x, y := []float64{0.5, -1, 2, 0.25}, []float64{1, 0.5, -0.75, 2}
	a, z := []float64{1, -1, 1, -1}, []float64{0.25, -1.5, 0.75}
	nu, nu0 := []float64{0.5, -0.75}, []float64{0.25, 1}
	for _, weights := range []Weights{Unweighted, Bernoulli, Exponential} {
		loss := func(nu []float64) (sum float64) {
			for _, zi := range z {
				for j := range x {
					u := a[j] * zi
					e := y[j] + perturbation*u - math.Tanh(nu[0]+nu[1]*zi)*x[j]
					sum += referenceWeight(weights, u) * e * e / 2 * size / n / noise / float64(len(z))
				}
			}
			for i := range nu {
				sum += (nu[i] - nu0[i]) * (nu[i] - nu0[i]) / (2 * prior)
			}
			return sum
		}
		var want []float64
		for i := range nu {
			const h = 1e-5
			up, down := slices.Clone(nu), slices.Clone(nu)
			up[i], down[i] = up[i]+h, down[i]-h
			want = append(want, (loss(up)-loss(down))/(2*h))
		}
		column := func(v []float64, dims ...int) any { return array{dims, v}.float32s() }
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			number := func(v float32) *Node { return Const(in[0].Graph(), []float32{v}) }
			r := Rates{Step: number(1), NoiseVar: number(noise), PriorVar: number(prior), Perturbation: number(perturbation)}
			q := newProblem(Config{Batch: n, Weights: weights}, outsider{})
			state := State{"nu.0": number(float32(nu[0])), "nu.1": number(float32(nu[1])), "anchor.0": number(float32(nu0[0])),
				"anchor.1": number(float32(nu0[1]))}
			for k, v := range state {
				state[k] = InsertAxes(v, -1)
			}
			d := draws{data: Batch{X: in[0], Y: in[1], A: in[2]}, sets: index.Vectors(in[3]), count: len(z)}
			return newAutodiff(q).gradient(state, &d, loop.At(0), Const(in[0].Graph(), float32(size)), r)
		}, column(x, 1, n, 1), column(y, 1, n), column(a, 1, n, 1), column(z, 1, len(z), 1))
		near(t, "gradient with weights "+weights.String(), append(out[0].v, out[1].v...), want, 2e-5)
	}
}

// A trainer that keeps inputs with the data learns the same as a trainer that takes the inputs from a menu, to the bit.
func TestKeptInputs(t *testing.T) {
	for _, c := range []Config{
		{Steps: 2, Batch: 4, Indices: 3, Capacity: 3},
		{Steps: 2, Batch: 4, Capacity: 3, Integrate: Analytic},
		{Steps: 2, Integrate: FullData},
		{Integrate: Exact},
	} {
		nu := func(inputs int) []float64 {
			tr := Trainer{affineIn(base.Linear{Features: 2}, hyper.Dense(2, 2), index.Gaussian{N: 2}, none), c}
			tr.Inputs = inputs
			must.M(tr.Validate(tr.Belief))
			out := eval(t, backend.Go, func(in []*Node) []*Node {
				g, s := in[0].Graph(), rng.New(in[0])
				number := func(v float32) *Node { return Const(g, []float32{v}) }
				r := Rates{Step: number(0.1), NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(0.7)}
				state, menu := tr.Init(s.Named("init"), nil), in[1]
				for i, arm := range []int32{1, 0, 1} {
					x, actions := Const(g, []int32{arm}), menu
					if inputs > 0 {
						x, actions = Squeeze(row.Take(menu, InsertAxes(x, -1)), 1), nil
					}
					state = tr.Observe(state, s.Named("observe").Step(i), Const(g, int32(i)), x, number(0.8), actions, r)
				}
				if inputs > 0 {
					menu = nil
				}
				return tr.Params(tr.Train(state, s.Named("train"), Const(g, int32(3)), menu, r)).Nu
			}, []uint64{3}, [][][]float32{{{0.5, -1}, {0.75, 2}}})
			return append(out[0].v, out[1].v...)
		}
		if menu, kept := nu(0), nu(2); !slices.Equal(menu, kept) || menu[0] == 0 {
			t.Errorf("%+v: got nu %v, and %v with kept inputs", c, menu, kept)
		}
	}
}
