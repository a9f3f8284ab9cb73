package layers

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/train"
)

func init() { testbackend.CompileQuickly() }

// run builds and runs a graph over a store, and returns its outputs as numbers.
func run(t *testing.T, name string, store *model.Store, f func(scope *model.Scope, x *Node) []*Node,
	x any) [][]float64 {
	t.Helper()
	return must.M1(try(name, store, f, x))
}

func try(name string, store *model.Store, f func(scope *model.Scope, x *Node) []*Node, x any) ([][]float64, error) {
	e, err := model.NewExec(must.M1(backend.Open(name)), store, func(scope *model.Scope, x *Node) []*Node {
		var out []*Node
		for _, y := range f(scope, x) {
			out = append(out, ConvertDType(y, x.DType()))
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	tensorsOut, err := e.Call(x)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for _, y := range tensorsOut {
		var v []float64
		for _, one := range must.M1(tensors.CopyFlatData[float32](y)) {
			v = append(v, float64(one))
		}
		out = append(out, v)
	}
	return out, nil
}

func normals(seed uint64, rows, columns int) [][]float32 {
	r, x := rand.New(rand.NewPCG(seed, 1)), make([][]float32, rows)
	for i := range x {
		for range columns {
			x[i] = append(x[i], float32(r.NormFloat64()))
		}
	}
	return x
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Errorf("%s: number %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

// A layer with one output predicts what the belief of the same form predicts, for the same nu, z and x.
func TestLayersAreBeliefs(t *testing.T) {
	gaussian, oneHot := index.Gaussian{N: 3}, index.OneHot{N: 4}
	net, line := base.MLP{Layers: []int{5, 6, 1}}, base.MLP{Layers: []int{5, 1}}
	prior := func(net base.MLP, d index.Distribution) *hyper.Prior {
		return &hyper.Prior{Base: net, Layout: hyper.Dense(hyper.NumTheta(net), d.Dim())}
	}
	linear := func(net base.MLP, start hyper.Initializer) hyper.Hypermodel {
		return hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(net), 3), P: gaussian, InitM: start}
	}
	for what, c := range map[string]struct {
		layer  func(scope *model.Scope, z Indices, x *Node) *Config
		index  index.Distribution
		belief hyper.Belief
		scale  float32
	}{
		"dense": {func(scope *model.Scope, z Indices, x *Node) *Config { return Dense(scope, z, x, 1).Prior(3) }, gaussian,
			hyper.Model{Base: line, Hyper: linear(line, hyper.InitLayers(line)), Prior: prior(line, gaussian)}, 3},
		"dense without prior": {func(scope *model.Scope, z Indices, x *Node) *Config {
			return Dense(scope, z, x, 1).Spread(2)
		}, gaussian, hyper.Model{Base: line, Hyper: linear(line, nil)}, 2},
		"network": {func(scope *model.Scope, z Indices, x *Node) *Config { return FNN(scope, z, x, 1, 6).Prior(2) }, gaussian,
			hyper.Model{Base: net, Hyper: linear(net, hyper.InitLayers(net)),
				Prior: prior(net, gaussian)}, 2},
		"hypernetwork": {func(scope *model.Scope, z Indices, x *Node) *Config {
			return FNN(scope, z, x, 1, 6).Hypernetwork(7)
		}, gaussian, hyper.Model{Base: net, Hyper: hyper.Network{P: gaussian, Hidden: []int{7}, Params: 43}}, 1},
		"ensemble": {func(scope *model.Scope, z Indices, x *Node) *Config { return FNN(scope, z, x, 1, 6).Prior(2) }, oneHot,
			hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 4, Params: 43, InitNu: hyper.InitLayers(net)},
				Prior: prior(net, oneHot)}, 2},
	} {
		t.Run(what, func(t *testing.T) {
			out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
				z := Index(scope, c.index, 5)
				f := c.layer(scope.In("layer"), z, x).Done()
				p := c.belief.Init(stream(scope.At("layer"), x.Graph()), Const(x.Graph(), []float32{c.scale}))
				return []*Node{f, c.belief.Predict(p, z.Set(x.Graph()), InsertAxes(x, 0))}
			}, normals(1, 7, 5))
			near(t, "predictions", out[0], out[1], 1e-5)
			if slices.Max(out[0])-slices.Min(out[0]) < 0.1 {
				t.Error("predictions do not differ")
			}
		})
	}
}

