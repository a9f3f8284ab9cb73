package hyper_test

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// An ensemble of anyone's network, with a fixed network of its own beside each as an additive prior.
func ExampleNewModelFunction() {
	network := func(scope *model.Scope, x *Node) *Node {
		return fnn.New(scope.In("net"), x, 1).NumHiddenLayers(2, 20).Done()
	}
	f := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), nil, network, 8))
	n := hyper.NumTheta(f)
	belief := hyper.Model{Base: f, Hyper: hyper.Ensemble{Particles: 5, Params: n, InitNu: f.InitFresh},
		Prior: &hyper.Prior{Base: f, Layout: hyper.Dense(n, 5), InitB: f.InitFresh}}
	fmt.Println(f.Inputs(), n, belief.Validate())
	// Output: 8 621 <nil>
}

// The linear hypermodel on an embedding of 16 numbers. The store would be that of a trained network, for example
// loaded by GoMLX's checkpoint.Load; here it is new.
func ExampleOnFeatures() {
	embedding := func(scope *model.Scope, x *Node) *Node {
		images := Reshape(x, -1, 8, 8, 1)
		h := gomlx.Convolution(scope.In("conv"), images).Channels(4).KernelSize(3).Strides(2).PadSame().Done()
		return gomlx.Dense(scope.In("out"), Reshape(Tanh(h), x.Shape().Dim(0), -1), true, 16)
	}
	store := model.NewStore()
	f := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), store, embedding, 64))
	line := base.Linear{Features: 16, Intercept: true}
	belief := hyper.OnFeatures{Function: f, Belief: hyper.Model{Base: line,
		Hyper: hyper.Linear{Layout: hyper.Dense(17, 10), P: index.Gaussian{N: 10}}}}
	fmt.Println(belief.Inputs(), belief.Validate())
	// Output: 64 <nil>
}

// An experiment with a learner on a network of one's own: eight runs share the frozen network.
func ExampleOnFeatures_ForInputs() {
	embedding := func(scope *model.Scope, x *Node) *Node { return Tanh(gomlx.Dense(scope.In("out"), x, true, 16)) }
	f := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), nil, embedding, 100))
	catalog.AddBelief("own-network", "an epinet on our embedding",
		hyper.OnFeatures{Function: f, Belief: hyper.NewEpinet(f.NumOutputs())})
	var known map[string]lab.Experiment // none but the worlds of the catalogue
	world := must.M1(lab.Find(known, "neural-logistic"))
	spec := must.M1(world.Spec([]string{"own-network"}, []string{"actions=10", "sgd-steps=1", "batch=8"},
		lab.Size{Periods: 20, Runs: 8}, 1))
	_, rows := must.M2(lab.Simulate(context.Background(), spec, known, lab.Options{Backend: backend.Go}))
	fmt.Println(rows[len(rows)-1].Period, rows[len(rows)-1].Diverged)
	// Output: 20 0
}
