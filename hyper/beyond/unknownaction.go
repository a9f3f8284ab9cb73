package beyond

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// UnknownAction shows the value of joint predictions on the bandit with one unknown action: see bandit.UnknownAction.
// With joint predictions the regret does not grow with the number A of actions. With marginal predictions alone it is
// proportional to A.
var UnknownAction = lab.Experiment{
	Name:    "unknown-action",
	Title:   "One unknown action: joint predictions against marginal ones",
	Section: "section 3 of ATS via ENNs (Osband et al.)",
	World:   func() bandit.World { return bandit.NewUnknownAction() },
	Agents: map[string]func() lab.Learner{
		"exact-thompson": func() lab.Learner { return &OneUnknown{Joint: true} },
		"marginal":       func() lab.Learner { return &OneUnknown{} },
	},
	Order:   []string{"exact-thompson", "marginal"},
	Quick:   fewActions,
	Full:    manyActions,
	Failure: 0.25,
}

// Sizes. A run has at least ten times as many periods as actions, so that the agents find the unknown action.
var (
	fewActions  = lab.Size{Periods: 1000, Runs: 400, Sets: []string{"actions=2,4,8,16,32,64"}}
	manyActions = lab.Size{Periods: 10_000, Runs: 300, Sets: []string{"actions=2,4,8,16,32,64,128,256,512,1024"}}
)

// growth returns the claim that the logarithm of an agent's regret has a slope in the logarithm of the number of
// actions.
func growth(name, agent, text string, slope float64) study.Claim {
	return study.Claim{Name: name, Text: text, Quick: fewActions, Full: manyActions,
		Test: func(simulate study.Simulator, size lab.Size) (study.Finding, error) {
			h, rows, err := simulate([]string{agent}, nil, size)
			if err != nil {
				return study.Finding{}, err
			}
			var actions []float64
			for _, e := range h.Spec.Entries {
				actions = append(actions, float64(e.Setting.World.Problem().Actions))
			}
			e, period, runs, err := analysis.RegretSlope(rows, actions)
			if err != nil {
				return study.Finding{}, err
			}
			what := fmt.Sprintf("slope of the logarithm of %s's regret in that of %.0f to %.0f actions, at period %d", agent,
				actions[0], actions[len(actions)-1], period)
			return study.Comparison{Text: what, Kind: "slope in actions", Estimate: e,
				Claimed: study.Range{Above: slope - 0.1, Below: slope + 0.1}, Periods: period,
				Runs: runs}.Judge(), study.EnoughRuns(size, runs)
		}}
}

// unknownActionClaims lists the claims about the experiment.
var unknownActionClaims = []study.Claim{
	growth("joint-flat", "exact-thompson",
		"Thompson sampling from joint predictions has a regret that does not grow with "+
			"the number of actions: the slope of its logarithm is within 0.1 of 0 (ATS, section 3; the bound is ours)", 0),
	growth("marginal-linear", "marginal",
		"an agent that sees marginal predictions alone has a regret proportional to "+
			"the number of actions: a slope within 0.1 of 1 (ATS, section 3; the bound is ours)", 1),
}

// OneUnknown is an agent that knows everything about the bandit except the reward of the last arm. If Joint, it is
// exact Thompson sampling, from joint predictions. Otherwise it knows only the marginal distribution of each arm's next
// reward.
//
// Thompson sampling draws the reward of the last arm. If the draw is 1, it takes that arm, else one of the others.
// Therefore it tries the unknown arm with probability 1/2 in each period. Its expected regret is 1/2 in total, for any
// A. If the arm pays 1, the expected number of periods without the arm is 1, with regret 1/2 each. If the arm pays 0,
// it is tried once.
//
// Before the last arm is tried, the marginals of all arms are equal. An agent that takes the best of independent draws
// from them, or of any function of them, and breaks ties at random, takes each arm with probability 1/A. After the
// trial, the marginals show what the arm pays. This agent is the best of these: it takes the arm with the highest mean.
// Its expected regret is A/4. If the arm pays 1, it takes A - 1 other arms first on average; if the arm pays 0, it is
// tried once.
type OneUnknown struct{ Joint bool }

// Validate always returns nil.
func (*OneUnknown) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent for a problem.
func (c *OneUnknown) Agent(p bandit.Problem) lab.Agent { return oneUnknown{p.Actions, c.Joint} }

// oneUnknown is the agent. Its state is the probability that the last arm pays 1, [runs].
type oneUnknown struct {
	actions int
	joint   bool
}

func (oneUnknown) Numbers() map[string]float64 { return nil }

func (a oneUnknown) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	zero := Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs()))
	return bandit.State{"pays": AddScalar(zero, 0.5)}
}

// Act draws from a stream that depends on the number of actions. Runs with the same seed and different numbers of
// actions are therefore independent, except for the reward of the last arm.
func (a oneUnknown) Act(state bandit.State, _ hyper.Numbers, s rng.Stream, _, _, _ *Node) (action, values *Node) {
	s, pays := s.Named(fmt.Sprint(a.actions)), state["pays"]
	draw := func(n int) *Node { return Squeeze(s.Named("arm").Intn(Const(s.Graph(), int32(n)), 1), 1) }
	half := Const(s.Graph(), float32(0.5))
	known, last := draw(a.actions-1), AddScalar(ZerosLike(draw(1)), int32(a.actions-1))
	if a.joint {
		u := Squeeze(s.Named("function").Uniform(1), 1)
		return Where(LessThan(u, pays), last, known), pays
	}
	action = Where(LessThan(pays, half), known, last)
	return Where(Equal(pays, half), draw(a.actions), action), pays
}

// Predict draws functions: the mean rewards of all arms.
func (a oneUnknown) Predict(state bandit.State, _ hyper.Numbers, s rng.Stream, functions int, _ *Node) *Node {
	pays := InsertAxes(state["pays"], -1, -1)
	last := LessThan(s.Uniform(functions, 1), pays)
	known := Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), functions, a.actions-1))
	return Concatenate([]*Node{AddScalar(known, 0.5), ConvertDType(last, dtypes.Float32)}, 2)
}

// Learn stores the reward of the last arm when the arm is taken.
func (a oneUnknown) Learn(state bandit.State, _ hyper.Numbers, _ rng.Stream, d lab.Datum) bandit.State {
	tried := Equal(d.Action, Const(d.Action.Graph(), int32(a.actions-1)))
	return bandit.State{"pays": Where(tried, d.Reward, state["pays"])}
}

// Computation returns 0, because the agent makes no SGD steps.
func (oneUnknown) Computation() float64 { return 0 }
