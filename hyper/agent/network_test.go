package agent_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	rand1 "math/rand"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	gomlxtrain "github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// embedding is a network from 16 numbers to 3.
func embedding(scope *model.Scope, x *Node) *Node {
	h := gomlx.Convolution(scope.In("conv"), Reshape(x, -1, 4, 4, 1)).Channels(2).KernelSize(3).PadSame().Done()
	return Tanh(gomlx.Dense(scope.In("out"), Reshape(h, x.Shape().Dim(0), -1), true, 3))
}

// modelFunction wraps network f for beliefs: its variables have the values of the store, or new values if it is nil.
func modelFunction(store *model.Store, f func(scope *model.Scope, x *Node) *Node, features int) hyper.ModelFunction {
	return must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), store, f, features))
}

// An agent on a frozen network learns what an agent learns that is given the network's outputs, whichever of its
// capabilities trains the belief.
func TestFrozenNetworkIsItsOutputs(t *testing.T) {
	f, store := embedding, model.NewStore()
	must.M1(model.CallOnce(must.M1(backend.Open(backend.Go)), store, f, [][]float32{make([]float32, 16)}))
	net := modelFunction(store, f, 16)
	line, mlp := base.Linear{Features: 3, Intercept: true}, base.MLP{Layers: []int{3, 6, 1}}
	gaussian := index.Gaussian{N: 4}
	for name, c := range map[string]struct {
		belief hyper.Belief
		beside int
		train  train.Config
	}{
		"exact": {belief: hyper.Model{Base: line, Hyper: hyper.Linear{Layout: hyper.Dense(4, 4), P: gaussian}}},
		"analytic": {belief: hyper.Model{Base: line, Hyper: hyper.Linear{Layout: hyper.PerParameter(4, 1), P: gaussian}},
			train: train.Config{Integrate: train.Analytic}},
		"features": {belief: hyper.Model{Base: line, Hyper: hyper.Linear{Layout: hyper.Dense(4, 4), P: gaussian}},
			train: train.Config{Integrate: train.Sampled, Batch: 2}},
		"conjugate": {belief: hyper.BayesianLinear{Features: 4, Blocks: 2, Numbered: true, Waves: 5, Length: 1,
			Line: true}, beside: 1},
		"ensemble": {belief: hyper.Model{Base: mlp, Hyper: hyper.Ensemble{Particles: 5, Params: hyper.NumTheta(mlp)},
			Prior: &hyper.Prior{Base: mlp, Layout: hyper.Dense(hyper.NumTheta(mlp), 5)}}},
		"dropout": {belief: hyper.Model{Base: mlp, Hyper: hyper.Dropout{Net: mlp, Keep: 0.8}},
			train: train.Config{IndexSet: train.PerDatum, Unperturbed: true}},
		"conditioned": {belief: hyper.NetworkGP{Features: 3, Hidden: []int{6}, Waves: 5, Length: 1, PriorScale: 1}},
		"epinet":      {belief: hyper.NewEpinet(3)},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "exact" && name != "conjugate" && name != "ensemble" {
				agent.NotInShort(t)
			}
			config := func(b hyper.Belief, features int) agent.Config {
				return agent.Config{Learner: learner.Learner{Belief: b, Train: c.train}, Features: c.beside + features,
					Backend: backend.Go, Seed: 3}
			}
			on := must.M1(agent.New(config(hyper.OnFeatures{Function: net, Belief: c.belief, Beside: c.beside}, 16)))
			given := must.M1(agent.New(config(c.belief, 3)))
			r, outputs := rand.New(rand.NewPCG(1, 2)), must.M1(model.NewExec1(must.M1(backend.Open(backend.Go)), store, f))
			input := func() (x, phi []float32) {
				own := make([]float32, 16)
				for i := range own {
					own[i] = float32(r.NormFloat64())
				}
				beside := make([]float32, c.beside) // a block
				for i := range beside {
					beside[i] = float32(r.IntN(2))
				}
				out := must.M1(tensors.CopyFlatData[float32](must.M1(outputs.Call([][]float32{own}))))
				return append(slices.Clone(beside), own...), append(beside, out...)
			}
			for range 12 {
				x, phi := input()
				y := phi[c.beside] - phi[c.beside+1]
				must.M(errors.Join(on.Add(x, y), given.Add(phi, y)))
			}
			must.M(errors.Join(on.Learn(t.Context(), 5), given.Learn(t.Context(), 5)))
			x1, phi1 := input()
			x2, phi2 := input()
			got := slices.Concat(must.M1(on.Sample([][]float32{x1, x2}, 6))...)
			want := slices.Concat(must.M1(given.Sample([][]float32{phi1, phi2}, 6))...)
			for i := range want {
				if !(math.Abs(float64(got[i]-want[i])) < 2e-3) {
					t.Fatalf("samples are %v, want %v", got, want)
				}
			}
		})
	}
}

