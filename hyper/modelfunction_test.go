package hyper_test

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
	"github.com/gomlx/gomlx/ml/layers/norm"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// convolutions is a network for images of 4x4 pixels, with dropout, normalization and the given number of outputs.
func convolutions(outputs int) func(scope *model.Scope, x *Node) *Node {
	return func(scope *model.Scope, x *Node) *Node {
		images := Reshape(x, -1, 4, 4, 1)
		h := gomlx.Convolution(scope.In("conv"), images).Channels(3).KernelSize(3).PadSame().Done()
		h = norm.BatchNorm(scope.In("norm"), Tanh(h), -1).UseBackendInference(false).Done()
		h = gomlx.DropoutStatic(scope.In("drop"), Reshape(h, x.Shape().Dim(0), -1), 0.5)
		return gomlx.Dense(scope.In("out"), h, true, outputs)
	}
}

// networkStore returns a store with the variables of a network, as after a training: normal numbers.
func networkStore(f func(scope *model.Scope, x *Node) *Node, features int) *model.Store {
	s, b := model.NewStore(), must.M1(backend.Open(backend.Go))
	must.M1(model.CallOnce(b, s, f, [][]float32{make([]float32, features)}))
	r := rand.New(rand.NewPCG(1, 2))
	for v := range s.IterVariables() {
		if v.DType() != dtypes.Float32 {
			continue
		}
		values := make([]float32, v.Shape().Size())
		for i := range values {
			values[i] = float32(0.5 + 0.2*r.NormFloat64())
		}
		must.M(v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)))
	}
	return s
}

func images(seed uint64, runs, inputs, pixels int) *tensors.Tensor {
	r, x := rand.New(rand.NewPCG(seed, 3)), make([]float32, runs*inputs*pixels)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(x, runs, inputs, pixels)
}

func wide(x []float32) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// A network predicts as in GoMLX's evaluation, with the values that a store has and with others for each run and index,
// also in a graph that trains. The store stays as it is.
func TestModelFunctionIsTheNetwork(t *testing.T) {
	f := convolutions(1)
	store := networkStore(f, 16)
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), store, f, 16))
	want := []int{3, 27, 3, 3, 1, 48}
	if net.Inputs() != 16 || net.NumOutputs() != 1 || !slices.Equal(net.Groups(), want) {
		t.Fatalf("%d inputs, %d outputs, groups %v, want 16, 1 and %v", net.Inputs(), net.NumOutputs(), net.Groups(), want)
	}
	var predictions [2][]float64 // at theta and at -theta, for both runs
	for i, sign := range []float64{1, -1} {
		e := must.M1(model.NewExec1(must.M1(backend.Open(backend.Go)), must.M1(store.Clone()), func(scope *model.Scope,
			x *Node) *Node {
			for v := range scope.IterVariables() {
				if v.Trainable && sign < 0 {
					v.SetNodeValue(Neg(v.NodeValue(x.Graph())))
				}
			}
			return f(scope, Reshape(x, -1, 16))
		}))
		predictions[i] = wide(must.M1(tensors.CopyFlatData[float32](must.M1(e.Call(images(1, 2, 5, 16))))))
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := testbackend.Eval[float64](t, name, func(in []*Node) []*Node {
			g := in[0].Graph()
			model.NewStore().SetTraining(g, true)
			theta := net.InitTrained(rng.New(Const(g, []uint64{1, 2})), 0, 0, 1, hyper.NumTheta(net))
			y := net.Apply(Concatenate([]*Node{theta, Neg(theta)}, 1), in[0])
			if !model.NewStore().IsTraining(g) {
				t.Error("the graph no longer trains")
			}
			return []*Node{Transpose(y, 0, 1)}
		}, images(1, 2, 5, 16))
		testbackend.Near(t, "predictions", out[0], slices.Concat(predictions[0], predictions[1]), 1e-5)
	})
}

// The gradient for theta is the slope of the predictions, by differences.
func TestModelFunctionGradient(t *testing.T) {
	f := convolutions(1)
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), networkStore(f, 16), f, 16))
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(Const(in[0].Graph(), []uint64{1}))
		theta, along := net.InitTrained(s, 0, 0, 2, hyper.NumTheta(net)), s.Normal(2, hyper.NumTheta(net))
		at := func(h float64) *Node { return ReduceAllSum(Sin(net.Apply(Add(theta, MulScalar(along, h)), in[0]))) }
		slope := DivScalar(Sub(at(2e-3), at(-2e-3)), 4e-3)
		return []*Node{slope, ReduceAllSum(Mul(along, Gradient(at(0), theta)[0]))}
	}, images(1, 1, 5, 16))
	testbackend.Near(t, "slope", out[1], out[0], 1e-2) // rounding: 1e-6 of 10 over 4e-3
}

