package testbed

import (
	"context"
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// trial is an agent's programs for problems of one shape, each of which is a run of a batch. It is not for concurrent
// use.
type trial struct {
	agent        Agent
	kind         Kind
	inputs, data int
	learner      learner.Learner
	env          Environment
	start, fit   *program
	observe      *program // of an agent that does not replay its data
	tests        []*exam
}

// exam is the programs that test what was learned on one kind of test inputs.
type exam struct {
	Tests
	trial              *trial
	marks              marks
	chunk              int // indices of a call; by projection, batches
	projected          bool
	draw, answer, mark *program
}

// mostExact is the most classes at once whose likelihood is the mean over functions; of more it is [Projection]'s.
const mostExact = 10

// newTrial compiles nothing yet.
func newTrial(b compute.Backend, a Agent, kind Kind, inputs, data int, of []Tests) (*trial, error) {
	t := &trial{agent: a, kind: kind, inputs: inputs, data: data, learner: a.learner(inputs, data),
		env: Environment{Inputs: inputs}}
	var err error
	if t.start, err = newProgram(b, t.buildStart); err != nil {
		return nil, err
	}
	if t.observe, err = newProgram(b, t.buildObserve); err != nil {
		return nil, err
	}
	if t.fit, err = newProgram(b, t.buildFit); err != nil {
		return nil, err
	}
	for _, tests := range of {
		e := &exam{Tests: tests, trial: t, marks: kind.marks(), projected: tests.Tau > mostExact}
		for _, p := range []struct {
			place *(*program)
			build func(named[*Node]) named[*Node]
		}{{&e.draw, e.buildDraw}, {&e.answer, e.buildAnswer}, {&e.mark, e.buildMark}} {
			if *p.place, err = newProgram(b, p.build); err != nil {
				return nil, err
			}
		}
		t.tests = append(t.tests, e)
	}
	return t, nil
}

// Names of what programs hand on. Besides, "in." begins numbers of the learner, and "agent." what it carries; of
// regression "data." begins its data, and "test." its tests.
const (
	seedName  = "seed"  // uint64 [runs]
	rhoName   = "rho"   // float32 [runs], of classes
	noiseName = "noise" // float32 [runs], of regression
	thetaName = "theta" // parameters of the environment, [runs, parameters]
	roundName = "round" // int32, calls before
)

// args are the seeds and numbers of problems.
func (t *trial) args(problems []Problem) named[*tensors.Tensor] {
	numbers := map[string][]float32{}
	seeds := make([]uint64, len(problems))
	for i, p := range problems {
		seeds[i] = p.Seed
		if p.regression() {
			numbers[noiseName] = append(numbers[noiseName], float32(p.Noise))
		} else {
			numbers[rhoName] = append(numbers[rhoName], float32(p.Temperature))
		}
		for name, x := range t.agent.numbers(p) {
			numbers["in."+name] = append(numbers["in."+name], float32(x))
		}
	}
	out := named[*tensors.Tensor]{seedName: tensors.FromValue(seeds)}
	for name, x := range numbers {
		out[name] = tensors.FromValue(x)
	}
	return out
}

// problem is the stream of a problem's truth, data and tests: agents with the same seed meet the same.
func problemStream(seeds *Node) rng.Stream { return rng.New(seeds).Named("testbed") }

// buildStart makes what an agent carries before it is trained, with its data: "agent.*", and the truth of classes.
func (t *trial) buildStart(in named[*Node]) named[*Node] {
	numbers, out := hyper.Numbers(in.part("in.")), named[*Node]{}
	x, y := in["data.x"], in["data.y"]
	if t.kind == Classes {
		s := problemStream(in[seedName])
		out[thetaName] = t.env.Init(s.Named("truth"))
		x, y = t.env.Data(s.Named("data"), out[thetaName], in[rhoName], t.data)
	}
	streams := learner.Streams{Seeds: in[seedName]}
	state := t.learner.Init(streams.Init(), numbers)
	if t.learner.Train.Replays() {
		state = t.learner.Fill(state, numbers, streams.Init().Named("data"), x, y)
	}
	out.add("agent.", state)
	return out
}

// buildObserve shows an agent that does not replay its data one of these: that of the number of the round.
func (t *trial) buildObserve(in named[*Node]) named[*Node] {
	datum, x, y := in[roundName], in["data.x"], in["data.y"]
	s := learner.Streams{Seeds: in[seedName]}.Learn(datum)
	x, y = Squeeze(rowsOf(x, datum, 1), 1), Squeeze(columnsOf(y, datum, 1), 1)
	state := t.learner.Observe(train.State(in.part("agent.")), hyper.Numbers(in.part("in.")), s, datum, x, y, nil)
	out := named[*Node]{}
	out.add("agent.", state)
	return out
}

// buildFit makes the SGD steps of a call.
func (t *trial) buildFit(in named[*Node]) named[*Node] {
	s := learner.Streams{Seeds: in[seedName]}.Learn(in[roundName])
	size := Const(in[seedName].Graph(), int32(t.data))
	state := t.learner.Fit(train.State(in.part("agent.")), hyper.Numbers(in.part("in.")), s, size, nil, nil)
	out := named[*Node]{}
	out.add("agent.", state)
	return out
}

// learn trains the agent on problems: what it carries then, and the truth of classes. It is the caller's to release.
func (t *trial) learn(ctx context.Context, args named[*tensors.Tensor]) (named[*tensors.Tensor], error) {
	state, err := t.start.call(args.without("test."))
	if err == nil && !t.learner.Train.Replays() {
		state, err = repeat(ctx, t.observe, t.data, args.without("test."), state)
	}
	if err != nil || t.learner.Train.Integrate == train.Exact { // whose data were all there is to learn
		return state, err
	}
	steps := t.agent.Steps(t.inputs, t.data)
	calls := (steps + t.learner.Train.Steps - 1) / t.learner.Train.Steps
	return repeat(ctx, t.fit, calls, args.without("data.", "test."), state)
}

// repeat calls a program that makes of what an agent carries what it carries next, so many times. It releases the state
// that it is given.
func repeat(ctx context.Context, p *program, calls int, args, state named[*tensors.Tensor]) (named[*tensors.Tensor],
	error) {
	for round := range calls {
		if err := ctx.Err(); err != nil {
			release(state)
			return nil, err
		}
		now := maps.Clone(args)
		maps.Copy(now, state.without(thetaName))
		now[roundName] = tensors.FromValue(int32(round))
		next, err := p.call(now)
		release(state.without(thetaName))
		if err != nil {
			return nil, err
		}
		if theta := state[thetaName]; theta != nil {
			next[thetaName] = theta
		}
		state = next
	}
	return state, nil
}

// finite tells whether the belief's indices can be listed: each is then evaluated once.
func (t *trial) finite() (index.Enumerable, bool) {
	e, ok := t.learner.Belief.Index().(index.Enumerable)
	return e, ok
}

// columns are the indices that are evaluated, K or each of finitely many.
func (t *trial) columns() int {
	if e, ok := t.finite(); ok {
		return e.Dim()
	}
	return t.kind.indices()
}

// chunkOf is how many indices a call evaluates, at all batches, or by projection how many batches, by all indices: as
// many as keep the units of a hidden layer within the cache, about.
func (e *exam) chunkOf(runs int) int {
	const numbers = 16 << 20
	columns, each := e.trial.columns(), runs*e.Distinct()*50
	if e.projected {
		return divisor(e.Batches, numbers/(each*columns))
	}
	return divisor(columns, numbers/(each*e.Batches))
}

// divisor is the largest of n that is at most some number, or 1.
func divisor(n, most int) int {
	for d := min(most, n); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}
