package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Predictor is a capability of an Agent: it draws functions from its belief. Learners have it.
type Predictor interface {
	// Predict returns the mean rewards of all actions by so many functions, [runs, functions, actions]; x is as in Act.
	Predict(state State, n hyper.Numbers, s rng.Stream, functions int, x *Node) *Node
}

func (a learning) Predict(state State, _ hyper.Numbers, s rng.Stream, functions int, x *Node) *Node {
	return a.Learner.Predict(state, s, functions, x)
}

func (a oneHot) Predict(state State, n hyper.Numbers, s rng.Stream, functions int, _ *Node) *Node {
	return a.Agent.(Predictor).Predict(state, n, s, functions, a.inputs(s))
}

// Belief is what the agent of an entry believes at a period of the first run, beside the truth.
type Belief struct {
	// mean rewards by functions drawn from the belief, [functions][actions]; nil of an agent that is no [Predictor]
	Functions [][]float32
	Truth     []float32 // the true mean rewards, [actions]; nil where the world does not tell, see [bandit.Told]
}

// Looker runs Specs in memory, to look into their agents' beliefs. It keeps the compiled program of each entry: Specs
// that differ in numbers alone that shape nothing (see [Key]) compile once. It is not for concurrent use.
type Looker struct {
	Backend string // "" is backend.Default()
	kept    []*looking
}

// looking is an entry's program, with the one that looks at its state.
type looking struct {
	Programs
	program   *program
	functions int
	look      *Exec
}

// Look runs a valid Spec until a period, 1 or later, with all its runs side by side, and returns the rows of the
// schedule until then, and the belief of each entry by that many functions. An error of the context ends it.
func (l *Looker) Look(ctx context.Context, spec Spec, period, functions int) ([]Row, []Belief, error) {
	if period < 1 || period > spec.Periods || functions < 1 {
		return nil, nil, fmt.Errorf("period %d of %d and %d functions: each must be at least 1, and the period one of "+
			"them", period, spec.Periods, functions)
	}
	var rows []Row
	var beliefs []Belief
	for len(l.kept) < len(spec.Entries) {
		l.kept = append(l.kept, new(looking))
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

// entry is Look for one entry.
func (l *Looker) entry(ctx context.Context, spec Spec, number, period, functions int) ([]Row, Belief, error) {
	spec.Entries = spec.Entries[number : number+1]
	kept, p := l.kept[number], newPlan(spec, spec.Runs)
	o := Options{Backend: l.Backend, Programs: &kept.Programs}
	if o.Backend == "" {
		o.Backend = backend.Default()
	}
	r, b := newRunner(p, o), p.batches[0]
	program, err := r.program(b, ignoring{})
	if err == nil {
		err = kept.of(program, o.Backend, functions)
	}
	if err != nil {
		return nil, Belief{}, err
	}
	state, err := program.initial(p.seeds(b), p.inputs(b))
	a := &advancing{runner: r, program: program, batch: b, out: ignoring{}, state: state}
	defer func() {
		for _, t := range a.state {
			t.MustFinalizeAll()
		}
	}()
	for err == nil && a.done < period {
		if err = ctx.Err(); err == nil {
			err = a.step(min(nextStop(spec.Periods, a.done), a.done+lookChunk, period))
		}
	}
	if err != nil {
		return nil, Belief{}, err
	}
	for i := range a.rows {
		a.rows[i].Entry = number
	}
	belief, err := kept.see(a.state, functions)
	return a.rows, belief, err
}

// of makes the program that looks at the state of a program.
func (l *looking) of(p *program, name string, functions int) error {
	if l.program == p && l.functions == functions {
		return nil
	}
	b, err := backend.Open(name)
	if err != nil {
		return err
	}
	l.program, l.functions = p, functions
	l.look, err = NewExec(b, func(state []*Node) []*Node { return p.belief(state, functions) })
	return err
}

// lookChunk is how many periods pass before a look hears that nobody waits for it any more.
const lookChunk = 100

// step advances to a period, and keeps the rows of one at which curves have a point.
func (a *advancing) step(period int) (err error) {
	stop := nextStop(a.runner.plan.spec.Periods, a.done)
	if a.state, err = a.program.until(a.state, period); err != nil {
		return err
	}
	if a.done = period; period == stop {
		return a.record()
	}
	return nil
}

// see reads the belief of the first run.
func (l *looking) see(state []*tensors.Tensor, functions int) (b Belief, err error) {
	args := make([]any, len(state))
	for i, t := range state {
		args[i] = t
	}
	out, err := l.look.Call(args...)
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

// belief returns the predictions of functions and the true mean rewards, of the first run; each is a scalar where there
// are none.
func (p *program) belief(nodes []*Node, functions int) []*Node {
	state := hyper.Numbers{}
	for i, name := range p.names {
		state[name] = nodes[i]
	}
	in, world, agent := state.Part("in."), State(state.Part("env.")), State(state.Part("agent."))
	t := state[statePeriod]
	root := rng.New(state[stateSeed]).At(t)
	g := t.Graph()
	predictions, truth := Const(g, float32(0)), Const(g, float32(0))
	first := func(x *Node) *Node { return Reshape(Slice(x, AxisElem(0)), x.Shape().Size()/x.Shape().Dim(0)) }
	if told, ok := p.world.(bandit.Told); ok {
		if means := told.Means(world); means != nil {
			truth = first(means)
		}
	}
	offer, _ := p.world.Offer(maps.Clone(world), in.Part(worldPrefix), root.Named("offer"), t)
	if a, ok := p.agent.(Predictor); ok {
		s := (learner.Streams{Seeds: state[stateSeed]}).Act(t).Named("look")
		predictions = first(a.Predict(agent, in.Part(agentPrefix), s, functions, offer.Inputs(p.problem.Actions)))
	}
	return []*Node{predictions, truth}
}

// ignoring hears of what a run does, and does nothing.
type ignoring struct{ sink }

func (ignoring) compiled(int, time.Duration) error { return nil }
