package hyper_test

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// plane is a belief in linear functions, whose weights are mu + C z for an index z of two numbers.
type plane struct{ features int }

func (b plane) Index() index.Distribution { return index.Gaussian{N: 2} }

func (b plane) Init(s rng.Stream, scale *Node) hyper.Params {
	nu := []*Node{s.Named("mu").Normal(b.features), s.Named("C").Normal(b.features, 2)}
	return hyper.Params{Nu: nu}
}

func (b plane) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	theta := Add(InsertAxes(p.Nu[0], 1), Einsum("rfz,rnz->rnf", p.Nu[1], z.Dense()))
	return Einsum("rnf,rif->rni", theta, x)
}

// A belief of one's own, trained by automatic differentiation and explored with by an agent.
func ExampleBelief() {
	a := must.M1(agent.New(agent.Config{Learner: learner.Learner{Belief: plane{features: 3}}, Features: 3}))
	for i := range 100 {
		x := []float32{float32(i%5) / 5, float32(i%3) / 3, 1}
		must.M(a.Add(x, 2*x[0]-x[1]))
	}
	must.M(a.Learn(context.Background(), 300))
	actions := [][]float32{{1, 0, 1}, {0, 1, 1}, {0, 0, 1}}
	fmt.Println(must.M1(a.Act(context.Background(), actions)).Action)
	// Output: 0
}