// With a negligible prior the trained part starts as an ordinary network: its outputs are not 0, and particles of an
// ensemble differ.
func TestTrainedPartStarts(t *testing.T) {
	for what, d := range map[string]index.Distribution{"linear": index.Gaussian{N: 3}, "ensemble": index.OneHot{N: 4}} {
		out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
			z := Index(scope, d, 4)
			return []*Node{FNN(scope.In("layer"), z, x, 1, 6).Prior(1e-6).Done()}
		}, normals(1, 7, 5))[0]
		if apart := math.Abs(out[0]-out[7]) > 0.01; math.Abs(out[0]) < 0.01 || apart != (what == "ensemble") {
			t.Errorf("%s: the first input's outputs at two indices are %g and %g", what, out[0], out[7])
		}
	}
}

// The layer Epinet is hyper.Epinet less the network, for the same parameters, and its outputs are apart from each
// other.
func TestEpinetIsTheBelief(t *testing.T) {
	b := hyper.Epinet{Features: 5, Hidden: []int{4}, Epi: []int{6}, Dim: 3, PriorHidden: []int{2}, MatchedScale: 2}
	out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		g := x.Graph()
		z := Index(scope, index.Gaussian{N: 3}, 5)
		set := z.Set(g)
		p := b.Init(stream(scope, g), nil)
		zero := hyper.Params{Nu: []*Node{p.Nu[0], ZerosLike(p.Nu[1])}, Fixed: map[string]*Node{"prior": p.Fixed["prior"],
			"scale": p.Fixed["scale"], "matched": ZerosLike(p.Fixed["matched"])}}
		units := base.MLP{Layers: []int{5, 4}}.Outputs(InsertAxes(Slice(p.Nu[0], AxisRange(), AxisRange(0, 24)), 1),
			InsertAxes(x, 0)) // [1, 1, 4, inputs]
		phi := Concatenate([]*Node{x, Transpose(MaxScalar(Squeeze(units, 0, 1), 0), 0, 1)}, 1)
		own := epinet{hyper.EpinetHead{Inputs: 9, Hidden: []int{6}, Dim: 3, Outputs: 1}}
		given := hyper.Params{Nu: p.Nu[1:], Fixed: map[string]*Node{"matched": p.Fixed["matched"],
			"scale": MulScalar(p.Fixed["scale"], 2)}}
		return []*Node{Sub(b.Predict(p, set, InsertAxes(x, 0)), b.Predict(zero, set, InsertAxes(x, 0))),
			own.Predict(given, set, InsertAxes(phi, 0)), Epinet(scope.In("layer"), z, phi, 2).Done()}
	}, normals(1, 7, 5))
	near(t, "predictions", out[1], out[0], 1e-5)
	if len(out[2]) != 5*7*2 || out[2][0] == out[2][1] {
		t.Errorf("two outputs are %v", out[2])
	}
}

