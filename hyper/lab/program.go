package lab

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
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
	stateDiverged = "run.diverged" // int32 [runs]: the period (from 1) whose predictions were not finite first, or 0
)

// program is a compiled simulation of one shape: init makes a State from seeds and inputs, advance moves it on.
type program struct {
	env     Environment
	agent   Agent
	inputs  []string // keys of the per-run numbers, sorted
	names   []string // of the state's nodes, sorted; set by the first init
	loop    bool     // advance is one call with a While loop, else one call a period
	start   *Exec
	advance *Exec
}

// newProgram compiles nothing yet. GoMLX's Go backend v0.1.3 fails on this While body ("input 1 for node BitwiseXor not
// computed yet"), so it gets one call a period, which costs it nothing: it interprets.
func newProgram(name string, env Environment, agent Agent, inputs []string) (*program, error) {
	b, err := backend.Open(name)
	if err != nil {
		return nil, err
	}
	p := &program{env: env, agent: agent, inputs: inputs, loop: name != backend.Go}
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
	in := Inputs{}
	state := State{stateSeed: seeds}
	for i, name := range p.inputs {
		in[name] = args[1+i]
		state["in."+name] = args[1+i]
	}
	root := rng.New(seeds)
	addPrefixed(state, "env.", p.env.Init(root.Named("env").Named("init"), in))
	addPrefixed(state, "agent.", p.agent.Init(root.Named("agent").Named("init"), in))
	state[statePeriod] = Const(g, int32(0))
	state[stateRegret] = Zeros(g, shapes.Make(dtypes.Float64, runs))
	state[stateDigest] = Zeros(g, shapes.Make(dtypes.Uint32, runs))
	state[stateDiverged] = Zeros(g, shapes.Make(dtypes.Int32, runs))
	if p.names == nil { // a batch of another size builds again while others read
		p.names = slices.Sorted(maps.Keys(state))
	}
	return flatten(state, p.names)
}

// buildStep advances a state by one period.
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

// period is one period of interaction of every run: act, step the environment, learn.
func (p *program) period(nodes []*Node) []*Node {
	state := State{}
	for i, name := range p.names {
		state[name] = nodes[i]
	}
	in := prefixed(state, "in.")
	envState, agentState := prefixed(state, "env."), prefixed(state, "agent.")
	t := state[statePeriod]
	root := rng.New(state[stateSeed]).At(t)

	actions := p.env.Actions(envState)
	action, values := p.agent.Act(agentState, in, root.Named("act"), t, actions)
	reward, regret := p.env.Step(envState, in, root.Named("env"), action)
	agentState = p.agent.Learn(agentState, in, root.Named("learn"), t, action, reward, actions)

	out := maps.Clone(state)
	addPrefixed(out, "agent.", agentState)
	next := AddScalar(t, int32(1))
	out[statePeriod] = next
	out[stateRegret] = Add(state[stateRegret], ConvertDType(regret, dtypes.Float64))
	out[stateDigest] = Add(MulScalar(state[stateDigest], uint32(0x01000193)), AddScalar(ConvertDType(action, dtypes.Uint32), uint32(1)))
	out[stateDiverged] = p.diverged(state[stateDiverged], values, next)
	return flatten(out, p.names)
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

// initial makes the state of runs with the given seeds and inputs (by key, one number for each run).
func (p *program) initial(seeds []uint64, inputs map[string][]float32) ([]*tensors.Tensor, error) {
	args := []any{seeds}
	for _, name := range p.inputs {
		args = append(args, inputs[name])
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

func prefixed(state State, prefix string) State {
	out := State{}
	for name, v := range state {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = v
		}
	}
	return out
}

func flatten(state State, names []string) []*Node {
	out := make([]*Node, len(names))
	for i, name := range names {
		out[i] = state[name]
	}
	return out
}
