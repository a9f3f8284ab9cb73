package lab

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// compilations counts the programs that this process has compiled. A sweep over numbers that do not shape the
// computation compiles once.
var compilations atomic.Int64

// Compilations returns the number of simulation programs that this process has compiled.
func Compilations() int64 { return compilations.Load() }

// Names of the nodes that the simulation itself keeps in the state. The other names begin with "env.", "agent." or
// "in.".
const (
	stateSeed     = "run.seed"     // uint64 [runs]
	statePeriod   = "run.period"   // int32: number of periods done
	stateRegret   = "run.regret"   // float64 [runs]: cumulative expected regret
	stateDigest   = "run.digest"   // uint32 [runs]: a hash of the actions taken so far, in order
	stateData     = "run.data"     // int32: number of data so far, in a world with delayed rewards
	stateDiverged = "run.diverged" // int32 [runs]: first period (from 1) with predictions that are not finite, or 0
)

// program is a compiled simulation of one shape. start makes a State from seeds and inputs, and advance moves the State
// forward.
type program struct {
	world   bandit.World
	name    string // type of the world, for errors
	problem bandit.Problem
	agent   Agent
	inputs  []string  // names of the numbers that each run has of its own, sorted
	names   []string  // names of the nodes of the State, sorted; set by the first call of start
	changed []int     // positions in names of the nodes that a period changes; set by the first call of advance
	noted   sync.Once // sets changed
	blocks  []int     // the loops of advance, see buildLoop; nil if one call of advance is one period
	start   *Exec
	advance *Exec
}

// newProgram prepares a program; the first calls compile it. GoMLX's Go backend v0.1.3 fails on the loop ("input 1 for
// node BitwiseXor not computed yet"), so advance is one call for each period there. This costs no time, because that
// backend interprets graphs.
func newProgram(name string, world bandit.World, agent Agent, inputs []string) (*program, error) {
	if err := checkProblem(world); err != nil {
		return nil, err
	}
	b, err := backend.Open(name)
	if err != nil {
		return nil, err
	}
	p := &program{world: world, name: typeOf(world), problem: world.Problem(), agent: agent, inputs: inputs,
		blocks: blocksOn(name)}
	if p.start, err = NewExec(b, p.buildInit); err != nil {
		return nil, err
	}
	step := p.buildStep
	if p.blocks != nil {
		step = p.buildLoop
	}
	if p.advance, err = NewExec(b, step); err != nil {
		return nil, err
	}
	p.start.SetMaxCache(-1)
	p.advance.SetMaxCache(-1)
	return p, nil
}

// buildInit builds the graph of start: from seeds and inputs to a State.
func (p *program) buildInit(args []*Node) []*Node {
	seeds := args[0]
	runs := seeds.Shape().Dim(0)
	g := seeds.Graph()
	in := hyper.Numbers{}
	state := bandit.State{stateSeed: seeds}
	for i, name := range p.inputs {
		in[name] = args[1+i]
		state["in."+name] = args[1+i]
	}
	nameFaults("Init of the world "+p.name, func() {
		addPrefixed(state, "env.", p.world.Init(rng.New(seeds).Named("env").Named("init"), in.Part(worldPrefix)))
	})
	nameFaults("Init of the agent", func() {
		addPrefixed(state, "agent.", p.agent.Init(learner.Streams{Seeds: seeds}.Init(), in.Part(agentPrefix)))
	})
	state[statePeriod] = Const(g, int32(0))
	if p.problem.Delays {
		state[stateData] = Const(g, int32(0))
	}
	state[stateRegret] = Zeros(g, shapes.Make(dtypes.Float64, runs))
	state[stateDigest] = Zeros(g, shapes.Make(dtypes.Uint32, runs))
	state[stateDiverged] = Zeros(g, shapes.Make(dtypes.Int32, runs))
	if p.names == nil { // set once: another batch size builds again while other goroutines read names
		p.names = slices.Sorted(maps.Keys(state))
	}
	return flatten(state, p.names)
}

func (p *program) buildStep(nodes []*Node) []*Node {
	compilations.Add(1)
	return p.changes(p.period(nodes))
}