var allNetworks = flag.Bool("network.all", false, "TestOwnNetwork with all agents over five seeds")

// pixels is the number of pixels of an image of 16x16, and kinds is the number of kinds of strokes.
const pixels, kinds = 16 * 16, 6

// stroke returns an image of one kind of stroke, at a random place, of random length and with noise.
func stroke(r *rand.Rand, kind int) []float32 {
	x := make([]float32, pixels)
	for i := range x {
		x[i] = float32(0.2 * r.NormFloat64())
	}
	n := 6 + r.IntN(4)
	top, left := r.IntN(16-n), r.IntN(16-n)
	for i := range n {
		at := func(row, column int) { x[(top+row)*16+left+column] += 1 }
		switch middle := n / 2; kind {
		case 0:
			at(middle, i)
		case 1:
			at(i, middle)
		case 2:
			at(i, i)
		case 3:
			at(i, n-1-i)
		case 4: // a plus
			at(middle, i)
			at(i, middle)
		case 5: // a cross
			at(i, i)
			at(i, n-1-i)
		}
	}
	return x
}

// trunk is a user's network: convolutions, and 16 features.
func trunk(scope *model.Scope, x *Node) *Node {
	h := Reshape(x, -1, 16, 16, 1)
	h = activation.Relu(gomlx.Convolution(scope.In("conv1"), h).Channels(8).KernelSize(5).PadSame().Done())
	h = MaxPool(h).Window(2).Done()
	h = activation.Relu(gomlx.Convolution(scope.In("conv2"), h).Channels(16).KernelSize(3).PadSame().Done())
	return Tanh(gomlx.Dense(scope.In("features"), ReduceMax(h, 1, 2), true, 16))
}

// pretrained returns a folder with a checkpoint of the trunk, which GoMLX has trained on 600 images to tell kinds.
func pretrained(t *testing.T, seed uint64) string {
	b, store := must.M1(backend.Open(backend.Default())), model.NewStore()
	store.SetParam("/"+model.ParamInitialSeed, int64(seed+1))
	must.M(store.ResetRNGState())
	classifier := func(scope *model.Scope, x *Node) *Node {
		return gomlx.Dense(scope.In("kinds"), trunk(scope, x), true, kinds)
	}
	r := rand.New(rand.NewPCG(seed, 5))
	var x [][]float32
	var y [][]int32
	for i := range 600 {
		x, y = append(x, stroke(r, i%kinds)), append(y, []int32{int32(i % kinds)})
	}
	trainer := gomlxtrain.NewTrainer(b, store, classifier, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(0.003).Done(), nil, nil)
	ds := must.M1(dataset.InMemoryFromData(b, "strokes", []any{x}, []any{y})).BatchSize(50, true).Infinite(true).Shuffle()
	must.M1(gomlxtrain.NewLoop(trainer).RunSteps(ds.WithRand(rand1.New(rand1.NewSource(int64(seed)))), 150))
	dir := t.TempDir()
	must.M(must.M1(checkpoint.Build(store).Dir(dir).Immediate().Done()).Save())
	return dir
}

// loaded returns the trunk of a checkpoint, as another program would.
func loaded(dir string) hyper.ModelFunction {
	store := model.NewStore()
	must.M1(checkpoint.Load(store).Dir(dir).Done()) // a variable is loaded when it is asked for
	return modelFunction(store, trunk, pixels)
}