// Belief predicts what the belief predicts. LowRank is a linear hypermodel, and the prior of Diagonal is diagonal.
func TestOtherForms(t *testing.T) {
	b := hyper.NewEpinet(5)
	out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		z := Index(scope, b.Index(), 6)
		f := Belief(scope.In("belief"), z, b, x)
		p := b.Init(stream(scope.At("belief"), x.Graph()), nil)
		return []*Node{f, b.Predict(p, z.Set(x.Graph()), InsertAxes(x, 0))}
	}, normals(1, 7, 5))
	near(t, "belief", out[0], out[1], 1e-5)

	network := func(scope *model.Scope, x *Node) *Node { return Tanh(gomlx.Dense(scope.In("h"), x, true, 5)) }
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), nil, network, 5))
	trained := hyper.OnFeatures{Function: net, Belief: b, Trained: true}
	store := model.NewStore()
	out = run(t, backend.Go, store, func(scope *model.Scope, x *Node) []*Node {
		z := Index(scope, b.Index(), 6)
		p := trained.Init(stream(scope.At("belief"), x.Graph()), nil)
		return []*Node{Belief(scope.In("belief"), z, trained, x), trained.Predict(p, z.Set(x.Graph()), InsertAxes(x, 0))}
	}, normals(1, 7, 5))
	near(t, "belief on a network that is trained", out[0], out[1], 1e-5)

	store = model.NewStore()
	out = run(t, backend.Go, store, func(scope *model.Scope, x *Node) []*Node {
		z := Index(scope, index.Gaussian{N: 12}, 3)
		ones := Ones(x.Graph(), shapes.Make(dtypes.Float32, 1, 12))
		With(Concatenate([]*Node{ZerosLike(ones), ones, OnePlus(ones)}, 0))
		return []*Node{Dense(scope.In("low"), z, x, 2).LowRank(2).Done(), Dense(scope.In("diagonal"), z, x, 2).Diagonal().
			Prior(2).Done()}
	}, normals(1, 7, 5))
	for i, what := range []string{"low rank", "diagonal"} { // f(0), f(1) and f(2) are on a line in z
		f, n := out[i], len(out[i])/3
		for j := range n {
			near(t, what, []float64{f[2*n+j] - f[n+j]}, []float64{f[n+j] - f[j]}, 1e-4)
		}
		if f[0] == f[n] {
			t.Errorf("%s: two indices predict %g", what, f[0])
		}
	}
	if got := store.GetVariable("/diagonal/fixed.prior").Shape().Dimensions; !slices.Equal(got, []int{12, 1}) {
		t.Errorf("the prior of Diagonal has the shape %v, want 12 x 1", got)
	}
}

// Dropout of a network's hidden layers predicts what hyper.Dropout predicts, for the same parameters and index. Indices
// differ in training from step to step; in evaluation given ones are used.
func TestDropoutIsTheBelief(t *testing.T) {
	net := base.MLP{Layers: []int{5, 6, 4, 1}}
	b := hyper.Model{Base: net, Hyper: hyper.Dropout{Net: net, Keep: 0.5}}
	layer := func(theta, h *Node, in, out int) *Node { // theta begins with the layer's parameters
		w := Reshape(Slice(theta, AxisRange(0, in*out)), out, in)
		return Add(Einsum("kbi,oi->kbo", h, w), InsertAxes(Slice(theta, AxisRange(in*out, in*out+out)), 0, 0))
	}
	out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		g := x.Graph()
		z := Index(scope, b.Index(), 8)
		p := b.Init(stream(scope, g), nil)
		theta := Squeeze(p.Nu[0], 0)
		h := MaxScalar(layer(theta, InsertAxes(x, 0), 5, 6), 0)
		h = MaxScalar(layer(Slice(theta, AxisRange(36)), Dropout(scope.In("first"), z, h), 6, 4), 0)
		f := layer(Slice(theta, AxisRange(36+28)), Dropout(scope.In("second"), z, h), 4, 1)
		return []*Node{f, b.Predict(p, z.Set(g), InsertAxes(x, 0)), Dropout(scope.At("first"), z, OnesLike(InsertAxes(
			Slice(theta, AxisRange(0, 6)), 0, 0))), z.Set(g).Dense()}
	}, normals(1, 7, 5))
	near(t, "predictions", out[0], out[1], 1e-5)
	for k := range 8 { // the scope's own units again: the first 6 of 10 numbers
		near(t, "the first mask", out[2][k*6:(k+1)*6], out[3][k*10:k*10+6], 0)
	}
	if slices.Max(out[0])-slices.Min(out[0]) < 0.1 {
		t.Error("predictions do not differ")
	}
}

