package paper

import (
	"errors"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// IDS is section 5: information-directed sampling against Thompson sampling on a one-sparse linear bandit, both with the one-sparse
// hypermodel; both with the exact posterior, as the yardstick; and with hypermodels that are not made for the problem.
var IDS = lab.Experiment{
	Name:    "ids",
	Title:   "Information-directed sampling on a one-sparse linear bandit",
	Section: "5, figure 5",
	Agents: map[string]func() lab.Setting{
		"ids":            func() lab.Setting { return newSparse(ids(500)) },
		"thompson":       func() lab.Setting { return newSparse(thompson()) },
		"exact-ids":      func() lab.Setting { return &SparseExact{newSparseBandit(), ids(0)} },
		"exact-thompson": func() lab.Setting { return &SparseExact{newSparseBandit(), thompson()} },
		"linear":         func() lab.Setting { return newSparseLinear() },
		"ensemble":       func() lab.Setting { return newSparseEnsemble() },
	},
	Order:   []string{"ids", "thompson", "exact-ids", "exact-thompson", "linear", "ensemble"},
	Quick:   lab.Size{Periods: 200, Runs: 20, Sets: quickIDS},
	Full:    lab.Size{Periods: 1000, Runs: 500, Sets: fullIDS},
	Failure: 0.1,
	Claims:  sparseClaims(),
}

// Sets of the two sizes. Five SGD steps, the default, are enough for N = 50; at N = 200 IDS has twice the regret with them.
var quickIDS, fullIDS = []string{"size=50"}, []string{"size=200", "sgd-steps=20"}

func ids(samples int) Exploration { return Exploration{Policy: "ids", Samples: samples, Anneal: 30} }

// SparseBandit is the part of a setting that describes the environment of section 5.
type SparseBandit struct {
	Size          int     `key:"size" help:"N: components of theta*; there are 2N-2 actions"`
	NoiseVariance float64 `key:"noise-variance" run:"true" help:"sigma_w^2: variance of the rewards' noise, as the agent knows it"`
	NoiseFactor   float64 `key:"noise-factor" run:"true" help:"the noise's true variance over noise-variance. The paper's text has noise of variance 1 and sigma_w^2 = 0.01: a factor of 100"`
}

func newSparseBandit() SparseBandit {
	return SparseBandit{Size: 50, NoiseVariance: 0.01, NoiseFactor: 1}
}

// Validate reports what is wrong.
func (b SparseBandit) Validate() error {
	return errors.Join(atLeast("size", b.Size, 2), positive("noise-variance", b.NoiseVariance), notNegative("noise-factor", b.NoiseFactor))
}

func (b SparseBandit) bandit() bandit.OneSparse { return bandit.OneSparse{N: b.Size} }

func (b SparseBandit) environment() lab.Environment { return sparseEnvironment{b.bandit()} }

// sparseEnvironment is bandit.OneSparse as the lab runs it.
type sparseEnvironment struct{ bandit.OneSparse }

func (e sparseEnvironment) Init(s rng.Stream, _ lab.Inputs) lab.State {
	actions, mean := e.OneSparse.Init(s)
	return lab.State{"actions": actions, "mean": mean}
}
func (e sparseEnvironment) Actions(state lab.State) *Node { return state["actions"] }
func (e sparseEnvironment) Step(state lab.State, in lab.Inputs, s rng.Stream, action *Node) (reward, regret *Node) {
	return e.OneSparse.Step(s, state["mean"], action, Sqrt(Mul(in["noise-variance"], in["noise-factor"])))
}

// SparseLearner is the part of a setting that agents trained by perturbed SGD share.
type SparseLearner struct {
	SparseBandit
	PriorFactor float64 `key:"prior-factor" run:"true" help:"sigma_p^2 of the loss's regularizer, as a multiple of the paper's 1/log N"`
	SGD
	Exploration
}

func newSparseLearner(e Exploration) SparseLearner {
	c := SparseLearner{SparseBandit: newSparseBandit(), PriorFactor: 1, SGD: newSGD(), Exploration: e}
	c.Steps, c.Batch, c.Indices = 5, 32, 100
	return c
}

// Validate reports what is wrong; the trainer's Config does the rest.
func (c SparseLearner) Validate() error {
	return errors.Join(c.SparseBandit.Validate(), positive("prior-factor", c.PriorFactor), c.SGD.Validate(), c.Exploration.Validate())
}

func (c SparseLearner) build(m hyper.Model, periods int) (lab.Environment, lab.Agent) {
	a := newAgent(m, c.config(periods), "", c.Exploration)
	variance := 1 / math.Log(float64(c.Size))
	a.priorVariance = func(in lab.Inputs) *Node { return MulScalar(in["prior-factor"], variance) }
	return c.environment(), a
}

// Sparse is an agent with the one-sparse hypermodel.
type Sparse struct {
	SparseLearner
	Alpha float64 `key:"alpha" help:"alpha of the hypermodel's softmax of beta nu_m (z_m^2 + alpha)"`
	Beta  float64 `key:"beta" help:"beta of the hypermodel's softmax"`
}

func newSparse(e Exploration) *Sparse {
	c := &Sparse{SparseLearner: newSparseLearner(e), Alpha: 0.01, Beta: 10}
	c.StepSize = 0.3
	return c
}

// Model returns the hypermodel of section 5.
func (c *Sparse) Model() hyper.Model {
	return hyper.Model{Base: base.Linear{Features: c.Size}, Hyper: hyper.OneSparse{N: c.Size, Alpha: c.Alpha, Beta: c.Beta}}
}

// Validate reports everything that is wrong.
func (c *Sparse) Validate() error {
	return c.validateFor(errors.Join(c.SparseLearner.Validate(), notNegative("alpha", c.Alpha), positive("beta", c.Beta)), c.Model)
}

// Build returns environment and agent.
func (c *Sparse) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// SparseLinear is an agent with a dense linear hypermodel.
type SparseLinear struct {
	SparseLearner
	IndexDim int `key:"index-dim" help:"dimension of the index"`
}

func newSparseLinear() *SparseLinear {
	c := &SparseLinear{SparseLearner: newSparseLearner(ids(500)), IndexDim: 30}
	c.StepSize, c.PriorFactor, c.Integrate, c.Optimizer = 0.008, 100, string(train.Analytic), "adam"
	return c
}

// Model returns the linear hypermodel, with an additive prior that has the first two moments of theta*: each component has mean 1/N and
// variance (1 - 1/N)/N. Its functions are Gaussian all the same, and believe hardly in a component that is worth 1.
func (c *SparseLinear) Model() hyper.Model {
	mean := 1 / float64(c.Size)
	deviation := math.Sqrt(mean * (1 - mean))
	b, layout := base.Linear{Features: c.Size}, hyper.Dense(c.Size, c.IndexDim)
	return hyper.Model{
		Base:  b,
		Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: c.IndexDim}, InitC: hyper.InitZeros, InitM: hyper.InitConstant(mean)},
		Prior: &hyper.Prior{Base: b, Layout: layout, Rows: hyper.RowsSphere, StdDev: slices.Repeat([]float64{deviation}, c.Size)},
	}
}