// Fresh networks differ between runs and particles, and have the spread of the function's own initializer: here that of
// He for the weights, and 0 for biases.
func TestInitFresh(t *testing.T) {
	f := func(scope *model.Scope, x *Node) *Node { return gomlx.Dense(scope.In("out"), x, true, 40) }
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), nil, f, 50))
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		return []*Node{net.InitFresh(rng.New(in[0]), 0, 0, 3, hyper.NumTheta(net))}
	}, []uint64{1, 2})[0]
	n := hyper.NumTheta(net)
	if n != 51*40 || len(out) != 6*n || out[n-1] == out[2*n-1] || out[n-1] == out[4*n-1] {
		t.Fatalf("%d numbers, of %d parameters, with %g, %g and %g, want different ones", len(out), n, out[n-1],
			out[2*n-1], out[4*n-1])
	}
	squares, weights := 0.0, out[40:n] // variables are sorted: biases come first
	for _, v := range weights {
		squares += v * v
	}
	if got, want := math.Sqrt(squares/float64(len(weights))), math.Sqrt(2.0/50); math.Abs(got/want-1) > 0.06 ||
		slices.Max(out[:40]) != 0 { // 2,000 numbers: 1.6% for one standard error, of the draw and of the initializer's
		t.Errorf("weights have the deviation %g, want %g; biases up to %g", got, want, slices.Max(out[:40]))
	}
}

// A belief on features adds the network's outputs behind the numbers beside it, and has a copy of a trained network for
// each run.
func TestOnFeatures(t *testing.T) {
	f := convolutions(3)
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), networkStore(f, 16), f, 16))
	inner := hyper.NewEpinet(5)
	frozen := hyper.OnFeatures{Function: net, Belief: inner, Beside: 2}
	trained := frozen
	trained.Trained = true
	for _, b := range []hyper.OnFeatures{frozen, trained} {
		if err := b.Validate(); err != nil || b.Inputs() != 18 {
			t.Errorf("error %v, %d inputs, want 18", err, b.Inputs())
		}
	}
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		x := in[0]
		s := rng.New(Const(x.Graph(), []uint64{1, 2}))
		z := inner.Index().Sample(s.Named("z"), 4)
		part := func(run int) *Node { // of the inputs, for the network
			return Reshape(Slice(x, AxisElem(run), AxisRange(), AxisRange(2)), 1, 5, 16)
		}
		p := trained.Init(s, nil)
		theta := p.Nu[len(p.Nu)-1]
		single := must.M1(hyper.NewModelFunction(x.Graph().Backend(), networkStore(f, 16), func(scope *model.Scope,
			x *Node) *Node {
			return SliceAxis(f(scope, x), 1, AxisRange(0, 1)) // the first output
		}, 16))
		changed := Concatenate([]*Node{Slice(theta, AxisRange(0, 1)), MulScalar(Slice(theta, AxisRange(1)), 0.5)}, 0)
		other := hyper.Params{Nu: slices.Concat(p.Nu[:len(p.Nu)-1], []*Node{changed}), Fixed: p.Fixed}
		var features []*Node
		for run := range 2 {
			own := Slice(changed, AxisRange(run, run+1))
			features = append(features, single.Apply(InsertAxes(own, 1), part(run)))
		}
		first := Squeeze(Concatenate(features, 0), 1) // [runs, inputs]
		probe := hyper.OnFeatures{Function: net, Belief: firstFeature{}, Beside: 2, Trained: true}
		return []*Node{frozen.Predict(frozen.Init(s, nil), z, x), trained.Predict(p, z, x), trained.Predict(other, z, x),
			probe.Predict(hyper.Params{Nu: []*Node{changed}}, z, x), first}
	}, images(1, 2, 5, 18))
	testbackend.Near(t, "a trained network at its start", out[1], out[0], 1e-5)
	testbackend.Near(t, "the first feature", out[3], out[4], 1e-5)
	if half := len(out[2]) / 2; slices.Equal(out[2][half:], out[1][half:]) || !slices.Equal(out[2][:half], out[1][:half]) {
		t.Error("changing the network of the second run must change the predictions of this run alone")
	}
}

