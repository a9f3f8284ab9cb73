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
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Config says what an agent is. Model and Train.Capacity must be given; the rest has defaults.
type Config struct {
	Model hyper.Model
	// Features is the length of an input x. 0 is for a tabular base model: an input is then one number, the arm.
	Features int
	// Train is how the hypermodel is trained after each observation; zero numbers are 4 steps, a batch of 64 and 16 indices.
	Train train.Config
	// StepSize is alpha of section 2.1; 0 is 0.1.
	StepSize float64
	// NoiseVariance is sigma_w^2, and PriorVariance sigma_p^2, of the loss; 0 is 1. D of an additive prior is multiplied
	// by sigma_p.
	NoiseVariance, PriorVariance float64
	// Perturbation scales the data perturbations sigma_w a^T z; 0 is 1, and a negative number none.
	Perturbation float64
	// MapStep, Clip and KL are as in train.Rates: the step of a linear hypermodel's C against that of mu, 0 is 1; the bound on a
	// gradient's norm, 0 is none; the strength of the regularizer train.KL, 0 is 1.
	MapStep, Clip, KL float64
	Policy            explore.Policy // nil is explore.Thompson{}
	Anneal            float64        // c of annealed policies; 0 is 30
	Seed              uint64
	Backend           string // as backend.Open; "" is its default
}

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

func (c Config) withDefaults() Config {
	number := func(x *float64, otherwise float64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	number(&c.StepSize, 0.1)
	number(&c.NoiseVariance, 1)
	number(&c.PriorVariance, 1)
	number(&c.Perturbation, 1)
	number(&c.Anneal, 30)
	number(&c.MapStep, 1)
	number(&c.KL, 1)
	count := func(n *int, otherwise int) {
		if *n == 0 {
			*n = otherwise
		}
	}
	count(&c.Train.Steps, 4)
	count(&c.Train.Batch, 64)
	count(&c.Train.Indices, 16)
	if c.Train.Integrate == "" {
		c.Train.Integrate = train.Sampled
	}
	if c.Policy == nil {
		c.Policy = explore.Thompson{}
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	for name, x := range map[string]float64{"Anneal": c.Anneal, "MapStep": c.MapStep, "KL": c.KL, "StepSize": c.StepSize, "NoiseVariance": c.NoiseVariance, "PriorVariance": c.PriorVariance} {
		if !(x > 0) || math.IsInf(x, 0) {
			errs = append(errs, fmt.Errorf("%s must be positive and finite, got %v", name, x))
		}
	}
	if !(c.Clip >= 0) || math.IsInf(c.Clip, 0) {
		errs = append(errs, fmt.Errorf("the Clip must not be negative, and finite, got %v", c.Clip))
	}
	if math.IsNaN(c.Perturbation) || math.IsInf(c.Perturbation, 0) {
		errs = append(errs, fmt.Errorf("the Perturbation must be finite, got %v", c.Perturbation))
	}
	if c.Features < 0 {
		errs = append(errs, fmt.Errorf("the number of Features must not be negative, got %d", c.Features))
	}
	if err := c.Model.Validate(); err != nil {
		errs = append(errs, err)
	} else {
		errs = append(errs, c.Train.Validate(c.Model))
	}
	return errors.Join(errs...)
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

func (a *Agent) rates(g *Graph) train.Rates {
	number := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
	c := a.config
	r := train.Rates{
		Step: number(c.StepSize), NoiseVar: number(c.NoiseVariance), PriorVar: number(c.PriorVariance),
		Perturbation: number(math.Max(c.Perturbation, 0) * math.Sqrt(c.NoiseVariance)),
		MapStep:      number(c.MapStep), KL: number(c.KL),
	}
	if c.Clip > 0 { // without a bound the norm need not be known
		r.Clip = number(c.Clip)
	}
	return r
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