// Choose combines particles by the numbers of an index. A Prior changes the outputs, and has no gradient.
func TestChooseAndPrior(t *testing.T) {
	run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		scope.Store().SetTraining(x.Graph(), true) // the indices then need the trainer's step, a variable elsewhere
		z := Index(scope, index.Gaussian{N: 2}, 2)
		return []*Node{Prior(scope, 1, func(scope *model.Scope) *Node { return FNN(scope.In("net"), z, x, 1, 4).Done() })}
	}, normals(1, 3, 2))
	out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		With(Const(x.Graph(), [][]float32{{1, 0}, {2, -1}}))
		z := Index(scope, index.Gaussian{N: 2}, 2)
		chosen := Choose(z, Stack([]*Node{x, MulScalar(x, 10)}, 0))
		f := Prior(scope, 3, func(scope *model.Scope) *Node { return FNN(scope.In("net"), z, x, 1, 4).Done() })
		own := scope.At("prior").At("net").GetVariable("nu.0")
		if own.Trainable {
			t.Error("a variable of the prior is trainable")
		}
		return []*Node{chosen, x, f, Gradient(Add(ReduceAllSum(f), ReduceAllSum(x)), x)[0]}
	}, normals(1, 3, 2))
	x := out[1]
	for i, v := range x {
		near(t, "indices (1, 0) and (2, -1)", []float64{out[0][i], out[0][len(x)+i]}, []float64{v, 2*v - 10*v}, 1e-5)
	}
	near(t, "gradient", out[3], []float64{1, 1, 1, 1, 1, 1}, 1e-6)
	if slices.Max(out[2])-slices.Min(out[2]) < 0.1 {
		t.Errorf("the prior predicts %v", out[2])
	}
}

// Training draws indices as ParamIndexSet says: the sum of antithetic indices and of a frame is 0.
func TestIndexSets(t *testing.T) {
	for set, zero := range map[string]bool{"iid": false, "antithetic": true, "frame": true} {
		store := model.NewStore()
		store.SetParam("/"+ParamIndexSet, set)
		out := run(t, backend.Go, store, func(scope *model.Scope, x *Node) []*Node {
			scope.Store().SetTraining(x.Graph(), true)
			z := Index(scope, index.Gaussian{N: 4}, 8).Set(x.Graph()).Dense()
			return []*Node{ReduceSum(z, 1), z}
		}, normals(1, 1, 1))
		if sum := math.Abs(out[0][0]) + math.Abs(out[0][1]); (sum < 1e-5) != zero || len(out[1]) != 32 || out[1][0] == 0 {
			t.Errorf("%s: the sums are %v", set, out[0])
		}
	}
}

// Evaluation has the loss without perturbations and without the anchor; Perturbed(0) takes the data's numbers too.
func TestLossInEvaluation(t *testing.T) {
	out := run(t, backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		f := Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 4), x, 1).Done()
		y, ids := SliceAxis(x, 1, AxisRange(0, 1)), Const(x.Graph(), []int32{1, 2, 3})
		plain := Loss(loss.MeanSquaredError)([]*Node{y}, []*Node{f})
		own := Loss(loss.MeanSquaredError, Perturbed(3), Anchored(2))([]*Node{y, ids}, []*Node{f})
		none := Loss(loss.MeanSquaredError, Perturbed(0))([]*Node{y, ids}, []*Node{f})
		return []*Node{plain, own, none}
	}, normals(1, 3, 2))
	near(t, "loss", out[1], out[0], 1e-6)
	near(t, "loss", out[2], out[0], 1e-6)
}