// onFrozen returns the agent of Contextual, on the features of a network.
func onFrozen(f hyper.ModelFunction, seed uint64) agent.Config {
	return agent.Config{Seed: seed, Encoding: &agent.Encoding{Context: pixels, Arms: 3, Code: agent.AsNumber},
		Learner: learner.Learner{Policy: explore.UCB{Quantile: 0.84}, NoiseVariance: 0.1,
			Train: train.Config{Standardize: true},
			Belief: hyper.OnFeatures{Function: f, Beside: 1, Belief: hyper.BayesianLinear{Features: 1 + f.NumOutputs(),
				Blocks: 3, Numbered: true, Waves: 200, Length: 1, Line: true}}}}
}

// onTrained returns the agent of onNetworks that trains the network too.
func onTrained(f hyper.ModelFunction, seed uint64) agent.Config { return onNetworks(f, seed, true) }

// onNetworks returns an agent of ten small networks on the arm and the features of a network.
func onNetworks(f hyper.ModelFunction, seed uint64, trained bool) agent.Config {
	net := base.MLP{Layers: []int{3 + f.NumOutputs(), 30, 1}}
	return agent.Config{Seed: seed, Encoding: &agent.Encoding{Context: pixels, Arms: 3},
		Learner: learner.Learner{NoiseVariance: 0.5, Train: train.Config{Standardize: true},
			Belief: hyper.OnFeatures{Function: f, Trained: trained, Beside: 3, Belief: hyper.Model{Base: net,
				Hyper: hyper.Ensemble{Particles: 10, Params: hyper.NumTheta(net)},
				Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(hyper.NumTheta(net), 10)}}}}}
}

// regretOn returns the number of wrong arms of an agent in n decisions: each arm is right for two kinds of strokes.
func regretOn(t *testing.T, c agent.Config, seed uint64, n int) (regret float64, a *agent.Agent) {
	a = must.M1(agent.New(c))
	t.Cleanup(a.Close)
	r := rand.New(rand.NewPCG(seed, 9))
	right := r.Perm(kinds)
	for range n {
		kind := r.IntN(kinds)
		d := must.M1(a.Decide(t.Context(), agent.Menu{Context: stroke(r, kind)}))
		reward := float32(0)
		if d.Action == right[kind]%3 {
			reward = 1
		}
		regret += float64(1 - reward)
		must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: reward}))
	}
	return regret, a
}

// An agent on a user's convolutional network has less regret than agents that see the pixels. With -network.all
// it also compares networks that are trained on, over five seeds. The network has seen 600 labelled images before, but
// does not know the arms.
func TestOwnNetwork(t *testing.T) {
	if (testing.Short() || backend.Default() == backend.Go) && !*allNetworks {
		t.Skip("this takes 12 s of processor time, and 40 s on the Go backend; -network.all runs it in any case")
	}
	seeds, n := 1, 60
	if *allNetworks {
		seeds, n = 5, 300
	}
	all := map[string][]float64{}
	for seed := range uint64(seeds) {
		net := loaded(pretrained(t, seed))
		configs := map[string]agent.Config{"frozen network": onFrozen(net, seed),
			"Contextual": agent.Config{Seed: seed}.Contextual(3, pixels)}
		if *allNetworks {
			configs["frozen network, small networks"] = onNetworks(net, seed, false)
			configs["network trained on"] = onTrained(net, seed)
			configs["new network"] = onTrained(modelFunction(nil, trunk, pixels), seed)
			configs["Neural"] = agent.Config{Seed: seed}.ContextualNeural(3, pixels, 50, 50)
		}
		for name, c := range configs {
			regret, _ := regretOn(t, c, seed, n)
			all[name] = append(all[name], regret)
			t.Logf("seed %d, %s: %g wrong of %d", seed, name, regret, n)
		}
	}
	mean := func(name string) float64 { return float64(stats.MeanRegret(all[name]).Value) }
	for name, regrets := range all {
		if seeds > 1 {
			t.Logf("%s: %s wrong of %d", name, stats.MeanRegret(regrets), n)
		}
		if name != "frozen network" && !(mean("frozen network") < 0.7*mean(name)) {
			t.Errorf("%s: regrets %v, of the frozen network %v", name, regrets, all["frozen network"])
		}
	}
}

