package hyper_test

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A linear hypermodel, theta = mu + C z, with one parameter and an index of two numbers.
func ExampleLinear() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := hyper.Linear{Layout: hyper.Dense(1, 2), P: index.Gaussian{N: 2}}
	theta, err := CallOnce(b, func(mu, c, z *Node) *Node {
		return h.Theta([]*Node{mu, c}, index.Vectors(z))
	}, [][]float32{{10}}, [][][]float32{{{1, 2}}}, [][][]float32{{{1, 0}, {-1, 0.5}}})
	fmt.Println(theta.Value(), err)
	// Output: [[[11] [10]]] <nil>
}

// An ensemble of three particles: the index of a particle identifies its parameters.
func ExampleEnsemble() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := hyper.Ensemble{Particles: 3, Params: 2}
	theta, err := CallOnce(b, func(nu *Node) *Node {
		return h.Theta([]*Node{nu}, index.OneHot{N: 3}.All(nu.Graph(), 1).Slice(1, 3))
	}, [][][]float32{{{1, 2}, {3, 4}, {5, 6}}})
	fmt.Println(theta.Value(), err, h.NumInvolved(), "parameters of one particle")
	// Output: [[[3 4] [5 6]]] <nil> 2 parameters of one particle
}

// A hypernetwork makes the 13 parameters of a small network from an index of 3 numbers.
func ExampleNetwork() {
	net := base.MLP{Layers: []int{2, 3, 1}}
	h := hyper.Network{P: index.Gaussian{N: 3}, Hidden: []int{8}, Params: hyper.NumTheta(net)}
	m := hyper.Model{Base: net, Hyper: h}
	fmt.Println(m.Validate(), m.NumInvolved(), "parameters, 8 (3+1) and 13 (8+1)")
	// Output: <nil> 149 parameters, 8 (3+1) and 13 (8+1)
}

// A belief with an independent Gaussian for each parameter of a network: Bayes by Backprop, trained with train.KL.
func ExampleMeanField() {
	net := base.MLP{Layers: []int{2, 3, 1}}
	m := hyper.Model{Base: net, Hyper: hyper.MeanField{Params: hyper.NumTheta(net), Deviation: 0.1}}
	fmt.Println(m.Validate(), hyper.CapabilitiesOf(m).Variational != nil)
	// Output: <nil> true
}

// Dropout as a hypermodel: an index is a mask of the 8 hidden units.
func ExampleDropout() {
	net := base.MLP{Layers: []int{2, 5, 3, 1}}
	m := hyper.Model{Base: net, Hyper: hyper.Dropout{Net: net, Keep: 0.8}}
	fmt.Println(m.Validate(), m.Index().Dim())
	// Output: <nil> 8
}

// The largest number that each initializer draws for the 13 parameters of each of four networks 2-3-1.
func ExampleInitializer() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	net := base.MLP{Layers: []int{2, 3, 1}}
	for _, init := range []struct {
		name string
		hyper.Initializer
	}{
		{"zeros", hyper.InitZeros},
		{"constant", hyper.InitConstant(2)},
		{"scaled", hyper.InitScaled(0.5, hyper.InitConstant(2))},
		{"one-hot", hyper.InitOneHot},
		{"normal", hyper.InitNormal(0.05)},
		{"truncated normal", hyper.InitTruncatedNormal(0.05)},
		{"Glorot uniform", hyper.InitGlorotUniform},
		{"layers", hyper.InitLayers(net)},
		{"truncated layers", hyper.InitTruncatedLayers(net, 0)},
	} {
		largest, err := CallOnce(b, func(seeds *Node) *Node {
			w := init.Initializer(rng.New(seeds), 4, 13, 4, 13)
			return ReduceAllMax(Abs(w))
		}, []uint64{1})
		fmt.Printf("%s: at most %.2f %v\n", init.name, largest.Value(), err)
	}
	// Output:
	// zeros: at most 0.00 <nil>
	// constant: at most 2.00 <nil>
	// scaled: at most 1.00 <nil>
	// one-hot: at most 1.00 <nil>
	// normal: at most 0.23 <nil>
	// truncated normal: at most 0.10 <nil>
	// Glorot uniform: at most 0.59 <nil>
	// layers: at most 1.02 <nil>
	// truncated layers: at most 1.11 <nil>
}