// Validate reports everything that is wrong.
func (c *SparseLinear) Validate() error {
	return c.validateFor(errors.Join(c.SparseLearner.Validate(), atLeast("index-dim", c.IndexDim, 1)), c.Model)
}

// Build returns environment and agent.
func (c *SparseLinear) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// SparseEnsemble is an agent with an ensemble.
type SparseEnsemble struct {
	SparseLearner
	Particles int `key:"particles" help:"number of particles in the ensemble"`
}

func newSparseEnsemble() *SparseEnsemble {
	c := &SparseEnsemble{SparseLearner: newSparseLearner(ids(500)), Particles: 100}
	c.StepSize, c.PriorFactor, c.Integrate, c.Optimizer = 0.03, 10, string(train.Analytic), "adam"
	return c
}

// Model returns the ensemble. The particles start as draws from the law of theta*, which the regularizer anchors them to.
func (c *SparseEnsemble) Model() hyper.Model {
	return hyper.Model{
		Base:  base.Linear{Features: c.Size},
		Hyper: hyper.Ensemble{Particles: c.Particles, Params: c.Size, InitNu: hyper.InitOneHot},
	}
}

// Validate reports everything that is wrong.
func (c *SparseEnsemble) Validate() error {
	return c.validateFor(errors.Join(c.SparseLearner.Validate(), atLeast("particles", c.Particles, 1)), c.Model)
}