// changes returns the nodes of a State that a period changes. The others, such as the priors of all runs, can be large.
// advance does not return them, so that XLA need not copy them in each call.
func (p *program) changes(nodes []*Node) []*Node {
	out := make([]*Node, len(p.changed))
	for i, at := range p.changed {
		out[i] = nodes[at]
	}
	return out
}

// blocksOn returns the numbers of periods of the blocks in which a backend advances, or nil for the Go backend. On a GPU
// most periods are in blocks of a known length: with blocks of 32 periods, the GPU waits for the host once in 32 periods
// (see package loop). A CPU does not wait, and a second loop would double the time to compile.
var blocksOn = func(name string) []int {
	switch name {
	case backend.Go:
		return nil
	case backend.XLACUDA:
		return []int{32, 1}
	}
	return []int{1}
}

// buildLoop builds the graph that advances a State to a period, which is the last argument. For each length of a block
// there is a loop, which advances by whole blocks as far as possible. A block is itself a loop, of a known number of
// periods. The last length is 1.
func (p *program) buildLoop(args []*Node) []*Node {
	compilations.Add(1)
	at, last := slices.Index(p.names, statePeriod), len(args)-1
	for _, n := range p.blocks {
		fits := func(now []*Node) *Node { return LessOrEqual(now[at], AddScalar(now[last], int32(-n))) }
		args = loop.Unbounded(args, fits, func(now []*Node) []*Node {
			block := loop.Repeat(n, now[:last], nil, func(_ loop.Index, state []*Node) []*Node { return p.period(state) })
			return append(slices.Clone(block), now[last])
		})
	}
	return p.changes(args[:last])
}

// initial returns the State of runs with the given seeds and inputs (by key, one number for each run). On backends that
// compile, it doubles a single run: in a batch of one, XLA adds in another order than in all larger batches, and the
// run would differ from the same run in a larger batch.
func (p *program) initial(seeds []uint64, inputs map[string][]float32) ([]*tensors.Tensor, error) {
	times := 1
	if p.blocks != nil && len(seeds) == 1 {
		times = 2
	}
	args := []any{slices.Repeat(seeds, times)}
	for _, name := range p.inputs {
		args = append(args, slices.Repeat(inputs[name], times))
	}
	state, err := p.start.Call(args...)
	return state, plain(err)
}

// until advances a State to a period. It frees the given State, which must not be used again.
func (p *program) until(state []*tensors.Tensor, period int) ([]*tensors.Tensor, error) {
	if p.blocks != nil {
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

// call calls advance once. It returns the new State and the graph that it ran. It frees the nodes of the given State
// that have changed. The new State has the others.
func (p *program) call(state []*tensors.Tensor, more ...any) ([]*tensors.Tensor, *Graph, error) {
	args := make([]any, len(state), len(state)+1)
	for i, t := range state {
		args[i] = t
	}
	out, g, err := p.advance.CallWithGraph(append(args, more...)...)
	if err != nil {
		return nil, nil, plain(err)
	}
	next := slices.Clone(state)
	for i, at := range p.changed {
		state[at].MustFinalizeAll()
		next[at] = out[i]
	}
	return next, g, nil
}

// free frees the memory of a State, which must not be used again.
func free(state []*tensors.Tensor) {
	for _, t := range state {
		t.MustFinalizeAll()
	}
}

func (p *program) periodOf(state []*tensors.Tensor) int {
	return int(tensors.ToScalar[int32](state[slices.Index(p.names, statePeriod)]))
}

// read returns the values of the named node of a State as a slice of T.
func read[T gotype.Supported](p *program, state []*tensors.Tensor, name string) ([]T, error) {
	return tensors.CopyFlatData[T](state[slices.Index(p.names, name)])
}

func addPrefixed(state bandit.State, prefix string, part bandit.State) {
	for name, v := range part {
		if v == nil {
			panic(faults.New("", "%s%s in the state of the runs is nil", prefix, name))
		}
		state[prefix+name] = v
	}
}

// named returns the nodes of a State by name. flatten is its inverse.
func (p *program) named(nodes []*Node) hyper.Numbers {
	state := hyper.Numbers{}
	for i, name := range p.names {
		state[name] = nodes[i]
	}
	return state
}

func flatten(state bandit.State, names []string) []*Node {
	out := make([]*Node, len(names))
	for i, name := range names {
		out[i] = state[name]
	}
	return out
}
