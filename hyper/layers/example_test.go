package layers_test

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/layers"
)

// A classifier of images whose outputs depend on an index of 8 numbers: 16 new indices in each training step.
func Example() {
	classifier := func(scope *model.Scope, images *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 8}, 16)
		h := fnn.New(scope.In("trunk"), images, 64).NumHiddenLayers(2, 64).Done()
		return layers.Dense(scope.In("out"), z, h, 10).Prior(3).Done() // [indices, batch, 10]
	}
	b, store := must.M1(backend.Open(backend.Go)), model.NewStore()
	trainer := train.NewTrainer(b, store, classifier, layers.Loss(loss.SparseCategoricalCrossEntropyLogits),
		optimizer.Adam().Done(), nil, layers.JointMetrics(10))

	images, labels := digits(0, 300)
	ds := must.M1(dataset.InMemoryFromData(b, "digits", []any{images}, []any{labels}))
	must.M1(train.NewLoop(trainer).RunSteps(ds.BatchSize(32, true).Infinite(true).Shuffle(), 10))

	sampler := must.M1(layers.NewSampler(b, store, classifier, 100))
	fmt.Println(must.M1(sampler.Sample(images[:5])).Shape().Dimensions)
	// Output: [100 5 10]
}

// Which of five images would teach the most, if a label of it were bought? The network is given here as it starts.
func ExampleSampler_Predict() {
	network := func(scope *model.Scope, images *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 8}, 16)
		return layers.FNN(scope.In("net"), z, images, 10, 32).Prior(3).Done()
	}
	images, _ := digits(0, 5)
	sampler := must.M1(layers.NewSampler(must.M1(backend.Open(backend.Go)), model.NewStore(), network, 100))
	p := must.M1(sampler.Predict(images))
	fmt.Println("image", slices.Index(p.Epistemic, slices.Max(p.Epistemic)))
	// Output: image 2
}

// shapeOf prints the shape of a model's outputs for four inputs of three numbers.
func shapeOf(f func(scope *model.Scope, x *Node) *Node) {
	x := tensors.FromValue([][]float32{{1, 2, 3}, {0, 1, 0}, {4, 4, 0}, {1, 1, 1}})
	fmt.Println(must.M1(model.CallOnce(must.M1(backend.Open(backend.Go)), model.NewStore(), f, x)).Shape().Dimensions)
}

// The last layer of a network, with a prior.
func ExampleDense() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 4}, 10)
		h := fnn.New(scope.In("trunk"), x, 16).NumHiddenLayers(1, 16).Done()
		return layers.Dense(scope.In("out"), z, h, 2).Prior(3).Done()
	})
	// Output: [10 4 2]
}

// A belief of package hyper as a layer.
func ExampleBelief() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		b := hyper.NewEpinet(3)
		return layers.Belief(scope.In("epinet"), layers.Index(scope, b.Index(), 10), b, x)
	})
	// Output: [10 4 1]
}

// A posterior for the last layer of a network that was trained before. The network is given here as it starts.
func ExampleLastLayerFit() {
	network := func(scope *model.Scope, images *Node) *Node {
		z := layers.Index(scope, layers.LastLayerIndex(16, 10), 1)
		h := fnn.New(scope.In("trunk"), images, 16).NumHiddenLayers(1, 16).Done()
		return layers.LastLayer(scope.In("out"), z, h, 10)
	}
	b, store := must.M1(backend.Open(backend.Go)), model.NewStore()
	images, labels := digits(0, 300)
	ds := must.M1(dataset.InMemoryFromData(b, "digits", []any{images}, []any{labels})).BatchSize(100, true)
	must.M(layers.LastLayerFit{PriorVariance: 1}.Fit(b, store, network, ds))
	sampler := must.M1(layers.NewSampler(b, store, network, 50))
	fmt.Println(must.M1(sampler.Sample(images[:5])).Shape().Dimensions)
	// Output: [50 5 10]
}

// Every layer of the network depends on the index, by a hypernetwork.
func ExampleFNN() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 4}, 10)
		return layers.FNN(scope.In("net"), z, x, 2, 20, 20).Hypernetwork(16).Prior(1).Done()
	})
	// Output: [10 4 2]
}

