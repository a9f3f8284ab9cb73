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

// trial holds the programs of an agent for problems of one shape. Each problem is a run of a batch. It is not safe for
// concurrent use.
type trial struct {
	agent        Agent
	kind         Kind
	inputs, data int
	learner      learner.Learner
	env          networkTruth
	start, fit   *program
	observe      *program // only called if the agent does not replay its data
	tests        []*exam
}

// newTrial returns a trial. The first calls of its programs compile them.
func newTrial(b compute.Backend, a Agent, kind Kind, inputs, data int, of []testInputs) *trial {
	t := &trial{agent: a, kind: kind, inputs: inputs, data: data, learner: a.learner(inputs, data),
		env: networkTruth{Inputs: inputs}}
	t.start, t.observe, t.fit = newProgram(b, t.buildStart), newProgram(b, t.buildObserve), newProgram(b, t.buildFit)
	for _, tests := range of {
		e := &exam{testInputs: tests, trial: t, scorer: kind.scorer(), projected: tests.Tau > mostExact}
		e.draw, e.predict, e.score = newProgram(b, e.buildDraw), newProgram(b, e.buildPredict), newProgram(b, e.buildScore)
		t.tests = append(t.tests, e)
	}
	return t
}

// Names of the values that programs pass on. In addition, numbers of the learner begin with "in.", and the agent's
// state with "agent."; in regression, data begin with "data." and tests with "test.".
const (
	seedName  = "seed"  // uint64 [runs]
	rhoName   = "rho"   // float32 [runs], of classes
	noiseName = "noise" // float32 [runs], of regression
	thetaName = "theta" // parameters of the environment, [runs, parameters]
	roundName = "round" // int32, number of earlier calls
)

// args returns the seeds and the numbers of problems.
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

// problemStream returns the random stream of a problem's truth, data and tests. Equal seeds give all agents the same
// problem.
func problemStream(seeds *Node) rng.Stream { return rng.New(seeds).Named("testbed") }

// numbersOf returns the learner's numbers among nodes.
func numbersOf(in named[*Node]) hyper.Numbers { return hyper.Numbers(in).Part("in.") }

// stateOf returns the agent's state among nodes. ofAgent is its inverse.
func stateOf(in named[*Node]) train.State { return train.State(hyper.Numbers(in).Part("agent.")) }

// ofAgent returns the nodes of an agent's state, with "agent." before each name.
func ofAgent(state train.State) named[*Node] {
	out := named[*Node]{}
	for name, x := range state {
		out["agent."+name] = x
	}
	return out
}

// buildStart makes the state "agent.*" before training, including the data, and for classes the truth.
func (t *trial) buildStart(in named[*Node]) named[*Node] {
	numbers, out := numbersOf(in), named[*Node]{}
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
	maps.Copy(out, ofAgent(state))
	return out
}

// buildObserve shows one datum to an agent that does not replay its data. The number of the round is the datum's index.
func (t *trial) buildObserve(in named[*Node]) named[*Node] {
	datum, x, y := in[roundName], in["data.x"], in["data.y"]
	s := learner.Streams{Seeds: in[seedName]}.Learn(datum)
	x, y = Squeeze(rowsOf(x, datum, 1), 1), Squeeze(columnsOf(y, datum, 1), 1)
	state := t.learner.Observe(stateOf(in), numbersOf(in), s, datum, x, y, nil)
	return ofAgent(state)
}

// buildFit makes the SGD steps of one call.
func (t *trial) buildFit(in named[*Node]) named[*Node] {
	s := learner.Streams{Seeds: in[seedName]}.Learn(in[roundName])
	size := Const(in[seedName].Graph(), int32(t.data))
	state := t.learner.Fit(stateOf(in), numbersOf(in), s, size, nil, nil)
	return ofAgent(state)
}

// learn trains the agent on problems. It returns the agent's state, and for classes the truth; the caller releases
// both.
func (t *trial) learn(ctx context.Context, args named[*tensors.Tensor]) (named[*tensors.Tensor], error) {
	state, err := t.start.call(args.without("test."))
	if err == nil && !t.learner.Train.Replays() {
		state, err = repeat(ctx, t.observe, t.data, args.without("test."), state)
	}
	if err != nil || t.learner.Train.Integrate == train.Exact { // Exact has learned all it can from the data
		return state, err
	}
	steps := t.agent.Steps(t.inputs, t.data)
	calls := (steps + t.learner.Train.Steps - 1) / t.learner.Train.Steps
	return repeat(ctx, t.fit, calls, args.without("data.", "test."), state)
}

// repeat calls a program calls times. Each call turns the agent's state into the next state. repeat releases the state
// that is passed to it.
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

// finite returns the belief's indices if they can be listed. Each of them is then evaluated once.
func (t *trial) finite() (index.Enumerable, bool) {
	e, ok := t.learner.Belief.Index().(index.Enumerable)
	return e, ok
}

// columns returns the number of indices that are evaluated: K, or the number of all indices if they can be listed.
func (t *trial) columns() int {
	if e, ok := t.finite(); ok {
		return e.Dim()
	}
	return t.kind.indices()
}

// chunkOf returns the number of indices that a call evaluates, at all batches. With projection it returns the number of
// batches, with all indices. The units of a hidden layer of one chunk approximately fit into the cache.
func (e *exam) chunkOf(runs int) int {
	const numbers = 16 << 20
	columns, each := e.trial.columns(), runs*e.Distinct()*50
	if e.projected {
		return divisor(e.Batches, numbers/(each*columns))
	}
	return divisor(columns, numbers/(each*e.Batches))
}

// divisor returns the largest divisor of n that is at most most, or 1.
func divisor(n, most int) int {
	for d := min(most, n); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}
