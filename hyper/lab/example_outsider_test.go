package lab_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Tilted is a belief outside of the library: f_z(x) = (w + V tanh z)^T x, where w and V are trained.
type Tilted struct{ Features int }

func (b Tilted) Index() index.Distribution           { return index.Gaussian{N: 2} }
func (b Tilted) Inputs() int                         { return b.Features } // arms are one-hot vectors
func (b Tilted) ForInputs(features int) hyper.Belief { return Tilted{features} }
func (b Tilted) Init(s rng.Stream, _ *Node) hyper.Params {
	v := s.Named("v").Normal(b.Features, 2)
	nu := []*Node{ReduceSum(ZerosLike(v), -1), v}
	return hyper.Params{Nu: nu}
}
func (b Tilted) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	tilt := Einsum("rfd,rnd->rnf", p.Nu[1], Tanh(z.Dense()))
	return Einsum("rnf,rbf->rnb", Add(InsertAxes(p.Nu[0], 1), tilt), x)
}

// Coins is a world outside of the library: each arm pays 1 with a probability of its own.
type Coins struct {
	Arms int `help:"number of arms"`
}

func (w *Coins) Validate() error         { return nil }
func (w *Coins) Problem() bandit.Problem { return bandit.Problem{Actions: w.Arms} }
func (w *Coins) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	return bandit.State{"chance": s.Named("chance").Uniform(w.Arms)}
}
func (w *Coins) Offer(now bandit.State, _ hyper.Numbers, _ rng.Stream, _ *Node) (bandit.Offer, bandit.State) {
	return bandit.Offer{}, now
}
func (w *Coins) Step(now bandit.State, _ hyper.Numbers, s rng.Stream, _, x *Node) (bandit.Outcome, bandit.State) {
	chance := ReduceSum(Mul(now["chance"], OneHot(x, w.Arms, dtypes.Float32)), 1)
	pays := ConvertDType(LessThan(Squeeze(s.Named("toss").Uniform(1), 1), chance), dtypes.Float32)
	return bandit.Outcome{Reward: pays, Regret: Sub(ReduceMax(now["chance"], 1), chance)}, now
}

// Hopeful is a policy outside of the library: it takes the best action of the most optimistic sampled function.
type Hopeful struct{}

func (Hopeful) Samples() int { return 2 }
func (Hopeful) Decide(values *Node, _ explore.Moment) (probabilities, action *Node) {
	action = ArgMax(ReduceMax(values, 1), 1, dtypes.Int32)
	return OneHot(action, values.Shape().Dim(2), dtypes.Float32), action
}

// addCoins adds the belief, the policy and the world once. A program does so in main.
var addCoins = sync.OnceFunc(func() {
	catalog.AddBelief("tilted", "weights that depend on tanh z", Tilted{})
	catalog.AddPolicy("hopeful", "the best action of the most optimistic function", Hopeful{})
	catalog.AddWorld("coins", "Arms that pay 0 or 1", func() bandit.World { return new(Coins) })
})

// A program adds a belief, a policy and a world to the catalogue, and sweeps over them in the lab.
func Example_outsider() {
	addCoins()
	var known map[string]lab.Experiment // none but the worlds of the catalogue
	size := lab.Size{Periods: 200, Runs: 8}
	coins := must.M1(lab.Find(known, "coins"))
	spec := must.M1(coins.Spec([]string{"tilted"}, []string{"arms=3,6", "policy=hopeful"}, size, 1))
	h, rows := must.M2(lab.Simulate(context.Background(), spec, known, lab.Options{Backend: backend.Go, BatchRuns: 8}))
	for _, c := range analysis.Curves(h, rows) { // random choice loses 0.25 in a period with 3 arms, and 0.36 with 6
		fmt.Printf("%v arms: %t; ", c.Settings["arms"], c.Mean[len(c.Mean)-1] < 30)
	}
	// Output: 3 arms: true; 6 arms: true;
}
