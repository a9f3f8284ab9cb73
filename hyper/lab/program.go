package lab

import (
	"maps"
	"slices"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// compilations counts the programs compiled by this process: a sweep over numbers that shape nothing compiles once.
var compilations atomic.Int64

// Compilations returns how many simulation programs this process has compiled.
func Compilations() int64 { return compilations.Load() }

// Names of the engine's own part of the state. The rest is "env.*", "agent.*" and "in.*".
const (
	stateSeed     = "run.seed"     // uint64 [runs]
	statePeriod   = "run.period"   // int32: periods done
	stateRegret   = "run.regret"   // float64 [runs]: cumulative expected regret
	stateDigest   = "run.digest"   // uint32 [runs]: a hash of the actions taken so far, in order
	stateData     = "run.data"     // int32: data so far, in a world whose rewards come late
	stateDiverged = "run.diverged" // int32 [runs]: the first period (from 1) with predictions that are not finite, or 0
)

// program is a compiled simulation of one shape: init makes a State from seeds and inputs, advance moves it on.
type program struct {
	world   bandit.World
	problem bandit.Problem
	agent   Agent
	inputs  []string // names of the per-run numbers, sorted
	names   []string // of the state's nodes, sorted; set by the first init
	loop    bool     // advance is one call with a While loop, else one call a period
	start   *Exec
	advance *Exec
}

// newProgram compiles nothing yet. GoMLX's Go backend v0.1.3 fails on this While body ("input 1 for node BitwiseXor not
// computed yet"), so it gets one call a period, which costs it nothing: it interprets.
func newProgram(name string, world bandit.World, agent Agent, inputs []string) (*program, error) {
	b, err := backend.Open(name)
	if err != nil {
		return nil, err
	}
	p := &program{world: world, problem: world.Problem(), agent: agent, inputs: inputs, loop: name != backend.Go}
	if p.start, err = NewExec(b, p.buildInit); err != nil {
		return nil, err
	}
	step := p.buildStep
	if p.loop {
		step = p.buildLoop
	}
	if p.advance, err = NewExec(b, step); err != nil {
		return nil, err
	}
	p.start.SetMaxCache(-1)
	p.advance.SetMaxCache(-1)
	return p, nil
}

// buildInit is init: seeds and inputs to a state.
func (p *program) buildInit(args []*Node) []*Node {
	seeds := args[0]
	runs := seeds.Shape().Dim(0)
	g := seeds.Graph()
	in := hyper.Numbers{}
	state := State{stateSeed: seeds}
	for i, name := range p.inputs {
		in[name] = args[1+i]
		state["in."+name] = args[1+i]
	}
	addPrefixed(state, "env.", p.world.Init(rng.New(seeds).Named("env").Named("init"), in.Part(worldPrefix)))
	addPrefixed(state, "agent.", p.agent.Init(learner.Streams{Seeds: seeds}.Init(), in.Part(agentPrefix)))
	state[statePeriod] = Const(g, int32(0))
	if p.problem.Delays {
		state[stateData] = Const(g, int32(0))
	}
	state[stateRegret] = Zeros(g, shapes.Make(dtypes.Float64, runs))
	state[stateDigest] = Zeros(g, shapes.Make(dtypes.Uint32, runs))
	state[stateDiverged] = Zeros(g, shapes.Make(dtypes.Int32, runs))
	if p.names == nil { // a batch of another size builds again while others read
		p.names = slices.Sorted(maps.Keys(state))
	}
	return flatten(state, p.names)
}

func (p *program) buildStep(nodes []*Node) []*Node {
	compilations.Add(1)
	return p.period(nodes)
}

// buildLoop advances a state until a period, the last argument. Nothing but parameters may be made outside the
// closures: GoMLX caches scalar constants by graph, and one made outside cannot be used inside.
func (p *program) buildLoop(args []*Node) []*Node {
	compilations.Add(1)
	g := args[0].Graph()
	at, last := slices.Index(p.names, statePeriod), len(args)-1
	parameters := func(g *Graph) []*Node {
		out := make([]*Node, len(args))
		for i, a := range args {
			out[i] = Parameter(g, "state"+string(rune('A'+i/26))+string(rune('A'+i%26)), a.Shape())
		}
		return out
	}
	more := NewClosure(g, func(g *Graph) []*Node {
		state := parameters(g)
		return []*Node{LessThan(state[at], state[last])}
	})
	body := NewClosure(g, func(g *Graph) []*Node {
		state := parameters(g)
		return append(p.period(state[:last]), state[last])
	})
	return While(more, body, args...)[:last]
}

// period is one period of interaction of every run: act, step the environment, learn. A run that has diverged
// takes the actions in turn.
func (p *program) period(nodes []*Node) []*Node {
	state := hyper.Numbers{}
	for i, name := range p.names {
		state[name] = nodes[i]
	}
	in, world, agent := state.Part("in."), State(state.Part("env.")), State(state.Part("agent."))
	ofWorld, ofAgent := in.Part(worldPrefix), in.Part(agentPrefix)
	t := state[statePeriod]
	root, streams := rng.New(state[stateSeed]).At(t), learner.Streams{Seeds: state[stateSeed]}

	offer, world := p.world.Offer(world, ofWorld, root.Named("offer"), t)
	x := offer.Inputs(p.problem.Actions)
	action, values := p.agent.Act(agent, ofAgent, streams.Act(t), t, x, offer.There)
	diverged := p.diverged(state[stateDiverged], values, AddScalar(t, int32(1)))
	inTurn := BroadcastToShape(explore.InTurn(t, p.problem.Actions, offer.There), action.Shape())
	action = Where(Equal(diverged, ZerosLike(diverged)), action, inTurn)
	outcome, world := p.world.Step(world, ofWorld, root.Named("env"), t, action)

	out := State(maps.Clone(state))
	d := Datum{Number: t, Action: action, Inputs: x, Reward: outcome.Reward}
	if p.problem.Delays {
		d.Number, d.Action = state[stateData], outcome.Late.Action
		out[stateData] = Add(d.Number, ConvertDType(outcome.Late.Arrived, dtypes.Int32))
	}
	if p.problem.Moves {
		d.Inputs, d.Input = nil, p.inputOf(outcome, x, action)
	}
	next := p.agent.Learn(agent, ofAgent, streams.Learn(t), d)
	if p.problem.Delays {
		next = where(outcome.Late.Arrived, next, agent)
	}
	addPrefixed(out, "agent.", next)
	addPrefixed(out, "env.", world)
	out[stateDiverged] = diverged
	p.count(out, t, action, outcome.Regret)
	return flatten(out, p.names)
}

// inputOf returns the input that the outcome's reward is of, [runs, features].
func (p *program) inputOf(o bandit.Outcome, x, action *Node) *Node {
	if o.Late != nil {
		return o.Late.Input
	}
	return train.RowOf(x, action)
}

func where(first *Node, one, other State) State {
	out := State{}
	for name, x := range one {
		out[name] = x
		if x != other[name] {
			out[name] = Where(BroadcastToShape(first, x.Shape()), x, other[name])
		}
	}
	return out
}

// count moves the engine's own part of the state on by a period.
func (p *program) count(state State, t, action, regret *Node) {
	state[statePeriod] = AddScalar(t, int32(1))
	state[stateRegret] = Add(state[stateRegret], ConvertDType(regret, dtypes.Float64))
	digit := AddScalar(ConvertDType(action, dtypes.Uint32), uint32(1))
	state[stateDigest] = Add(MulScalar(state[stateDigest], uint32(0x01000193)), digit)
}

// diverged returns the first period whose values were not all finite.
func (p *program) diverged(before, values, period *Node) *Node {
	axes := make([]int, values.Rank()-1)
	for i := range axes {
		axes[i] = i + 1
	}
	// A sum is finite only if its terms are; |x| * 0 is 0 only if x is finite.
	broken := NotEqual(ReduceSum(MulScalar(Abs(values), 0.0), axes...), ScalarZero(values.Graph(), values.DType()))
	first := And(broken, Equal(before, ScalarZero(before.Graph(), before.DType())))
	return Where(first, BroadcastToShape(period, before.Shape()), before)
}

// initial makes the state of runs with the given seeds and inputs (by key, one number for each run). One run alone is
// there twice where programs are compiled: in a batch of one XLA adds up in another order than in all larger ones, so
// that the run would not be the one that it is beside others.
func (p *program) initial(seeds []uint64, inputs map[string][]float32) ([]*tensors.Tensor, error) {
	times := 1
	if p.loop && len(seeds) == 1 {
		times = 2
	}
	args := []any{slices.Repeat(seeds, times)}
	for _, name := range p.inputs {
		args = append(args, slices.Repeat(inputs[name], times))
	}
	return p.start.Call(args...)
}

// until advances a state to a period. The state given must not be used again.
func (p *program) until(state []*tensors.Tensor, period int) ([]*tensors.Tensor, error) {
	if p.loop {
		state, _, err := p.call(state, int32(period))
		return state, err
	}
	var err error
	for done := p.periodOf(state); done < period; done++ {
		if state, _, err = p.call(state); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// call is a call of advance, and the graph that it ran.
func (p *program) call(state []*tensors.Tensor, more ...any) ([]*tensors.Tensor, *Graph, error) {
	args := make([]any, len(state), len(state)+1)
	for i, t := range state {
		args[i] = t
	}
	out, g, err := p.advance.CallWithGraph(append(args, more...)...)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range state {
		t.MustFinalizeAll()
	}
	return out, g, nil
}

func (p *program) periodOf(state []*tensors.Tensor) int {
	return int(tensors.ToScalar[int32](state[slices.Index(p.names, statePeriod)]))
}

// read returns the values of a state's node of that name as a slice of T.
func read[T gotype.Supported](p *program, state []*tensors.Tensor, name string) ([]T, error) {
	return tensors.CopyFlatData[T](state[slices.Index(p.names, name)])
}

func addPrefixed(state State, prefix string, part State) {
	for name, v := range part {
		state[prefix+name] = v
	}
}

func flatten(state State, names []string) []*Node {
	out := make([]*Node, len(names))
	for i, name := range names {
		out[i] = state[name]
	}
	return out
}
