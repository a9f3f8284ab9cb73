// Package agent is a bandit agent to embed in a service: it chooses among options, learns from rewards that may come late
// or never, and can be saved.
//
//	shop, err := agent.Contextual(3, 8)                     // 3 arms; a context of 8 numbers
//	d, err := shop.Decide(ctx, agent.Menu{Context: x})
//	show(d.Action)                                          // log d.Probabilities with it
//	err = shop.Observe(ctx, agent.Feedback{ID: d.ID, Reward: 1}) // seconds or days later
//	err = shop.Save("shop.agent")
//
// [Arms], [Contextual], [Linear], [Neural] and [ContextualNeural] make agents for rewards of any scale; the fields of a
// [Config] are their options. README.md of this folder says which agent to take, and what each costs.
//
//   - Rewards: [Agent.Observe] takes them by the IDs of their decisions. [Reward] says what silence teaches, and what
//     several rewards of one decision mean. [Agent.Shown] is for decisions that are made ahead.
//   - Files: [Agent.Save] and [Load] keep an agent exactly. [Open] keeps a log as well, and loses nothing.
//   - Arms come and go while the agent decides: [Agent.AddArm], [Agent.RemoveArm] and [Agent.ChangeArms].
//   - A world that changes: Config.Forget discounts old rewards, a Window of the data drops them (see [Replay]), and
//     [Change] tests whether the world has changed.
//   - Questions about a decision: [Agent.Explain], [Agent.Sample] and [Snapshot.Calibrate].
//
// An agent is the learner that experiments run, with one run. If it has no Floor, its Learner names the Policy, and each
// reward comes before the next decision, it takes the very actions that an experiment with its seed takes.
//
// GoMLX's Go backend does not pass the checks of pointers that the race detector turns on: test a program with
// `go test -race -gcflags=all=-d=checkptr=0`.
package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Agent is a belief that learns and explores. All methods are safe for concurrent use: Act and Sample read the last
// complete state while Observe, Add, Learn and the background learner make the next.
type Agent struct {
	*form // another one when arms change: see viewed

	learning sync.Mutex // held while the next state is made
	closed   bool
	replays  bool // whether decisions are settled by the records of a log, and not by time

	log        Journal    // nil is none
	committing sync.Mutex // held while what the log has changes, together with what it is of

	reading sync.Mutex // held while now changes hands
	now     *snapshot

	decisions, samples atomic.Uint64 // calls of Act and Sample so far: each has random numbers of its own
	armChanges         atomic.Uint64
	pending            pending
	background         *background // nil where there is none
	settler            *background // likewise
	settlements        settlements
}

// form is what depends on the number of arms. It is made anew when arms change, while a.learning, a.committing and
// a.reading are held; who holds none of them takes it by viewed.
type form struct {
	config  Config // with its defaults
	made    Config // config with the arms that the agent was made with
	set     ArmSet // empty where actions have numbers
	steps   []int  // how many arms there were after each growth
	backend compute.Backend
	arms    int      // how many there are, where there are no features
	names   []string // of the state's tensors, sorted
	read    []int    // places in names of what Act and Sample read

	observe *update
	keep    *update // of what observe has no room for, by beliefs that keep what they know of inputs
	train   *update
	revise  revision

	encoder    *encoder       // nil where a Menu has inputs
	programs   *programs      // of Act and Sample
	hostBelief hyper.Hosted   // nil where functions are drawn by programs
	hostPolicy explore.Hosted // nil where programs decide
	learner    *hostLearning  // nil where programs learn
	fixed      *fixedParts
	reader     *uint64 // the seed of a Reader; nil is none
}

// viewed is the form that the agent has now.
func (a *Agent) viewed() *form {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.form
}

// New returns an agent that has observed nothing. The error joins every fault of the configuration.
func New(c Config) (*Agent, error) {
	a, err := newAgent(c)
	if err == nil {
		a.start()
	}
	return a, err
}

// newAgent is New without the background learner.
func newAgent(c Config) (*Agent, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	b, err := backend.Open(c.Backend)
	if err != nil {
		return nil, err
	}
	f, s, err := newForm(c, b)
	if err != nil {
		return nil, err
	}
	f.set = newArms(f.slots())
	a := &Agent{form: f, pending: pending{size: c.Pending, expire: c.Expire, reward: c.Reward}}
	a.become(s)
	return a, nil
}

// newForm is the form of a configuration, and its state of no data.
func newForm(c Config, b compute.Backend) (*form, *snapshot, error) {
	a := &form{config: c, made: c, backend: b, encoder: newEncoder(c.Encoding), programs: new(programs),
		fixed: new(fixedParts)}
	if err := a.checkBelief(); err != nil {
		return nil, nil, err
	}
	a.hostParts()
	state, err := CallOnceN(b, a.buildInit, []uint64{c.Seed})
	if err != nil {
		return nil, nil, fmt.Errorf("building the agent: %w", err)
	}
	if !allFinite(state) {
		free(state...)
		return nil, nil, fmt.Errorf("building the agent: its initial parameters are %w", ErrNotFinite)
	}
	if err := a.newUpdates(); err != nil {
		return nil, nil, err
	}
	s := newSnapshot(state)
	s.data.Rows = c.rows()
	if err := a.hostLearner(s); err != nil {
		s.drop()
		return nil, nil, err
	}
	return a, s, nil
}

// seed is the name of the seed in the state.
const seed = "seed"

// streams are the random numbers of the agent.
func streams(state train.State) learner.Streams { return learner.Streams{Seeds: state[seed]} }

// buildInit makes the state of no data from the seed.
func (a *form) buildInit(seeds *Node) []*Node {
	state := a.initial(seeds)
	a.names = slices.Sorted(maps.Keys(state))
	out := make([]*Node, len(a.names))
	for i, name := range a.names {
		out[i] = state[name]
		if name == seed || fixed(name) || moving(name) {
			a.read = append(a.read, i)
		}
	}
	return out
}

// moving tells whether Act and Sample read a part of the state that data change.
func moving(name string) bool {
	return slices.ContainsFunc([]string{"nu.", "kept.", "response."}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// initial is the state of no data, by name.
func (a *form) initial(seeds *Node) train.State {
	l := a.config.Learner
	l.Train.Capacity = a.config.rows()
	state := l.Init(learner.Streams{Seeds: seeds}.Init(), nil)
	state[seed] = seeds
	return state
}

// stored tells whether a part of the state is data, in rows.
func stored(name string) bool { return strings.HasPrefix(name, "replay.") }

// fixed tells whether a part of the state is drawn by New and never changes.
func fixed(name string) bool {
	return strings.HasPrefix(name, "anchor.") || strings.HasPrefix(name, "fixed.")
}

// place is the place in the state of the tensor of that name.
func (a *form) place(name string) int { return slices.Index(a.names, name) }

// part makes a State of nodes at places of the whole.
func (a *form) part(nodes []*Node, places []int) train.State {
	state := train.State{}
	for i, place := range places {
		state[a.names[place]] = nodes[i]
	}
	return state
}
