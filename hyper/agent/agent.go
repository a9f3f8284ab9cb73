// Package agent is one agent on its own, as a service or a notebook holds it: it acts, it observes, it can be saved. It
// is the code that the experiments run, with one run.
package agent

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Agent is a hypermodel that learns and explores. All methods are safe for concurrent use: Act and Sample read the last
// complete state while Observe and Train make the next.
type Agent struct {
	config  Config
	backend compute.Backend
	names   []string // of the state's tensors, sorted
	read    []int    // places in names of what Act and Sample read

	learning sync.Mutex // held while the next state is made
	observe  *update
	train    *update

	reading sync.Mutex // held while now changes hands
	now     *snapshot

	decisions, samples atomic.Uint32 // calls of Act and Sample so far: each has random numbers of its own
	programs           programs      // of Act and Sample
}

// keptInputs is the name of the inputs of the data, [1, rows, Features], where the data are kept.
const keptInputs = "replay.inputs"

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
	state, err := CallOnceN(b, a.buildInit, []uint64{c.Seed})
	if err != nil {
		return nil, fmt.Errorf("building the agent: %w", err)
	}
	if !allFinite(state) {
		free(state...)
		return nil, fmt.Errorf("building the agent: its initial parameters are %w", ErrNotFinite)
	}
	if err := a.newUpdates(); err != nil {
		return nil, err
	}
	s := newSnapshot(state)
	s.data.Rows = c.rows()
	a.become(s)
	return a, nil
}

func (a *Agent) trainer() train.Trainer {
	return train.Trainer{Model: a.config.Model, Config: a.config.Train}
}

// buildInit makes the state of no data from the seed.
func (a *Agent) buildInit(seed *Node) []*Node {
	s := rng.New(seed).Named("agent").Named("init")
	scale := Const(seed.Graph(), []float32{float32(math.Sqrt(a.config.PriorVariance))})
	t := a.trainer()
	t.Capacity = a.config.rows()
	state := t.Init(s, scale)
	state["seed"] = seed
	if a.config.Features > 0 && t.Replays() {
		state[keptInputs] = Zeros(seed.Graph(), shapes.Make(dtypes.Float32, 1, t.Capacity, a.config.Features))
	}
	if a.config.boundsStep() {
		state["norm2"] = Const(seed.Graph(), []float64{0})
	}
	a.names = slices.Sorted(maps.Keys(state))
	out := make([]*Node, len(a.names))
	for i, name := range a.names {
		out[i] = state[name]
		if name == "seed" || fixed(name) || strings.HasPrefix(name, "nu.") { // what Params are made of
			a.read = append(a.read, i)
		}
	}
	return out
}

// fixed tells whether a part of the state is drawn by New and never changes.
func fixed(name string) bool {
	return strings.HasPrefix(name, "anchor.") || strings.HasPrefix(name, "prior")
}

// place is the place in the state of the tensor of that name.
func (a *Agent) place(name string) int { return slices.Index(a.names, name) }

// part makes a State of nodes at places of the whole.
func (a *Agent) part(nodes []*Node, places []int) train.State {
	state := train.State{}
	for i, place := range places {
		state[a.names[place]] = nodes[i]
	}
	return state
}
