// Package agent is one agent on its own, as a service or a notebook holds it: it acts, it observes, it can be saved. It is
// the code that the experiments run, with one run.
package agent

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Agent is a hypermodel that learns and explores. All methods are safe for concurrent use: Act and Sample read the last
// complete state while Observe and Train make the next.
type Agent struct {
	config  Config
	backend compute.Backend
	names   []string
	observe *Exec
	train   *Exec
	act     *Exec

	learning sync.Mutex // held while the next state is made
	now      atomic.Pointer[snapshot]
	draws    atomic.Uint32 // decisions and samples so far: each has random numbers of its own

	samplers sync.Map // number of functions -> *Exec
}

// snapshot is an immutable state.
type snapshot struct {
	state  []*tensors.Tensor
	size   int // data observed
	rounds int // calls of Train so far, those by Observe included
}

// ErrFull says that an agent has observed as many data as Train.Capacity allows.
var ErrFull = errors.New("the agent's capacity is reached")

// New returns an agent that has observed nothing. The error joins every fault of the configuration.
func New(c Config) (*Agent, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	b, err := backend.Open(c.Backend)
	if err != nil {
		return nil, err
	}
	if err := c.checkBase(b); err != nil {
		return nil, err
	}
	a := &Agent{config: c, backend: b}
	if a.observe, err = NewExec(b, a.buildObserve); err != nil {
		return nil, err
	}
	if a.train, err = NewExec(b, a.buildTrain); err != nil {
		return nil, err
	}
	if a.act, err = NewExec(b, a.buildAct); err != nil {
		return nil, err
	}
	a.act.SetMaxCache(-1) // a shape for each number of actions
	state, err := CallOnceN(b, a.buildInit, []uint64{c.Seed})
	if err != nil {
		return nil, fmt.Errorf("building the agent: %w", err)
	}
	a.now.Store(&snapshot{state: state})
	return a, nil
}

func (a *Agent) trainer() train.Trainer {
	return train.Trainer{Model: a.config.Model, Config: a.config.Train}
}

// buildInit makes the state of no data from the seed.
func (a *Agent) buildInit(seed *Node) []*Node {
	s := rng.New(seed).Named("agent").Named("init")
	scale := Const(seed.Graph(), []float32{float32(math.Sqrt(a.config.PriorVariance))})
	state := a.trainer().Init(s, scale)
	state["seed"] = seed
	if a.config.Features > 0 {
		state["inputs"] = Zeros(seed.Graph(), float32Shape(1, a.config.Train.Capacity, a.config.Features))
	}
	a.names = slices.Sorted(maps.Keys(state))
	return a.flat(state)
}

// buildObserve adds a datum: args are the state, the number of data before, x, and y.
func (a *Agent) buildObserve(args []*Node) []*Node {
	state, rest := a.unflat(args)
	size, x, y := rest[0], rest[1], rest[2]
	s := rng.New(state["seed"]).Named("agent").At(size).Named("observe")
	action, inputs := x, state["inputs"]
	if inputs != nil { // the data are their own "actions"
		state["inputs"] = train.Insert(inputs, x, size)
		action, inputs = InsertAxes(size, 0), state["inputs"]
	}
	return a.flat(a.trainer().Observe(state, s, size, action, y, inputs))
}

// buildTrain makes the SGD steps of one round: args are the state, the number of data, and the round.
func (a *Agent) buildTrain(args []*Node) []*Node {
	state, rest := a.unflat(args)
	s := rng.New(state["seed"]).Named("agent").At(rest[1]).Named("train")
	return a.flat(a.trainer().Train(state, s, rest[0], state["inputs"], a.rates(rest[0].Graph())))
}

func (a *Agent) flat(state train.State) []*Node {
	out := make([]*Node, len(a.names))
	for i, name := range a.names {
		out[i] = state[name]
	}
	return out
}

func (a *Agent) unflat(args []*Node) (state train.State, rest []*Node) {
	state = train.State{}
	for i, name := range a.names {
		state[name] = args[i]
	}
	return state, args[len(a.names):]
}
