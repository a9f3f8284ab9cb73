package paper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// IDS is the experiment of section 5: information-directed sampling and Thompson sampling on a one-sparse linear
// bandit, both with the one-sparse hypermodel. Two agents with the exact posterior show the regret without
// approximation. Two further agents have hypermodels that are not made for this problem.
var IDS = lab.Experiment{
	Name:    "ids",
	Title:   "Information-directed sampling on a one-sparse linear bandit",
	Section: "5, figure 4",
	World:   func() bandit.World { return bandit.NewOneSparse() },
	Agents: map[string]func() lab.Learner{
		"ids":            func() lab.Learner { return sparse(explore.IDS{N: 500}) },
		"thompson":       func() lab.Learner { return sparse(explore.Thompson{}) },
		"exact-ids":      func() lab.Learner { return &SparseExact{learners.Exploration{Policy: explore.IDS{}}} },
		"exact-thompson": func() lab.Learner { return &SparseExact{learners.Exploration{Policy: explore.Thompson{}}} },
		"linear":         func() lab.Learner { return sparseLinear() },
		"ensemble":       func() lab.Learner { return sparseEnsemble() },
	},
	Order:   []string{"ids", "thompson", "exact-ids", "exact-thompson", "linear", "ensemble"},
	Quick:   lab.Size{Periods: 200, Runs: 20, Sets: quickIDS},
	Full:    lab.Size{Periods: 1000, Runs: 500, Sets: fullIDS},
	Failure: 0.1,
}

// Settings of the two sizes. Five SGD steps, the default, suffice for N = 50. For N = 200 five steps would double the
// regret of IDS.
var quickIDS, fullIDS = []string{"size=50"}, []string{"size=200", "sgd-steps=20"}

// sparse returns the agent with the one-sparse hypermodel and a policy.
func sparse(p explore.Policy) *learners.OneSparse {
	c := learners.NewOneSparse(false)
	c.Policy = p
	return c
}

// sparseDescent returns the training of hypermodels that are not made for this problem.
func sparseDescent(stepSize float64) learners.Descent {
	d := learners.NewOneSparse(false).Descent
	d.StepSize, d.Integrate, d.Optimizer = stepSize, train.Analytic.String(), train.Adam{}
	return d
}

// sparseLinear returns an agent with a dense linear hypermodel, and with an additive prior that has the first two
// moments of theta*. Its functions are Gaussian nevertheless, and give little probability to a component of 1.
func sparseLinear() *learners.Linear {
	c := learners.NewLinear(false)
	c.Hidden, c.IndexDim, c.InitialMap, c.Perturbation = nil, 30, 1, 1
	c.InitC, c.MeanStart = hyper.InitZeros, true
	c.PriorVariance, c.PriorFactor, c.Policy = 0, 100, explore.IDS{N: 500}
	c.Descent = sparseDescent(0.008)
	return c
}

// sparseEnsemble returns an agent with an ensemble. The particles start as draws from the distribution of theta*, and
// the regularizer pulls them towards their start.
func sparseEnsemble() *learners.Ensemble {
	c := learners.NewEnsemble(false)
	c.Hidden, c.Particles, c.AdditivePrior, c.InitNu, c.Perturbation = nil, 100, false, hyper.InitOneHot, 1
	c.PriorVariance, c.PriorFactor, c.Policy = 0, 10, explore.IDS{N: 500}
	c.Descent = sparseDescent(0.03)
	return c
}

// SparseExact holds the settings of an agent with the exact posterior over the N one-hot vectors, for noise of variance
// noise-variance.
type SparseExact struct{ learners.Exploration }

// Validate reports every setting that is out of its range.
func (c *SparseExact) Validate(*bandit.Problem) error { return c.Check() }

// Agent returns the agent for a problem.
func (c *SparseExact) Agent(p bandit.Problem) lab.Agent {
	return finiteAgent{n: p.Features, policy: c.Policy, noiseVariance: p.NoiseVariance}
}

// finiteAgent explores with the exact posterior over one-hot vectors. Its state is the logarithms of their weights,
// [runs, N]; the largest logarithm is 0.
type finiteAgent struct {
	n             int // N
	policy        explore.Policy
	noiseVariance float64 // of a reward, as the agent assumes
}

func (a finiteAgent) Numbers() map[string]float64 {
	out := map[string]float64{"NoiseVariance": a.noiseVariance}
	for name, x := range hyper.NumbersOf(a.policy) {
		out[policyPrefix+name] = x
	}
	return out
}

const policyPrefix = "Policy."

func (a finiteAgent) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	return bandit.State{"log-weights": Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), a.n))}
}

// Act computes the probabilities of IDS from the posterior in closed form. Other policies use functions that are drawn
// from it.
func (a finiteAgent) Act(state bandit.State, n hyper.Numbers, s rng.Stream, period, actions, available *Node) (action,
	values *Node) {
	weights := Softmax(state["log-weights"], -1)
	if _, ok := a.policy.(explore.IDS); ok {
		pi := explore.MinimumRatio(finiteInformation(weights, actions))
		return pi.Draw(Squeeze(s.Named("policy").Uniform(1), 1)), weights
	}
	values = a.Predict(state, n, s, a.policy.Samples(), actions)
	_, action = explore.Decide(a.policy, values, explore.Moment{Stream: s.Named("policy"), Period: period,
		Numbers: n.Part(policyPrefix), Available: available})
	return action, values
}

// Predict draws functions from the posterior.
func (a finiteAgent) Predict(state bandit.State, _ hyper.Numbers, s rng.Stream, functions int, actions *Node) *Node {
	gumbel := Neg(Log(Neg(Log(s.Named("function").Uniform(functions, a.n)))))
	theta := OneHot(ArgMax(Add(InsertAxes(state["log-weights"], 1), gumbel), 2, dtypes.Int32), a.n, dtypes.Float32)
	return base.Linear{Features: a.n}.Apply(theta, actions)
}

// finiteInformation returns r and v of section 3.2, as expectations over the posterior of theta* among the one-hot
// vectors. The weights are [runs, N]; the actions are [runs, actions, N], without components above 1. The best action
// of a one-hot theta* is theta* itself, with value 1, and to know the best action is to know theta*. Therefore v is the
// variance of x^T theta*. The code does not use a product of vectors, because XLA would sum it in a different order for
// one run than for many.
func finiteInformation(weights, actions *Node) (regret, variance *Node) {
	average := func(x *Node) *Node { return ReduceSum(Mul(x, InsertAxes(weights, 1)), 2) }
	mean := average(actions)
	return OneMinus(mean), average(Square(Sub(actions, InsertAxes(mean, -1))))
}

func (a finiteAgent) Learn(state bandit.State, n hyper.Numbers, s rng.Stream, d lab.Datum) bandit.State {
	actions := d.Inputs
	played := OneHot(d.Action, actions.Shape().Dim(1), dtypes.Float32)
	means := Einsum("ra,ran->rn", played, actions) // of the reward, for each theta*
	misfit := Square(Sub(InsertAxes(d.Reward, -1), means))
	next := Sub(state["log-weights"], Div(misfit, InsertAxes(MulScalar(n.Of(s, "NoiseVariance", a.noiseVariance), 2), -1)))
	return bandit.State{"log-weights": Sub(next, ReduceAndKeep(next, ReduceMax, 1))}
}

// Computation returns 0, because the agent makes no SGD steps.
func (a finiteAgent) Computation() float64 { return 0 }
