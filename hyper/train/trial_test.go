package train

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

const problemRuns = 2 // each run has different numbers, so that the tests find swapped axes

// trial is a batch of runs with parameters away from their anchors, and a minibatch. All its numbers differ from 1 and
// from each other, so that a dropped or swapped factor changes the loss.
type trial struct {
	Config                           // the reference uses its loss and weights
	model                            hyper.Model
	nu, nu0                          []array
	prior                            array // the entries of D B, [runs, N_theta, Width]
	x, y, a                          array
	fixed                            string  // the prior's name in Params.Fixed
	size                             float64 // |D|
	noiseVar, priorVar, perturbation []float64
}

// newTrial draws a trial with a minibatch of n data, from a data set of size data.
func newTrial(t testing.TB, m hyper.Model, n int, size float64) trial {
	t.Helper()
	must.M(m.Validate())
	r := rand.New(rand.NewPCG(1, 2))
	p := trial{model: m, size: size, noiseVar: []float64{0.5, 1.75}, priorVar: []float64{2.25, 0.375},
		perturbation: []float64{0.75, 1.25}}
	p.x = randomArray(r, 1, problemRuns, n, featuresOf(m.Base))
	if b, ok := m.Base.(base.Tabular); ok {
		p.x = randomInts(r, b.Arms, problemRuns, n, 1)
	}
	p.y = randomArray(r, 1, problemRuns, n)
	p.a = randomArray(r, 0.7, problemRuns, n, m.Index().Width())
	if m.Prior != nil {
		p.prior = randomArray(r, 0.8, problemRuns, m.Prior.Layout.Rows(), m.Prior.Layout.Width)
	}
	shapes := eval(t, backend.Go, func(in []*Node) []*Node {
		made := m.Init(rng.New(in[0]), nil)
		for name := range made.Fixed {
			p.fixed = name
		}
		return made.Nu
	}, []uint64{1, 2})
	for _, s := range shapes {
		p.nu = append(p.nu, randomArray(r, 0.6, s.dims...))
		p.nu0 = append(p.nu0, randomArray(r, 0.6, s.dims...))
	}
	return p
}

// featuresOf returns the length of a base model's input.
func featuresOf(b hyper.BaseModel) int {
	switch b := b.(type) {
	case base.Linear:
		return b.Features
	case base.MLP:
		return b.Layers[0]
	}
	return 1
}

// args returns the trial's tensors, in the order in which nodes takes them.
func (p trial) args() []any {
	x := p.x.float32s()
	if _, ok := p.model.Base.(base.Tabular); ok {
		x = p.x.int32s()
	}
	vector := func(v []float64) any { return array{[]int{len(v)}, v}.float32s() }
	out := []any{x, p.y.float32s(), p.a.float32s(), float32(p.size), vector(p.noiseVar), vector(p.priorVar),
		vector(p.perturbation)}
	if p.model.Prior != nil {
		out = append(out, p.prior.float32s())
	}
	for i := range p.nu {
		out = append(out, p.nu[i].float32s(), p.nu0[i].float32s())
	}
	return out
}

// inGraph is a trial as nodes.
type inGraph struct {
	hyper.Params
	data Batch
	size *Node
	Rates
}

// state returns a trainer's state with the parameters.
func (p inGraph) state() State {
	state := State{}
	for i := range p.Nu {
		state[key("nu", i)], state[key("anchor", i)] = p.Nu[i], p.Nu0[i]
	}
	for name, v := range p.Fixed {
		state[fixedPrefix+name] = v
	}
	return state
}

// weight returns |D|/|D~|, [runs].
func (p inGraph) weight() *Node {
	return Mul(OnesLike(p.NoiseVar), MulScalar(p.size, 1/float64(p.data.Y.Shape().Dim(1))))
}

func (p trial) nodes(in []*Node) inGraph {
	g := inGraph{
		data:  Batch{X: in[0], Y: in[1], A: in[2]},
		size:  in[3],
		Rates: Rates{Step: OnesLike(in[4]), NoiseVar: in[4], PriorVar: in[5], Perturbation: in[6]},
	}
	in = in[7:]
	if p.model.Prior != nil {
		prior := in[0]
		if p.fixed == "prior.theta" {
			prior = Transpose(prior, 1, 2)
		}
		g.Fixed, in = map[string]*Node{p.fixed: prior}, in[1:]
	}
	for i := range p.nu {
		g.Nu, g.Nu0 = append(g.Nu, in[2*i]), append(g.Nu0, in[2*i+1])
	}
	return g
}

// loss returns L~ of the trial for a configuration, [runs].
func (p trial) loss(c Config, g inGraph, z index.Set) *Node {
	return Trainer{Belief: p.model, Config: c}.Objective(g.Params, g.data, z, g.size, g.Rates)
}

// gradient returns the gradient of loss by automatic differentiation.
func (p trial) gradient(c Config, g inGraph, z index.Set) []*Node {
	return Gradient(ReduceAllSum(p.loss(c, g, z)), g.Nu...)
}

// sample draws n indices from the trial's distribution.
func (p trial) sample(g *Graph, n int) index.Set {
	return p.model.Index().Sample(rng.New(Const(g, []uint64{11, 12})).Named("z"), n)
}

// ofRun returns the numbers of one run of several arrays [runs, ...], one array after the other.
func ofRun(arrays []array, r int) []float64 {
	var out []float64
	for _, a := range arrays {
		out = append(out, a.sub(r).v...)
	}
	return out
}
