package train

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// modelOf returns the hyper.Model that a trainer trains.
func modelOf(tr Trainer) hyper.Model { return tr.Belief.(hyper.Model) }

// machine is a trainer with its state as tensors. Each method calls a compiled graph once.
type machine struct {
	t                    testing.TB
	names                []string
	state                []*tensors.Tensor
	seeds                []uint64
	rates                [4][]float32 // step, noise variance, prior variance, perturbation: [runs]
	actions              *array       // inputs of all actions [runs, actions, features]; nil for arms
	init, observe, learn *Exec
	size                 int
}

// newMachine builds the graphs of a trainer, for runs with the given seeds. With actions, the base model's inputs are
// rows of actions, the same for all runs.
func newMachine(t testing.TB, name string, tr Trainer, seeds []uint64, rates [4][]float32, actions *array) *machine {
	t.Helper()
	must.M(tr.Validate(tr.Belief))
	b := must.M1(backend.Open(name))
	m := &machine{t: t, seeds: seeds, rates: rates, actions: actions}
	m.init = must.M1(NewExec(b, func(in []*Node) []*Node {
		state := tr.Init(rng.New(in[0]).Named("init"), nil)
		m.names = slices.Sorted(maps.Keys(state))
		return m.flat(state)
	}))
	rated := func(in []*Node) Rates {
		return Rates{Step: in[0], NoiseVar: in[1], PriorVar: in[2], Perturbation: in[3]}
	}
	m.observe = must.M1(NewExec(b, func(in []*Node) []*Node { // seeds, size, x, y, rates, actions, state
		s := rng.New(in[0]).At(in[1])
		return m.flat(tr.Observe(m.named(in[9:]), s, in[1], in[2], in[3], m.inputs(tr, in[8]), rated(in[4:])))
	}))
	m.learn = must.M1(NewExec(b, func(in []*Node) []*Node { // seeds, size, period, rates, actions, state
		s := rng.New(in[0]).At(in[2]).Named("learn")
		return m.flat(tr.Train(m.named(in[8:]), s, in[1], m.inputs(tr, in[7]), rated(in[3:])))
	}))
	m.state = must.M1(m.init.Call(seeds))
	return m
}

func (m *machine) inputs(tr Trainer, actions *Node) *Node {
	if _, ok := modelOf(tr).Base.(base.Tabular); ok {
		return nil
	}
	return actions
}

func (m *machine) named(in []*Node) State {
	state := State{}
	for i, name := range m.names {
		state[name] = in[i]
	}
	return state
}

func (m *machine) flat(state State) []*Node {
	if got := slices.Sorted(maps.Keys(state)); !slices.Equal(got, m.names) {
		m.t.Errorf("the state has the entries %q, want %q", got, m.names)
	}
	out := make([]*Node, len(m.names))
	for i, name := range m.names {
		out[i] = state[name]
	}
	return out
}

func (m *machine) call(e *Exec, args ...any) {
	m.t.Helper()
	for _, s := range m.state {
		args = append(args, s)
	}
	m.state = must.M1(e.Call(args...))
}

// menu returns the actions' tensor, or a placeholder that no graph reads.
func (m *machine) menu() any {
	if m.actions == nil {
		return newArray(len(m.seeds), 1, 1).float32s()
	}
	return m.actions.float32s()
}

// add observes one datum of each run.
func (m *machine) add(x []int32, y []float32) {
	m.t.Helper()
	m.call(m.observe, m.seeds, int32(m.size), x, y, m.rates[0], m.rates[1], m.rates[2], m.rates[3], m.menu())
	m.size++
}

// train makes the SGD steps of one period.
func (m *machine) train(period int) {
	m.t.Helper()
	m.call(m.learn, m.seeds, int32(m.size), int32(period), m.rates[0], m.rates[1], m.rates[2], m.rates[3], m.menu())
}

// get returns the entries of the state with names that begin with the given ones.
func (m *machine) get(names ...string) []array {
	var out []array
	for _, name := range names {
		out = append(out, arrayOf(m.state[slices.Index(m.names, name)]))
	}
	return out
}

// prior returns the entries of D B.
func (m *machine) prior() array {
	if slices.Contains(m.names, "fixed.prior") {
		return m.get("fixed.prior")[0]
	}
	rows := m.get("fixed.prior.theta")[0]
	runs, indices, n := rows.dims[0], rows.dims[1], rows.dims[2]
	out := newArray(runs, n, indices)
	for r := range runs {
		for i := range indices {
			for j := range n {
				out.sub(r, j).v[i] = rows.at(r, i, j)
			}
		}
	}
	return out
}

// nu returns the trained parameters.
func (m *machine) nu() []array { return m.all("nu") }

// all returns the entries name.0, name.1, ...
func (m *machine) all(name string) []array {
	var out []array
	for i, n := range m.names {
		if strings.HasPrefix(n, name+".") {
			out = append(out, arrayOf(m.state[i]))
		}
	}
	return out
}