// The regularizer of a trained network sees theta with the network's own parameters behind it, the same at each index.
func TestTrainedNetworkIsParametric(t *testing.T) {
	f := convolutions(3)
	net := must.M1(hyper.NewModelFunction(must.M1(backend.Open(backend.Go)), networkStore(f, 16), f, 16))
	line := base.Linear{Features: 3}
	inner := hyper.Model{Base: line, Hyper: hyper.Linear{Layout: hyper.Dense(3, 2), P: index.Gaussian{N: 2}}}
	trained := hyper.OnFeatures{Function: net, Belief: inner, Trained: true}
	c := hyper.CapabilitiesOf(trained)
	if n := c.Parametric.NumTheta(); n != 3+hyper.NumTheta(net) || c.Linear != nil || c.Affine != nil {
		t.Errorf("theta has %d numbers, capabilities %+v; want %d, and Parametric alone", n, c, 3+hyper.NumTheta(net))
	}
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		z, p := inner.Index().Sample(s.Named("z"), 4), trained.Init(s, nil)
		theta := hyper.CapabilitiesOf(inner).Parametric.Trained(p.Nu[:2], z)
		own := BroadcastToDims(InsertAxes(p.Nu[2], 1), 2, 4, hyper.NumTheta(net))
		return []*Node{c.Parametric.Trained(p.Nu, z), Concatenate([]*Node{theta, own}, 2)}
	}, []uint64{1, 2})
	testbackend.Near(t, "theta", out[0], out[1], 0)
}

// firstFeature is a belief that predicts the third of five numbers.
type firstFeature struct{}

func (firstFeature) Index() index.Distribution           { return index.Gaussian{N: 8} }
func (firstFeature) Init(rng.Stream, *Node) hyper.Params { return hyper.Params{} }
func (firstFeature) Predict(_ hyper.Params, _ index.Set, x *Node) *Node {
	return InsertAxes(Squeeze(Slice(x, AxisRange(), AxisRange(), AxisElem(2)), 2), 1)
}

// Bad use is one sentence, with the variable's path where there is one.
func TestModelFunctionErrors(t *testing.T) {
	f, b := convolutions(2), must.M1(backend.Open(backend.Go))
	make := func(store *model.Store, f func(scope *model.Scope, x *Node) *Node) error {
		_, err := hyper.NewModelFunction(b, store, f, 16)
		return err
	}
	without := networkStore(f, 16)
	must.M(without.DeleteVariable("/conv/conv/weights"))
	net := must.M1(hyper.NewModelFunction(b, nil, f, 16))
	same := func(_ *model.Scope, x *Node) *Node { return x }
	for want, err := range map[string]error{
		"hyper.NewModelFunction: the store lacks 1 variables of the function, such as /conv/conv/weights": make(without, f),
		"/out/dense/weights has shape (Float32)[48, 3], but in the store it has (Float32)[48, 2]: it is not": make(
			networkStore(f, 16), convolutions(3)),
		"the function must return float32 [batch, outputs]; for a batch of 2 it returns (Float32)[2, 16, 1]": make(nil,
			func(_ *model.Scope, x *Node) *Node { return InsertAxes(x, -1) }),
		"the function changes its variable /#rngState without training": make(nil, func(scope *model.Scope, x *Node) *Node {
			return Add(x, scope.RandomNormal(x.Graph(), x.Shape()))
		}),
		"the function trains its variable /w, which is (Float64)[16] and must be float32": make(nil, func(scope *model.Scope,
			x *Node) *Node {
			w := scope.VariableWithShape("w", shapes.Make(dtypes.Float64, 16)).NodeValue(x.Graph())
			return Mul(x, ConvertDType(InsertAxes(w, 0), x.DType()))
		}),
		`sub-scope "a" already visited`: make(nil, func(scope *model.Scope, x *Node) *Node {
			return Add(gomlx.Dense(scope.In("a"), x, true, 2), gomlx.Dense(scope.In("a"), x, true, 2))
		}),
		"hyper.NewModelFunction: it needs a function": make(nil, nil),
		"hyper.OnFeatures: hyper.ModelFunction: it has no function; make it with hyper.NewModelFunction": hyper.OnFeatures{
			Belief: hyper.NewEpinet(2)}.Validate(),
		"hyper.OnFeatures: Belief takes inputs of 5 numbers, but Function and Beside make 2 + 1": hyper.OnFeatures{
			Function: net, Belief: hyper.NewEpinet(5), Beside: 1}.Validate(),
		"hyper.OnFeatures: Trained is not for hyper.BayesianLinear": hyper.OnFeatures{Function: net, Trained: true,
			Belief: hyper.BayesianLinear{Features: 2}}.Validate(),
		"hyper.OnFeatures: inputs have 20 numbers, but the network takes 16, and 1 are beside it": hyper.OnFeatures{
			Function: net, Belief: hyper.NewEpinet(3), Beside: 1}.ForInputs(20).(hyper.OnFeatures).Validate(),
		"hyper.OnFeatures: Trained needs a Function that trains a variable": hyper.OnFeatures{
			Function: must.M1(hyper.NewModelFunction(b, nil, same, 2)), Trained: true, Belief: hyper.NewEpinet(2)}.Validate(),
		"Base must predict one number, but its last layer has 2": hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 2,
			Params: hyper.NumTheta(net)}}.Validate(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