// The loss with Perturbed and Anchored is the paper's, and so is its gradient: train's objective L~, times
// 2 sigma_w^2 / N.
func TestLossIsThePapers(t *testing.T) {
	const n, noise, priorVar = 6, 0.5, 2.0
	d := index.Gaussian{N: 3}
	net := base.MLP{Layers: []int{2, 4, 1}}
	b := hyper.Model{Base: net, Hyper: hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(net), 3), P: d}}
	store := model.NewStore()
	f := Loss(loss.MeanSquaredError, Perturbed(math.Sqrt(noise)), Anchored(noise/(priorVar*n)))
	tr := train.Trainer{Belief: b, Config: train.Config{Steps: 1, Batch: n, Indices: 4, Capacity: n}}
	scalar := func(x *Node, v float32) *Node { return Const(x.Graph(), []float32{v}) }
	out := run(t, backend.Go, store, func(scope *model.Scope, x *Node) []*Node {
		g := x.Graph()
		scope.Store().SetTraining(g, true)
		z := Index(scope, d, 4)
		y, ids := Sin(SliceAxis(x, 1, AxisRange(0, 1))), Const(g, []int32{5, 0, 3, 900, 7, 1})
		model := FNN(scope.In("layer"), z, x, 1, 4).Done()
		moved := func(name string) *Node { return scope.At("layer").GetVariable(name).NodeValue(g) }
		own := f([]*Node{y, ids}, []*Node{model})

		l := layersOf(g)[0]
		p := hyper.Params{Nu: []*Node{InsertAxes(moved("nu.0"), 0), InsertAxes(moved("nu.1"), 0)},
			Nu0: []*Node{InsertAxes(moved("anchor.0"), 0), InsertAxes(moved("anchor.1"), 0)}}
		at := hyper.Params{Nu: p.Nu, Nu0: []*Node{AddScalar(p.Nu0[0], 0), p.Nu0[1]}}
		a := indicesOf(g, "").vectors(ids)
		r := train.Rates{NoiseVar: scalar(x, noise), PriorVar: scalar(x, priorVar),
			Perturbation: scalar(x, float32(math.Sqrt(noise)))}
		paper := tr.Objective(at, train.Batch{X: InsertAxes(x, 0), Y: Transpose(y, 0, 1), A: a}, l.z.Set(g),
			Const(g, float32(n)), r)
		paper = MulScalar(ReduceAllSum(paper), 2*noise/n)
		grads := Gradient(own, moved("nu.0"), moved("nu.1"))
		grads = append(grads, Gradient(paper, moved("nu.0"), moved("nu.1"))...)
		return append([]*Node{own, paper}, grads...)
	}, normals(2, n, 2))
	near(t, "loss", out[0], out[1], 1e-5)
	near(t, "gradient of mu", out[2], out[4], 1e-4)
	near(t, "gradient of C", out[3], out[5], 1e-4)
	if out[0][0] < 0.01 {
		t.Errorf("the loss is %g", out[0][0])
	}
}

// Scores against sums over indices and draws in plain Go.
func TestScores(t *testing.T) {
	const n, batch, classes, tau = 3, 4, 5, 6
	labels := []int32{1, 4, 0, 2}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := run(t, name, model.NewStore(), func(_ *model.Scope, x *Node) []*Node {
			logits, y := Reshape(MulScalar(x, 2), n, batch, classes), Reshape(Const(x.Graph(), labels), batch, 1)
			total, aleatoric, epistemic := Entropies(logits)
			return []*Node{logits, MarginalNLL(logits, y), JointNLL(logits, y, tau), total, aleatoric, epistemic,
				CalibrationError(logits, y, 4), Probabilities(logits), JointNLL(logits, y, 1)}
		}, normals(3, n*batch, classes))
		p := make([][][]float64, n)
		for k := range p {
			for i := range batch {
				row, sum := slices.Clone(out[0][(k*batch+i)*classes:(k*batch+i+1)*classes]), 0.0
				for c := range row {
					row[c] = math.Exp(row[c])
					sum += row[c]
				}
				for c := range row {
					row[c] /= sum
				}
				p[k] = append(p[k], row)
			}
		}
		var marginal, total, aleatoric, mean []float64
		gaps, counts := make([]float64, 4), 0
		for i := range batch {
			m, inner := make([]float64, classes), 0.0
			for k := range n {
				for c, v := range p[k][i] {
					m[c] += v / n
					inner -= v * math.Log(v) / n
				}
			}
			outer := 0.0
			for _, v := range m {
				outer -= v * math.Log(v)
			}
			top := slices.Index(m, slices.Max(m))
			gaps[min(int(math.Ceil(m[top]*4))-1, 3)] += m[top]
			if top == int(labels[i]) {
				gaps[min(int(math.Ceil(m[top]*4))-1, 3)]--
			}
			counts++
			marginal, total = append(marginal, -math.Log(m[labels[i]])), append(total, outer)
			aleatoric, mean = append(aleatoric, inner), append(mean, m...)
		}
		near(t, "marginal", out[1], marginal, 1e-4)
		near(t, "total", out[3], total, 1e-4)
		near(t, "aleatoric", out[4], aleatoric, 1e-4)
		for i, e := range out[5] {
			near(t, "epistemic", []float64{e}, []float64{total[i] - aleatoric[i]}, 1e-3)
		}
		ece := 0.0
		for _, gap := range gaps {
			ece += math.Abs(gap) / batch
		}
		near(t, "calibration", out[6], []float64{ece}, 1e-4)
		near(t, "probabilities", out[7], mean, 1e-4)
		joint := func(i, firsts, tau int) float64 {
			sum := 0.0
			for k := range n {
				sum += math.Pow(p[k][i][labels[i]], float64(firsts)) *
					math.Pow(p[k][(i+1)%batch][labels[(i+1)%batch]], float64(tau-firsts)) / n
			}
			return -math.Log(sum)
		}
		for i, got := range out[2] { // some number of draws of the first of the pair explains each joint likelihood
			if !slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5, 6}, func(firsts int) bool {
				return math.Abs(joint(i, firsts, tau)-got) < 1e-3
			}) {
				t.Errorf("joint likelihood %d is %g", i, got)
			}
			if one := out[8][i]; math.Abs(one-joint(i, 0, 1)) > 1e-3 && math.Abs(one-joint(i, 1, 1)) > 1e-3 {
				t.Errorf("joint likelihood of one label %d is %g", i, one)
			}
		}
	})
}

