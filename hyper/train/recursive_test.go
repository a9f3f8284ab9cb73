package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// exactTolerance is a relative tolerance: the arithmetic is in float64, on numbers of float32.
const exactTolerance = 1e-12

// exactModels returns the models of linearModels that have an exact minimiser.
func exactModels(t *testing.T) []namedModel {
	var out []namedModel
	for _, m := range linearModels() {
		if exactFor(m.Model) == nil {
			out = append(out, m)
		}
	}
	if len(out) != 19 {
		t.Errorf("%d models have an exact minimiser, want 19", len(out))
	}
	line, net := base.Linear{Features: 3}, base.MLP{Layers: []int{3, 2, 1}, Activation: base.ActivationTanh}
	return append(out, namedModel{"line, ensemble, MLP prior", withPrior(ensembleOf(line, 4, none), net,
		hyper.Dense(11, 4))})
}

// The state is the oracle's minimiser of the data so far, to double precision, for every model that is linear in theta,
// in two runs with different rates, on both backends. XLA gets one model for each kind of state, as it takes seconds to
// compile one. Training changes nothing.
func TestExactIsTheOracle(t *testing.T) {
	onXLA := []string{"arms, per arm", "arms, ensemble", "line, dense", "line, uneven blocks, dense prior",
		"line, one-hot index, linear"}
	for _, m := range exactModels(t) {
		tolerance := exactTolerance
		if !newProblem(Config{}, m.Model).linearInTheta() {
			tolerance = single // the prior's predictions are in single precision
		}
		for _, name := range backends() {
			if name != backend.Go && !slices.Contains(onXLA, m.name) {
				continue
			}
			t.Run(m.name+"/"+name, func(t *testing.T) {
				run := trainOn(t, name, Trainer{m.Model, Config{Integrate: Exact}}, 12, 1)
				run.compare(t, tolerance)
				if name == backend.Go {
					run.train(0)
					run.compare(t, tolerance)
					trainOn(t, name, Trainer{m.Model, Config{Integrate: Exact}}, 1, 1).compare(t, tolerance)
				}
			})
		}
	}
}

// After thousands of updates by badly scaled data, with two features that are nearly equal, the state still agrees with
// the oracle. Each row of nu is right to single precision, in which predictions are made. (After 100,000 updates the
// error was 3e-8.)
func TestExactDoesNotDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 5000 data")
	}
	const data, n = 5000, 5
	scales := []float64{3e4, 1, 1, 2e-4, 50}
	l := hyper.Layout{Sizes: []int{2, 3}, Width: 2}
	for _, m := range []namedModel{
		{"dense", affineIn(base.Linear{Features: n}, hyper.Dense(n, 2), index.Gaussian{N: 2}, hyper.Dense(n, 2))},
		{"blocks", affineIn(base.Linear{Features: n}, l, index.Sphere{N: 4}, l)},
	} {
		p := newTrial(t, m.Model, data, data)
		for i := range p.x.v {
			if p.x.v[i] *= scales[i%n]; i%n == 2 {
				p.x.v[i] = float64(float32(p.x.v[i-1] + 1e-3*p.x.v[i]))
			}
		}
		nu := folded(t, p, 50)
		for r := range problemRuns {
			worst := 0.0
			for part, want := range p.minimise(t, oracleOf(t, p, r), r) {
				width := len(want.v) / n
				for i := range n {
					off, size := 0.0, 0.0
					for j := i * width; j < (i+1)*width; j++ {
						off = max(off, math.Abs(nu[part].sub(r).v[j]-want.v[j]))
						size = max(size, math.Abs(want.v[j]), math.Abs(p.nu0[part].sub(r).v[j]))
					}
					worst = max(worst, off/size)
				}
			}
			t.Logf("%s, run %d: off by %.1e", m.name, r, worst)
			if !(worst < 1e-7) {
				t.Errorf("%s, run %d: got an error of %.1e, want less than 1e-7", m.name, r, worst)
			}
		}
	}
}

// folded returns nu after the data of a trial, added one by one, with several data in each call of a graph.
func folded(t *testing.T, p trial, some int) []array {
	t.Helper()
	solver := newExact(newProblem(Config{Integrate: Exact}, p.model))
	var names []string
	flat := func(state State) (out []*Node) {
		names = slices.Sorted(maps.Keys(state))
		for _, name := range names {
			out = append(out, state[name])
		}
		return out
	}
	b := must.M1(backend.Open(backend.Go))
	state := must.M1(CallOnceN(b, func(in []*Node) []*Node {
		state := solver.memory(in[0].Graph(), problemRuns)
		state[fixedPrefix+p.fixed], state["nu.0"], state["nu.1"] = in[0], double(in[1]), double(in[2])
		return flat(state)
	}, p.prior.float32s(), p.nu0[0].float32s(), p.nu0[1].float32s()))
	exec := must.M1(NewExec(b, func(in []*Node) []*Node {
		g, state := p.nodes(in), State{}
		for i, name := range names {
			state[name] = in[len(in)-len(names)+i]
		}
		for i := range some {
			d := g.data.step(loop.At(i), 1)
			solver.observe(state, datum{x: Squeeze(d.X, 1), y: Squeeze(d.Y, 1), a: d.A}, g.Rates)
		}
		return flat(state)
	}))
	for from := 0; from < len(p.y.v)/problemRuns; from += some {
		part := p
		part.x, part.y, part.a = p.x.middle(from, some), p.y.middle(from, some), p.a.middle(from, some)
		args := part.args()
		for _, s := range state {
			args = append(args, s)
		}
		state = must.M1(exec.Call(args...))
	}
	return []array{arrayOf(state[slices.Index(names, "nu.0")]), arrayOf(state[slices.Index(names, "nu.1")])}
}

// middle returns n entries of the second axis.
func (a array) middle(from, n int) array {
	out := newArray(append([]int{a.dims[0], n}, a.dims[2:]...)...)
	for r := range a.dims[0] {
		for i := range n {
			copy(out.sub(r, i).v, a.sub(r, from+i).v)
		}
	}
	return out
}
