package lab

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// period builds one period of every run: the agent acts, the world steps, the agent learns. A run that has diverged
// takes the actions in turn.
func (p *program) period(nodes []*Node) []*Node {
	state := p.named(nodes)
	in, before, agent := state.Part("in."), bandit.State(state.Part("env.")), bandit.State(state.Part("agent."))
	worldNumbers, agentNumbers := in.Part(worldPrefix), in.Part(agentPrefix)
	t := state[statePeriod]
	root, streams := rng.New(state[stateSeed]).At(t), learner.Streams{Seeds: state[stateSeed]}
	runs := root.Runs()

	var offer bandit.Offer
	var world bandit.State
	nameFaults("Offer of the world "+p.name, func() {
		offer, world = p.world.Offer(maps.Clone(before), worldNumbers, root.Named("offer"), t)
	})
	offered := maps.Clone(world)
	x := offer.Inputs(p.problem.Actions)
	p.checkOffer(x, offer.Available, runs)
	var action, values *Node
	nameFaults("Act of the agent", func() {
		action, values = p.agent.Act(agent, agentNumbers, streams.Act(t), t, x, offer.Available)
	})
	diverged := p.diverged(state[stateDiverged], values, AddScalar(t, int32(1)))
	inTurn := BroadcastToShape(explore.InTurn(t, p.problem.Actions, offer.Available), action.Shape())
	action = Where(Equal(diverged, ZerosLike(diverged)), action, inTurn)
	var outcome bandit.Outcome
	nameFaults("Step of the world "+p.name, func() {
		outcome, world = p.world.Step(world, worldNumbers, root.Named("env"), t, action)
	})
	p.checkStep(outcome, before, offered, world, runs)

	out := bandit.State(maps.Clone(state))
	d := Datum{Number: t, Action: action, Inputs: x, Reward: outcome.Reward}
	if p.problem.Delays {
		d.Number, d.Action = state[stateData], outcome.Late.Action
		out[stateData] = Add(d.Number, ConvertDType(outcome.Late.Arrived, dtypes.Int32))
	}
	if p.problem.Moves {
		d.Inputs, d.Input = nil, p.inputOf(outcome, x, action)
	}
	var next bandit.State
	nameFaults("Learn of the agent", func() { next = p.agent.Learn(agent, agentNumbers, streams.Learn(t), d) })
	if p.problem.Delays {
		next = where(outcome.Late.Arrived, next, agent)
	}
	addPrefixed(out, "agent.", next)
	addPrefixed(out, "env.", world)
	out[stateDiverged] = diverged
	p.count(out, t, action, outcome.Regret)
	after := flatten(out, p.names)
	p.noted.Do(func() {
		for i := range after {
			if after[i] != nodes[i] {
				p.changed = append(p.changed, i)
			}
		}
	})
	return after
}

// inputOf returns the input of the action that earned the outcome's reward, [runs, features].
func (p *program) inputOf(o bandit.Outcome, x, action *Node) *Node {
	if o.Late != nil {
		return o.Late.Input
	}
	return row.Of(x, action)
}

// where selects, for each node of two States, the first State if the condition is true and the other otherwise. It does
// not touch nodes that are the same in both.
func where(first *Node, one, other bandit.State) bandit.State {
	out := bandit.State{}
	for name, x := range one {
		out[name] = x
		if x != other[name] {
			out[name] = Where(BroadcastToShape(first, x.Shape()), x, other[name])
		}
	}
	return out
}

// count advances the nodes that the simulation itself keeps by one period.
func (p *program) count(state bandit.State, t, action, regret *Node) {
	state[statePeriod] = AddScalar(t, int32(1))
	state[stateRegret] = Add(state[stateRegret], ConvertDType(regret, dtypes.Float64))
	digit := AddScalar(ConvertDType(action, dtypes.Uint32), uint32(1))
	state[stateDigest] = Add(MulScalar(state[stateDigest], uint32(0x01000193)), digit)
}

// diverged returns, for each run, the first period with values that are not all finite, or 0.
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
