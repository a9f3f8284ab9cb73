// Package agent is a bandit agent to embed in a service. The agent chooses among options and learns from rewards.
// Rewards may come late or never. The agent can be saved to a file.
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
//   - Rewards: [Agent.Observe] takes rewards by the IDs of their decisions. [Reward] defines what the agent learns from
//     a decision without a reward, and from a decision with several. [Agent.Shown] is for decisions made in advance.
//   - Files: [Agent.Save] and [Load] keep an agent exactly. [Open] also keeps a log, and loses nothing.
//   - Arms can be added and removed while the agent decides: [Agent.AddArm], [Agent.RemoveArm] and [Agent.ChangeArms].
//   - A world that changes: Config.Forget discounts old rewards, a Window drops old data (see [Replay]), and [Change]
//     tests whether the world has changed.
//   - Questions about a decision: [Agent.Explain], [Agent.Sample] and [Snapshot.Calibrate].
//
// An agent is the learner that experiments run, with one run. It takes exactly the actions that an experiment with its
// seed takes, if it has no Floor, its Learner names the Policy, and each reward comes before the next decision.
//
// GoMLX's Go backend fails the pointer checks that the race detector turns on. Test a program with `go test -race
// -gcflags=all=-d=checkptr=0`.
package agent

import (
	"fmt"
	"maps"
	"slices"
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

// Agent is a belief that learns and explores. All methods are safe for concurrent use. Act and Sample read the last
// complete state while Observe, Add, Learn and the background learner make the next state.
type Agent struct {
	*form // replaced when arms change: see currentForm

	learning sync.Mutex // held while the next state is made
	closed   bool
	replays  bool // whether the records of a log settle decisions, instead of the clock

	log        Journal    // nil without a log
	committing sync.Mutex // held while a record is appended and the change that it records is made

	reading sync.Mutex // held while form and now are read or replaced
	now     *snapshot

	decisions, samples atomic.Uint64 // number of calls of Act and Sample so far: each call has its own random numbers
	armChanges         atomic.Uint64
	pending            pending
	background         *background // nil without a background learner
	settler            *background // nil if no decision is settled by time
	settlements        settlements
}

// form holds the parts of an agent that depend on the number of arms. It is replaced when arms change, while
// a.learning, a.committing and a.reading are held. Code that holds none of these locks gets the form from
// currentForm, held or belief.
type form struct {
	config  Config // with defaults filled in
	made    Config // config with the arms at the creation of the agent
	set     ArmSet // empty if actions are not arms
	steps   []int  // number of arms after each growth
	backend compute.Backend
	arms    int           // number of arms if there are no features
	names   []train.Entry // names of the state's tensors, sorted
	read    []int         // indices in names of the tensors that Act and Sample read

	observe *update
	keep    *update // updates a belief that keeps knowledge of inputs with a datum that the reservoir does not take
	train   *update
	revise  revision

	encoder    *encoder       // nil if a Menu holds the inputs themselves
	programs   *programs      // programs of Act and Sample
	hostBelief hyper.Hosted   // nil if programs draw functions
	hostPolicy explore.Hosted // nil if programs decide
	hostLinks  bool           // see learner.Learner.Links
	learner    *hostLearning  // nil if programs learn
	fixed      *fixedParts
	reader     *uint64 // the seed of a Reader; nil for other agents
}

// currentForm returns the current form.
func (a *Agent) currentForm() *form {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.form
}

// New returns an agent that has observed nothing. The error joins all faults of the configuration.
func New(c Config) (*Agent, error) {
	a, err := newAgent(c)
	if err == nil {
		a.start()
	}
	return a, err
}

// newAgent is New without starting the background learner.
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

// newForm returns the form of a configuration and its initial state, which has no data.
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

// seed is the name under which the state stores the seed.
const seed = "seed"

// streams returns the random streams of the agent.
func streams(state train.State) learner.Streams { return learner.Streams{Seeds: state[seed]} }

// buildInit builds the initial state from the seed.
func (a *form) buildInit(seeds *Node) []*Node {
	state := a.initial(seeds)
	out := make([]*Node, len(state))
	for i, name := range slices.Sorted(maps.Keys(state)) {
		entry := train.Entry(name)
		a.names, out[i] = append(a.names, entry), state[name]
		if name == seed || entry.Constant() || entry.Learned() {
			a.read = append(a.read, i)
		}
	}
	return out
}

// initial returns the initial state, by name.
func (a *form) initial(seeds *Node) train.State {
	l := a.config.Learner
	l.Train.Capacity = a.config.rows()
	state := l.Init(learner.Streams{Seeds: seeds}.Init(), nil)
	state[seed] = seeds
	return state
}

// place returns the index of a tensor in the state, by its name.
func (a *form) place(name train.Entry) int { return slices.Index(a.names, name) }

// part returns the State of the nodes at some places of the whole state.
func (a *form) part(nodes []*Node, places []int) train.State {
	state := train.State{}
	for i, place := range places {
		state[string(a.names[place])] = nodes[i]
	}
	return state
}