// A saved agent decides as before in a program that makes the same network from the checkpoint, and learns on; another
// network is refused in one sentence.
func TestNetworkIsSaved(t *testing.T) {
	store := model.NewStore()
	must.M1(model.CallOnce(must.M1(backend.Open(backend.Go)), store, trunk, [][]float32{make([]float32, pixels)}))
	dir := t.TempDir()
	must.M(must.M1(checkpoint.Build(store).Dir(dir).Immediate().Done()).Save())
	for name, c := range map[string]func(f hyper.ModelFunction, seed uint64) agent.Config{"frozen": onFrozen,
		"trained": onTrained} {
		t.Run(name, func(t *testing.T) {
			if name == "trained" {
				agent.NotInShort(t)
			}
			path := filepath.Join(t.TempDir(), "agent")
			config := func(f hyper.ModelFunction) agent.Config {
				c := c(f, 4)
				c.Backend, c.Learner.Train.Batch, c.Learner.Train.Steps = backend.Go, 4, 1
				if name == "trained" {
					c.Learner.Policy = explore.IDS{N: 20}
				}
				return c
			}
			_, a := regretOn(t, config(loaded(dir)), 1, 5)
			must.M(a.Save(path))
			b := must.M1(agent.Load(config(loaded(dir)), path))
			t.Cleanup(b.Close)
			r := rand.New(rand.NewPCG(6, 9))
			for i := range 4 {
				x, reward := stroke(r, i), float32(i%2)
				own, other := must.M1(a.Decide(t.Context(), agent.Menu{Context: x})),
					must.M1(b.Decide(t.Context(), agent.Menu{Context: x}))
				if own.Action != other.Action || !slices.Equal(own.Probabilities, other.Probabilities) {
					t.Fatalf("decision %d is %v, and %v after loading", i, own, other)
				}
				must.M(errors.Join(a.Observe(t.Context(), agent.Feedback{ID: own.ID, Reward: reward}),
					b.Observe(t.Context(), agent.Feedback{ID: other.ID, Reward: reward})))
			}
			narrower := func(scope *model.Scope, x *Node) *Node { return SliceAxis(trunk(scope, x), 1, AxisRange(0, 8)) }
			wider := func(scope *model.Scope, x *Node) *Node {
				return gomlx.Dense(scope.In("more"), trunk(scope, x), true, 16)
			}
			refused := map[string]hyper.ModelFunction{
				`Learner.Belief.Function.valuesHash: "`:                                      modelFunction(nil, trunk, pixels),
				`Learner.Belief.Function.outputs: 16 in the file, 8 here`:                    modelFunction(store, narrower, pixels),
				`Learner.Belief.Function.variables./more/dense/weights: not set in the file`: modelFunction(nil, wider, pixels),
				`Learner.Belief.Function: {"features":256`:                                   {},
			}
			for want, f := range refused {
				_, err := agent.Load(config(f), path)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %s", err, want)
				}
			}
		})
	}
}

// An agent on a network of 16 numbers. The network is new here; checkpoint.Load would fill the store of one that was
// trained before.
func ExampleConfig_network() {
	store := model.NewStore()
	f := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), store, embedding, 16))
	b := hyper.BayesianLinear{Features: 1 + f.NumOutputs(), Blocks: 2, Numbered: true, Waves: 100, Length: 1}
	c := agent.Config{Encoding: &agent.Encoding{Context: 16, Arms: 2, Code: agent.AsNumber}, Backend: backend.Go}
	c.Learner.Belief, c.Learner.Train.Standardize = hyper.OnFeatures{Function: f, Beside: 1, Belief: b}, true
	shop, ctx, r, right := must.M1(agent.New(c)), context.Background(), rand.New(rand.NewPCG(1, 2)), 0
	for i := range 150 {
		x := make([]float32, 16)
		for k := range x {
			x[k] = float32(i%2)*2 - 1 + float32(r.NormFloat64())
		}
		d, reward := must.M1(shop.Decide(ctx, agent.Menu{Context: x})), float32(0)
		if d.Action == i%2 {
			reward = 1
		}
		must.M(shop.Observe(ctx, agent.Feedback{ID: d.ID, Reward: reward}))
		if i >= 100 {
			right += int(reward)
		}
	}
	fmt.Println("more than 40 of the last 50 are right:", right > 40)
	// Output: more than 40 of the last 50 are right: true
}
