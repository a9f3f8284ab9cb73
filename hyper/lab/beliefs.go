package lab

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// predictor is a capability of an Agent: the agent draws functions from its belief. Learners have it.
type predictor interface {
	// Predict returns the mean rewards of all actions by the given number of functions, [runs, functions, actions]. x
	// is the same as in Act.
	Predict(state bandit.State, n hyper.Numbers, s rng.Stream, functions int, x *Node) *Node
}

func (a learning) Predict(state bandit.State, _ hyper.Numbers, s rng.Stream, functions int, x *Node) *Node {
	return a.Learner.Predict(state, s, functions, x)
}

func (a oneHot) Predict(state bandit.State, n hyper.Numbers, s rng.Stream, functions int, _ *Node) *Node {
	return a.Agent.(predictor).Predict(state, n, s, functions, a.inputs(s))
}

// Belief is what the agent of an entry believes in the first run, at one period, together with the truth.
type Belief struct {
	// Functions holds mean rewards by functions that are drawn from the belief, [functions][actions]. It is nil if the
	// agent is not a predictor.
	Functions [][]float32
	Truth     []float32 // the true mean rewards, [actions]; nil if the world does not report them, see [bandit.MeanReporter]
}

// BeliefReader runs Specs in memory in order to read the beliefs of their agents. It keeps the compiled program of each
// entry. Specs that differ only in numbers that do not shape the computation (see [catalog.Key]) therefore compile
// once. A BeliefReader is not safe for concurrent use.
type BeliefReader struct {
	Backend  string           // "" is backend.Default()
	programs []*beliefProgram // one for each entry of the last Spec
}

// beliefProgram is the compiled program of an entry, with a second program that reads the belief from its state.
type beliefProgram struct {
	Programs
	program   *program
	functions int
	belief    *Exec
}

// Read runs a valid Spec up to a period, which is at least 1, with all its runs side by side. It returns the rows of
// the schedule up to that period and the belief of each entry, as the given number of functions. It stops with the
// context's error when the context ends.
func (l *BeliefReader) Read(ctx context.Context, spec Spec, period, functions int) ([]Row, []Belief, error) {
	if period < 1 || period > spec.Periods || functions < 1 {
		return nil, nil, fmt.Errorf("cannot read beliefs at period %d of %d with %d functions: the period must be from 1 "+
			"to the number of periods, and functions at least 1", period, spec.Periods, functions)
	}
	var rows []Row
	var beliefs []Belief
	for len(l.programs) < len(spec.Entries) {
		l.programs = append(l.programs, new(beliefProgram))
	}
	for i := range spec.Entries {
		r, b, err := l.entry(ctx, spec, i, period, functions)
		if err != nil {
			return nil, nil, err
		}
		rows, beliefs = append(rows, r...), append(beliefs, b)
	}
	return rows, beliefs, nil
}

// entry is Read for one entry.
func (l *BeliefReader) entry(ctx context.Context, spec Spec, number, period, functions int) ([]Row, Belief, error) {
	spec.Entries = spec.Entries[number : number+1]
	kept, p := l.programs[number], newPlan(spec, spec.Runs)
	o := Options{Backend: cmp.Or(l.Backend, backend.Default()), Programs: &kept.Programs}
	r, b := newRunner(p, o), p.batches[0]
	program, err := r.program(b, discard{})
	if err == nil {
		err = kept.prepare(program, o.Backend, functions)
	}
	if err != nil {
		return nil, Belief{}, err
	}
	state, err := program.initial(p.seeds(b), p.inputs(b))
	a := &advancing{runner: r, program: program, batch: b, out: discard{}, state: state}
	defer func() { free(a.state) }()
	for err == nil && a.done < period {
		if err = ctx.Err(); err == nil {
			err = a.step(min(a.nextStop(), a.done+readChunk, period))
		}
	}
	if err != nil {
		return nil, Belief{}, err
	}
	for i := range a.rows {
		a.rows[i].Entry = number
	}
	belief, err := kept.read(a.state, functions)
	return a.rows, belief, err
}

// prepare compiles the program that reads the belief from the state of p, unless it is there already.
func (l *beliefProgram) prepare(p *program, name string, functions int) error {
	if l.program == p && l.functions == functions {
		return nil
	}
	b, err := backend.Open(name)
	if err != nil {
		return err
	}
	l.program, l.functions = p, functions
	l.belief, err = NewExec(b, func(state []*Node) []*Node { return p.belief(state, functions) })
	return err
}

// readChunk is the largest number of periods between two checks of whether the context has ended.
const readChunk = 100

// read reads the belief of the first run.
func (l *beliefProgram) read(state []*tensors.Tensor, functions int) (b Belief, err error) {
	args := make([]any, len(state))
	for i, t := range state {
		args[i] = t
	}
	out, err := l.belief.Call(args...)
	if err != nil {
		return b, err
	}
	for i, t := range out {
		none := t.IsScalar()
		flat, err := tensors.CopyFlatData[float32](t)
		t.MustFinalizeAll()
		switch {
		case err != nil:
			return b, err
		case none:
		case i == 0:
			b.Functions = slices.Collect(slices.Chunk(flat, len(flat)/functions))
		default:
			b.Truth = flat
		}
	}
	return b, nil
}

// belief returns the predictions of functions and the true mean rewards, both for the first run. A scalar stands for a
// value that is not available.
func (p *program) belief(nodes []*Node, functions int) []*Node {
	state := p.named(nodes)
	in, world, agent := state.Part("in."), bandit.State(state.Part("env.")), bandit.State(state.Part("agent."))
	t := state[statePeriod]
	root := rng.New(state[stateSeed]).At(t)
	g := t.Graph()
	predictions, truth := Const(g, float32(0)), Const(g, float32(0))
	first := func(x *Node) *Node { return Reshape(Slice(x, AxisElem(0)), x.Shape().Size()/x.Shape().Dim(0)) }
	if w, ok := p.world.(bandit.MeanReporter); ok {
		if means := w.Means(world); means != nil {
			truth = first(means)
		}
	}
	offer, _ := p.world.Offer(maps.Clone(world), in.Part(worldPrefix), root.Named("offer"), t)
	if a, ok := p.agent.(predictor); ok {
		s := (learner.Streams{Seeds: state[stateSeed]}).Act(t).Named("look")
		predictions = first(a.Predict(agent, in.Part(agentPrefix), s, functions, offer.Inputs(p.problem.Actions)))
	}
	return []*Node{predictions, truth}
}