// Build returns environment and agent.
func (c *SparseEnsemble) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// SparseExact is an agent with the exact posterior over the N one-hot vectors, for noise of variance noise-variance.
type SparseExact struct {
	SparseBandit
	Exploration
}

// Validate reports what is wrong.
func (c *SparseExact) Validate() error {
	return errors.Join(c.SparseBandit.Validate(), c.Exploration.Validate())
}

// Build returns environment and agent.
func (c *SparseExact) Build(int) (lab.Environment, lab.Agent) {
	return c.environment(), finiteAgent{n: c.Size, policy: c.policy()}
}

// finiteAgent explores by the exact posterior over one-hot vectors. Its state is the logarithms of their weights, of which the largest
// is 0: [runs, N].
type finiteAgent struct {
	n      int
	policy explore.Policy
}

func (a finiteAgent) Init(s rng.Stream, _ lab.Inputs) lab.State {
	return lab.State{"log-weights": Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), a.n))}
}

// Act takes IDS's probabilities from the posterior in closed form, and lets other policies see functions drawn from it.
func (a finiteAgent) Act(state lab.State, in lab.Inputs, s rng.Stream, period, actions *Node) (action, values *Node) {
	weights := Softmax(state["log-weights"], -1)
	if _, ok := a.policy.(explore.IDS); ok {
		pi := explore.MinimumRatio(finiteInformation(weights, actions))
		return pi.Draw(Squeeze(s.Named("policy").Uniform(1), 1)), weights
	}
	gumbel := Neg(Log(Neg(Log(s.Named("function").Uniform(a.policy.Samples(), a.n)))))
	theta := OneHot(ArgMax(Add(InsertAxes(state["log-weights"], 1), gumbel), 2, dtypes.Int32), a.n, dtypes.Float32)
	values = base.Linear{Features: a.n}.Apply(theta, actions)
	_, action = a.policy.Decide(values, explore.Moment{Stream: s.Named("policy"), Period: period, Anneal: in["anneal"]})
	return action, values
}

// finiteInformation is r and v of section 3.2 with expectations over the posterior, [runs, N], of theta* among the
// one-hot vectors, for actions [runs, actions, N] no component of which is above 1. The best action of a one-hot theta*
// is theta* itself: it is worth 1, and to know it is to know theta*, so that v is the variance of x^T theta*. A product
// of vectors would be summed in another order by XLA for one run than for many.
func finiteInformation(weights, actions *Node) (regret, variance *Node) {
	average := func(x *Node) *Node { return ReduceSum(Mul(x, InsertAxes(weights, 1)), 2) }
	mean := average(actions)
	return OneMinus(mean), average(Square(Sub(actions, InsertAxes(mean, -1))))
}

func (a finiteAgent) Learn(state lab.State, in lab.Inputs, _ rng.Stream, _, action, reward, actions *Node) lab.State {
	played := OneHot(action, actions.Shape().Dim(1), dtypes.Float32)
	means := Einsum("ra,ran->rn", played, actions) // of the reward, for each theta*
	misfit := Square(Sub(InsertAxes(reward, -1), means))
	next := Sub(state["log-weights"], Div(misfit, InsertAxes(MulScalar(in["noise-variance"], 2), -1)))
	return lab.State{"log-weights": Sub(next, ReduceAndKeep(next, ReduceMax, 1))}
}

// Computation is zero: there is no SGD.
func (a finiteAgent) Computation() float64 { return 0 }
