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
	inputs, data int
	learner      learner.Learner
	env          Environment
	start, fit   *program
	tests        []*exam
}

// exam is the programs that test what was learned on one kind of test inputs.
type exam struct {
	Tests
	trial              *trial
	chunk              int // indices of a call; by projection, batches
	projected          bool
	draw, answer, mark *program
}

// mostExact is the most classes at once whose likelihood is the mean over functions; of more it is [Projection]'s.
const mostExact = 10

// newTrial compiles nothing yet.
func newTrial(b compute.Backend, a Agent, inputs, data int, of []Tests) (*trial, error) {
	t := &trial{agent: a, inputs: inputs, data: data, learner: a.learner(inputs, data), env: Environment{Inputs: inputs}}
	var err error
	if t.start, err = newProgram(b, t.buildStart); err != nil {
		return nil, err
	}
	if t.fit, err = newProgram(b, t.buildFit); err != nil {
		return nil, err
	}
	for _, tests := range of {
		e := &exam{Tests: tests, trial: t, projected: tests.Tau > mostExact}
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

// Names of what programs hand on. Besides, "in." begins numbers of the learner, and "agent." what it carries.
const (
	seedName  = "seed"  // uint64 [runs]
	rhoName   = "rho"   // float32 [runs]
	thetaName = "theta" // parameters of the environment, [runs, parameters]
	roundName = "round" // int32, calls before
)

// args are the seeds and numbers of problems.
func (t *trial) args(problems []Problem) named[*tensors.Tensor] {
	numbers := map[string][]float32{}
	seeds := make([]uint64, len(problems))
	for i, p := range problems {
		seeds[i] = p.Seed
		numbers[rhoName] = append(numbers[rhoName], float32(p.Temperature))
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

// buildStart makes what an agent carries before it is trained, with its data: "agent.*" and the truth.
func (t *trial) buildStart(in named[*Node]) named[*Node] {
	s, numbers := problemStream(in[seedName]), hyper.Numbers(in.part("in."))
	theta := t.env.Init(s.Named("truth"))
	x, y := t.env.Data(s.Named("data"), theta, in[rhoName], t.data)
	streams := learner.Streams{Seeds: in[seedName]}
	state := t.learner.Init(streams.Init(), numbers)
	state = t.learner.Fill(state, numbers, streams.Init().Named("data"), x, y)
	out := named[*Node]{thetaName: theta}
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

// learn trains the agent on problems: what it carries then, and the truth. It is the caller's to release.
func (t *trial) learn(ctx context.Context, args named[*tensors.Tensor]) (named[*tensors.Tensor], error) {
	state, err := t.start.call(args)
	if err != nil {
		return nil, err
	}
	steps := t.agent.Steps(t.inputs, t.data)
	for round := range (steps + t.learner.Train.Steps - 1) / t.learner.Train.Steps {
		if err := ctx.Err(); err != nil {
			release(state)
			return nil, err
		}
		now := maps.Clone(args)
		maps.Copy(now, state)
		delete(now, thetaName)
		now[roundName] = tensors.FromValue(int32(round))
		next, err := t.fit.call(now)
		theta := state[thetaName]
		delete(state, thetaName)
		release(state)
		if err != nil {
			return nil, err
		}
		state = next
		state[thetaName] = theta
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
	return Indices
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