// A label that is no class has NaN in each score, and in the joint score of its two pairs. Other labels' scores do not
// change, to the bit.
func TestLabelsThatAreNoClass(t *testing.T) {
	valid := []int32{1, 0, 0, 2, 1}
	bad := []any{[]int32{1, 0, 3, 2, 1}, []int64{1, 0, -1, 2, 1}, []uint8{1, 0, 255, 2, 1}, []int64{1, 0, 1 << 32, 2, 1}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, s := range scores(4) {
			out := run(t, name, model.NewStore(), func(_ *model.Scope, x *Node) (all []*Node) {
				for _, labels := range append(bad, valid) {
					all = append(all, s.of(Reshape(x, 2, 5, 3), Const(x.Graph(), labels)))
				}
				return all
			}, normals(3, 10, 3))
			for i := range bad {
				for j, want := range out[len(bad)] {
					no := j == 2 || j == 1 && s.name == "joint NLL" || s.name == "calibration error"
					if got := out[i][j]; math.IsNaN(got) != no || !no && got != want {
						t.Errorf("labels %v: the %s of input %d is %g, and %g for labels %v", bad[i], s.name, j, got, want, valid)
					}
				}
			}
		}
	})
}

// Bad use is one sentence that names the layer's scope.
func TestBadUse(t *testing.T) {
	type graph = func(scope *model.Scope, x *Node) *Node
	for want, f := range map[string]graph{
		`the layer in scope "/out" needs indices`: func(scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("out"), Indices{}, x, 2).Done()
		},
		`the layer in scope "/own" needs indices: pass it what`: func(scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("own"), Indices{Distribution: index.Gaussian{N: 4}}, x, 2).Done()
		},
		`the layer in scope "/epi" needs indices`: func(scope *model.Scope, x *Node) *Node {
			return Epinet(scope.In("epi"), Indices{Distribution: index.Gaussian{N: 4}}, x, 2).Done()
		},
		`the layer in scope "/last" needs indices`: func(scope *model.Scope, x *Node) *Node {
			return LastLayer(scope.In("last"), Indices{Distribution: LastLayerIndex(5, 2)}, x, 2)
		},
		`the layer in scope "/b" needs indices`: func(scope *model.Scope, x *Node) *Node {
			b := hyper.NewEpinet(5)
			return Belief(scope.In("b"), Indices{Distribution: b.Index()}, b, x)
		},
		"a layer of package layers needs indices: pass it what layers.Index returns": func(_ *model.Scope, x *Node) *Node {
			return Choose(Indices{Distribution: index.OneHot{N: 7}}, x)
		},
		`hyper_evaluation_indices in scope "/zero" must be positive, got 0`: func(scope *model.Scope, x *Node) *Node {
			scope.Store().SetParam("/"+ParamEvaluation, 0)
			return Dense(scope, Index(scope.In("zero"), index.Gaussian{N: 3}, 2), x, 2).Done()
		},
		`hyper_evaluation_indices in scope "/few" must be positive, got -3`: func(scope *model.Scope, x *Node) *Node {
			scope.Store().SetParam("/"+ParamEvaluation, -3)
			return Dense(scope, Index(scope.In("few"), index.Gaussian{N: 3}, 2), x, 2).Done()
		},
		`layers.Belief in scope "/b" needs a belief`: func(scope *model.Scope, x *Node) *Node {
			return Belief(scope.In("b"), Index(scope, index.Gaussian{N: 3}, 2), nil, x)
		},
		`the layer in scope "/low" cannot be LowRank and also Diagonal or a Hypernetwork`: func(
			scope *model.Scope, x *Node) *Node {
			z := Index(scope, index.Gaussian{N: 12}, 2)
			return Dense(scope.In("low"), z, x, 2).LowRank(2).Hypernetwork(3).Done()
		},
		`the layer in scope "/both" cannot be LowRank and also Diagonal or a Hypernetwork`: func(
			scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("both"), Index(scope, index.Gaussian{N: 12}, 2), x, 2).Diagonal().LowRank(2).Done()
		},
		`layers.With: indices of shape (Float32)[7, 5], but layers.Index in scope "/" needs float32 [indices, 3]`: func(
			scope *model.Scope, x *Node) *Node {
			With(x)
			return Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 2).Done()
		},
		`layers.Index in scope "/b": the model has indices of another call, in scope "/a"`: func(
			scope *model.Scope, x *Node) *Node {
			a, b := Index(scope.In("a"), index.Gaussian{N: 3}, 2), Index(scope.In("b"), index.Gaussian{N: 3}, 2)
			return Add(Dense(scope.In("x"), a, x, 2).Done(), Dense(scope.In("y"), b, x, 2).Done())
		},
		"layers.Loss: the model has no layer with indices": func(_ *model.Scope, x *Node) *Node {
			return Loss(loss.MeanSquaredError)([]*Node{x}, []*Node{x})
		},
		"layers.Loss: the model's output must be [2 indices, batch..., outputs], got (Float32)[7, 5]": func(
			scope *model.Scope, x *Node) *Node {
			Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 2).Done()
			return Loss(loss.MeanSquaredError)([]*Node{x}, []*Node{x})
		},
		"Perturbed needs the data's numbers as the last label": func(scope *model.Scope, x *Node) *Node {
			f := Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 1).Done()
			return Loss(loss.MeanSquaredError, Perturbed(1))([]*Node{SliceAxis(x, 1, AxisElem(0))}, []*Node{f})
		},
		"Perturbed has no effect, because the indices of index.Bernoulli have no perturbations": func(
			scope *model.Scope, x *Node) *Node {
			f := Dropout(scope.In("d"), Index(scope, index.Bernoulli{N: 5, Keep: 0.5}, 2), InsertAxes(x, 0))
			return Loss(loss.MeanSquaredError, Perturbed(1))([]*Node{x, x}, []*Node{f})
		},
		`layers.Prior in scope "/prior": its function makes the variable /w outside of this scope`: func(
			scope *model.Scope, x *Node) *Node {
			return Prior(scope, 1, func(*model.Scope) *Node {
				return Add(x, scope.VariableWithValue("w", float32(1)).NodeValue(x.Graph()))
			})
		},
		`the prior's scale in scope "/out" must not be negative, got -1`: func(scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 1).Prior(-1).Done()
		},
		`the layer in scope "/out" has 12 parameters, so that Diagonal needs an index of 12 numbers, got 3`: func(
			scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 2).Diagonal().Done()
		},
		`the epinet in scope "/epi" needs indices of index.Gaussian, got index.OneHot`: func(
			scope *model.Scope, x *Node) *Node {
			return Epinet(scope.In("epi"), Index(scope, index.OneHot{N: 3}, 2), x, 2).Done()
		},
		"sigma and lambda must be finite and not negative, got -1 and 0": func(scope *model.Scope, x *Node) *Node {
			f := Dense(scope.In("out"), Index(scope, index.Gaussian{N: 3}, 2), x, 1).Done()
			return Loss(loss.MeanSquaredError, Perturbed(-1))([]*Node{x}, []*Node{f})
		},
		"Anchored has no effect": func(scope *model.Scope, x *Node) *Node {
			scope.Store().SetTraining(x.Graph(), true)
			z := Index(scope, index.OneHot{N: 2}, 2)
			f := Ensemble(scope, z, func(*model.Scope) *Node { return x })
			return Loss(loss.MeanSquaredError, Anchored(1))([]*Node{x}, []*Node{f})
		},
		`layers.Belief in scope "/b": gradients do not train hyper.BayesianLinear; see layers.LastLayer`: func(
			scope *model.Scope, x *Node) *Node {
			b := hyper.BayesianLinear{Features: 5}
			return Belief(scope.In("b"), Index(scope, b.Index(), 2), b, x)
		},
		`layers.Belief in scope "/b": it takes inputs of 4 numbers, got (Float32)[7, 5]`: func(
			scope *model.Scope, x *Node) *Node {
			b := hyper.NewEpinet(4)
			return Belief(scope.In("b"), Index(scope, b.Index(), 2), b, x)
		},
		`layers.Index in scope "/": index.PerArm is for arms, not for networks`: func(scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("out"), Index(scope, index.PerArm{Arms: 3, M: 2}, 2), x, 2).Done()
		},
		"layers.With: the model has its indices already": func(scope *model.Scope, x *Node) *Node {
			f := Dense(scope.In("out"), Index(scope, index.Gaussian{N: 5}, 2), x, 2).Done()
			With(x)
			return f
		},
		`the layer in scope "/out" cannot be Diagonal and a Hypernetwork`: func(scope *model.Scope, x *Node) *Node {
			return Dense(scope.In("out"), Index(scope, index.Gaussian{N: 12}, 2), x, 2).Diagonal().Hypernetwork(3).Done()
		},
		"a batch needs two inputs": func(_ *model.Scope, x *Node) *Node {
			return JointNLL(Reshape(x, 5, 1, 7), Const(x.Graph(), []int32{1}), 3)
		},
		`layers.Dropout in scope "/d" needs indices of index.Bernoulli, got index.Gaussian`: func(
			scope *model.Scope, x *Node) *Node {
			return Dropout(scope.In("d"), Index(scope, index.Gaussian{N: 5}, 2), InsertAxes(x, 0))
		},
		`layers.Dropout in scope "/d" needs units [2 indices or 1, batch..., units], got (Float32)[7, 5]`: func(
			scope *model.Scope, x *Node) *Node {
			return Dropout(scope.In("d"), Index(scope, index.Bernoulli{N: 5, Keep: 0.5}, 2), x)
		},
		`layers.Dropout in scope "/e": all Dropouts so far have 10 units, but index.Bernoulli has 8 numbers`: func(
			scope *model.Scope, x *Node) *Node {
			z := Index(scope, index.Bernoulli{N: 8, Keep: 0.5}, 2)
			return Dropout(scope.In("e"), z, Dropout(scope.In("d"), z, InsertAxes(x, 0)))
		},
		`layers.Dropout in scope "/d" has 7 units, and had 5 before`: func(scope *model.Scope, x *Node) *Node {
			z := Index(scope, index.Bernoulli{N: 12, Keep: 0.5}, 2)
			return Dropout(scope.At("d"), z, Transpose(Dropout(scope.In("d"), z, InsertAxes(x, 0)), 1, 2))
		},
		"layers.Choose: 7 particles for indices of 3 numbers; outputs must be [particles, batch..., outputs]": func(
			scope *model.Scope, x *Node) *Node {
			return Choose(Index(scope, index.OneHot{N: 3}, 2), x)
		},
	} {
		_, err := try(backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node { return []*Node{f(scope, x)} },
			normals(1, 7, 5))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