// An epinet beside a network: the network is trained as without it.
func ExampleEpinet() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 4}, 10)
		h := fnn.New(scope.In("trunk"), x, 16).NumHiddenLayers(1, 16).Done()
		logits := fnn.New(scope.In("out"), h, 2).Done()
		return Add(InsertAxes(logits, 0), layers.Epinet(scope.In("epinet"), z, h, 2).Done())
	})
	// Output: [10 4 2]
}

// Five networks, each with a fixed network of its own as its prior.
func ExampleEnsemble() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.OneHot{N: 5}, 5)
		net := func(scope *model.Scope) *Node { return fnn.New(scope.In("net"), x, 2).NumHiddenLayers(1, 16).Done() }
		prior := func(scope *model.Scope) *Node { return layers.Ensemble(scope, z, net) }
		return Add(layers.Ensemble(scope, z, net), layers.Prior(scope, 3, prior))
	})
	// Output: [5 4 2]
}

// Five particles that one layer of GoMLX makes. Its outputs have the particles as the second axis.
func ExampleChoose() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.OneHot{N: 5}, 5)
		f := fnn.New(scope.In("net"), x, 2).NumHiddenLayers(1, 16).WithEnsembleSize(5).Done() // [batch, particles, outputs]
		return layers.Choose(z, Transpose(f, 0, 1))
	})
	// Output: [5 4 2]
}

// Two hidden layers whose units an index drops with probability 0.1. An index is one network, also in evaluation.
func ExampleDropout() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.Bernoulli{N: 16 + 8, Keep: 0.9}, 10)
		h := activation.Relu(gomlx.Dense(scope.In("first"), x, true, 16))
		h = layers.Dropout(scope.In("drop1"), z, InsertAxes(h, 0))
		h = activation.Relu(gomlx.Dense(scope.In("second"), h, true, 8))
		h = layers.Dropout(scope.In("drop2"), z, h)
		return gomlx.Dense(scope.In("out"), h, true, 2)
	})
	// Output: [10 4 2]
}

// A prior of the inputs beside a last layer on the features of a network.
func ExamplePrior() {
	shapeOf(func(scope *model.Scope, x *Node) *Node {
		z := layers.Index(scope, index.Gaussian{N: 4}, 10)
		h := fnn.New(scope.In("trunk"), x, 16).NumHiddenLayers(1, 16).Done()
		f := layers.Dense(scope.In("out"), z, h, 2).Spread(0).Done()
		return Add(f, layers.Prior(scope, 1, func(scope *model.Scope) *Node {
			return layers.FNN(scope, z, x, 2, 10).Done()
		}))
	})
	// Output: [10 4 2]
}

// Regression by the paper's loss: noise of standard deviation 0.1 in the data, and the start as the prior. The last
// label is the number of the datum.
func ExampleLoss() {
	line := func(scope *model.Scope, x *Node) *Node {
		return layers.FNN(scope.In("net"), layers.Index(scope, index.Gaussian{N: 4}, 8), x, 1, 20).Prior(1).Done()
	}
	var x, y [][]float32
	var id []int32
	for i := range 20 {
		x, y, id = append(x, []float32{float32(i) / 10}), append(y, []float32{float32(i) / 20}), append(id, int32(i))
	}
	b := must.M1(backend.Open(backend.Go))
	f := layers.Loss(loss.MeanSquaredError, layers.Perturbed(0.1), layers.Anchored(0.1*0.1/20))
	trainer := train.NewTrainer(b, model.NewStore(), line, f, optimizer.Adam().LearningRate(0.01).Done(), nil, nil)
	ds := must.M1(dataset.InMemoryFromData(b, "line", []any{x}, []any{y, id})).BatchSize(20, true).Infinite(true)
	out := must.M1(train.NewLoop(trainer).RunSteps(ds, 300))
	fmt.Println(tensors.ToScalar[float32](out[0]) < 0.1)
	// Output: true
}

// The scores of two indices that know two inputs of three, and disagree about the third.
func ExampleEntropies() {
	logits := [][][]float32{{{9, 0}, {0, 9}, {9, 0}}, {{9, 0}, {0, 9}, {0, 9}}}
	out := must.M1(CallOnce(must.M1(backend.Open(backend.Go)), func(logits *Node) *Node {
		_, _, epistemic := layers.Entropies(logits)
		return epistemic
	}, logits))
	fmt.Printf("%.2f\n", out.Value())
	// Output: [0.00 0.00 0.69]
}
