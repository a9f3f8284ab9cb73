package learner_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

var (
	line = base.Linear{Features: 2}
	net  = base.MLP{Layers: []int{2, 3, 1}}
)

// ensembleOf returns an ensemble without a prior.
func ensembleOf(b hyper.BaseModel, particles int) hyper.Model {
	return hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: particles, Params: hyper.NumTheta(b)}}
}

// affineOf returns a dense linear hypermodel without a prior.
func affineOf(b hyper.BaseModel) hyper.Model {
	return hyper.Model{Base: b, Hyper: hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(b), 3), P: index.Gaussian{N: 3}}}
}

// Training is exact if that is possible, and sampled otherwise: by SGD if the loss is quadratic in nu or a step size is
// given, and otherwise by Adam. Setting defaults twice changes nothing.
func TestDefaults(t *testing.T) {
	wide := base.Linear{Features: 5000} // its 25 million second moments are too many
	hypernetwork := hyper.Model{Base: line, Hyper: hyper.Network{P: index.Gaussian{N: 3}, Hidden: []int{4}, Params: 2}}
	sampled := train.Config{Integrate: train.Sampled}
	with := func(b hyper.Belief, c train.Config) learner.Learner { return learner.Learner{Belief: b, Train: c} }
	own := func(b hyper.Belief) learner.Learner { return learner.Learner{Belief: b} }
	for _, c := range []struct {
		name      string
		l         learner.Learner
		integrate train.Integration
		optimizer train.Optimizer
		step      float64
	}{
		{"arms", own(ensembleOf(base.Tabular{Arms: 3}, 4)), train.Exact, nil, 0.1},
		{"linear hypermodel", own(affineOf(line)), train.Exact, nil, 0.1},
		{"ensemble of lines", own(ensembleOf(line, 4)), train.Exact, nil, 0.1},
		{"many features", own(affineOf(wide)), train.Sampled, nil, 0.1},
		{"ensemble of lines, sampled", with(ensembleOf(line, 4), sampled), train.Sampled, nil, 0.1},
		{"full data", with(affineOf(line), train.Config{Integrate: train.FullData}), train.FullData, nil, 0.1},
		{"network", own(affineOf(net)), train.Sampled, train.Adam{}, 0.01},
		{"ensemble of networks", own(ensembleOf(net, 4)), train.Sampled, train.Adam{}, 0.01},
		{"hypernetwork of a line", own(hypernetwork), train.Sampled, train.Adam{}, 0.01},
		{"epinet", own(hyper.NewEpinet(2)), train.Sampled, train.Adam{}, 0.01},
		{"last layer", own(hyper.NewLastLayer(2)), train.Sampled, train.Adam{}, 0.01},
		{"network and process", own(hyper.NewNetworkGP(2)), train.Sampled, train.Adam{}, 0.01},
		{
			"Ensemble++", with(hyper.NewSharedEnsemble(2), train.Config{IndexSet: train.Axes, Regularize: train.Decay}),
			train.Sampled, train.Adam{}, 0.01,
		},
		{"decay", with(affineOf(net), train.Config{Regularize: train.Decay}), train.Sampled, train.Adam{}, 0.01},
		{"decay of a line", with(affineOf(line), train.Config{Regularize: train.Decay}), train.Sampled, nil, 0.1},
		{
			"logistic loss", with(affineOf(line), train.Config{Loss: train.LogisticLoss{}}),
			train.Sampled, train.Adam{}, 0.01,
		},
		{"weights", with(ensembleOf(line, 4), train.Config{Weights: train.Bernoulli}), train.Sampled, nil, 0.1},
		{"network, a step size", learner.Learner{Belief: affineOf(net), StepSize: 0.3}, train.Sampled, nil, 0.3},
		{
			"network, SGD", with(affineOf(net), train.Config{Optimizer: train.SGD{}}),
			train.Sampled, train.SGD{}, 0.1,
		},
		{
			"line, RMSProp", with(affineOf(line), train.Config{Integrate: train.Sampled, Optimizer: train.RMSProp{}}),
			train.Sampled, train.RMSProp{}, 0.01,
		},
	} {
		l := c.l.WithDefaults()
		if l.Train.Integrate != c.integrate || l.Train.Optimizer != c.optimizer || l.StepSize != c.step {
			t.Errorf("%s: %s by %T with steps of %v, want %s by %T with %v",
				c.name, l.Train.Integrate, l.Train.Optimizer, l.StepSize, c.integrate, c.optimizer, c.step)
		}
		if again := l.WithDefaults(); !reflect.DeepEqual(again, l) {
			t.Errorf("%s: second WithDefaults: got %+v, want %+v", c.name, again, l)
		}
		l.Train.Capacity = 10
		if err := l.Validate(); err != nil {
			t.Errorf("%s: got error %v, want none", c.name, err)
		}
	}
}

// The default step size for arms is the one that forgets fastest if 0.1 is larger: half of the limit.
func TestDefaultStepIsStable(t *testing.T) {
	l := learner.Learner{
		Belief: ensembleOf(base.Tabular{Arms: 3}, 4), NoiseVariance: 0.01, Train: train.Config{Integrate: train.FullData},
	}.WithDefaults()
	// The loss of each particle has curvature 1/0.01 + 1.
	if want := 1 / (1/0.01 + 1); math.Abs(l.StepSize-want) > 1e-12 {
		t.Errorf("the step is %v, want %v", l.StepSize, want)
	}
	l.StepSize *= 2.1
	if err := l.Validate(); err == nil || !strings.Contains(err.Error(), "makes SGD diverge") {
		t.Errorf("step beyond the limit: got error %v, want one that says that SGD diverges", err)
	}
	l.FreeSteps = true
	if err := l.Validate(); err != nil {
		t.Errorf("free steps: got error %v, want none", err)
	}
}

// Zeros become defaults, and given values stay.
func TestDefaultNumbers(t *testing.T) {
	l := learner.Learner{Belief: affineOf(net)}.WithDefaults()
	if l.NoiseVariance != 1 || l.PriorVariance != 1 || l.InitVariance != 1 || l.Perturbation != 1 || l.MapStep != 1 ||
		l.KL != 1 || l.Clip != 0 || l.Policy != (explore.Thompson{}) ||
		l.Train.Steps != 4 || l.Train.Batch != 64 || l.Train.Indices != 16 || l.Train.Capacity != 0 {
		t.Errorf("got defaults %+v", l)
	}
	bootstrap := train.Config{Weights: train.Exponential}
	prior := affineOf(line)
	prior.Prior = &hyper.Prior{Base: line, Layout: hyper.Dense(2, 3)}
	for _, c := range []struct {
		l           learner.Learner
		prior, init float64
		perturb     float64
	}{
		{learner.Learner{Belief: prior}, 0.5, 0.5, 1}, // variance 1 of predictions at 2 standardised features
		{learner.Learner{Belief: prior, PriorVariance: 3}, 3, 3, 1},
		{learner.Learner{Belief: prior, InitVariance: -1}, 0.5, -1, 1},
		{learner.Learner{Belief: ensembleOf(net, 3), Train: bootstrap}, 1, 1, -1},
		{learner.Learner{Belief: ensembleOf(net, 3), Train: bootstrap, Perturbation: 0.5}, 1, 1, 0.5},
		{learner.Learner{Belief: ensembleOf(net, 3), Train: train.Config{Unperturbed: true}}, 1, 1, -1},
		{learner.Learner{Belief: ensembleOf(net, 3), Train: train.Config{Loss: train.LogisticLoss{}}}, 1, 1, -1},
	} {
		l := c.l.WithDefaults()
		if l.PriorVariance != c.prior || l.InitVariance != c.init || l.Perturbation != c.perturb {
			t.Errorf("%+v: variances %v and %v, perturbation %v, want %v, %v and %v",
				c.l, l.PriorVariance, l.InitVariance, l.Perturbation, c.prior, c.init, c.perturb)
		}
	}
	both := learner.Learner{Belief: ensembleOf(net, 3), Train: bootstrap, Perturbation: 0.5}.WithDefaults()
	both.Train.Capacity = 5
	if err := both.Validate(); err == nil || !strings.Contains(err.Error(), "Weights of data come from the same random") {
		t.Errorf("weights and perturbations: got error %v, want one", err)
	}
	given := learner.Learner{
		Belief: affineOf(net),
		Train: train.Config{
			Steps: 1, Batch: 2, Indices: 3, Integrate: train.Sampled, Optimizer: train.Adamax{}, Capacity: 9,
		},
		StepSize: 0.2, NoiseVariance: 0.3, PriorVariance: 0.4, InitVariance: 0.5, Perturbation: -1, MapStep: 0.7,
		Clip: 0.8, KL: -2, Policy: explore.IDS{N: 7},
	}
	if l := given.WithDefaults(); !reflect.DeepEqual(l, given) {
		t.Errorf("WithDefaults changed %+v to %+v, want no change", given, l)
	}
}

// Every fault is reported, in the order of the fields.
func TestValidateJoinsFaults(t *testing.T) {
	nan := math.NaN()
	wrong := learner.Learner{
		Belief: affineOf(net), Train: train.Config{Steps: -1, Batch: -2, Indices: -3},
		StepSize: -1, NoiseVariance: -2, PriorVariance: -3, InitVariance: nan, Perturbation: nan, MapStep: -4,
		Clip: -5, KL: nan, Policy: explore.IDS{N: -6},
	}
	numbers := []string{
		"StepSize must be positive and finite, got -1",
		"NoiseVariance must be positive and finite, got -2",
		"PriorVariance must be positive and finite, got -3",
		"InitVariance must be finite, got NaN",
		"Perturbation must be finite, got NaN",
		"MapStep must be positive and finite, got -4",
		"Clip must be finite and not negative, got -5",
		"KL must be finite, got NaN",
		"Policy: explore.IDS: N, the number of functions for a decision (0 means the default), must be at least 1, got -6",
	}
	training := []string{
		"Train.Steps must be at least 1, got -1", "Train.Capacity must be at least 1, got 0",
		"Train.Batch must be at least 1, got -2", "Train.Indices must be at least 1, got -3",
	}
	for _, c := range []struct {
		belief hyper.Belief
		want   []string
	}{
		{affineOf(net), training},
		{nil, []string{"Belief is missing"}}, // Train cannot be checked
		{hyper.Model{Base: net}, []string{"Belief: Hyper is missing"}},
	} {
		l := wrong
		l.Belief = c.belief
		want := strings.Join(slices.Concat(c.want, numbers), "\n")
		if err := l.WithDefaults().Validate(); err == nil || err.Error() != want {
			t.Errorf("%T: error\n%v\nwant\n%s", c.belief, err, want)
		}
	}
}

// Perturbations that data do not have are a fault.
func TestUnperturbedHasNoPerturbation(t *testing.T) {
	l := learner.Learner{Belief: ensembleOf(net, 3), Train: train.Config{Capacity: 5, Unperturbed: true}}
	if err := l.WithDefaults().Validate(); err != nil {
		t.Error(err)
	}
	l.Perturbation = 0.5
	if err := l.WithDefaults().Validate(); err == nil || !strings.Contains(err.Error(), "Perturbation is 0.5, but") {
		t.Errorf("got error %v, want one about Perturbation", err)
	}
}

// Numbers have the names of the fields; the policy's numbers have the prefix "Policy.". A negative number stands for 0.
// Clip exists only if gradients are clipped, and KL only if the regularizer is train.KL.
func TestNumbers(t *testing.T) {
	l := learner.Learner{
		Belief: affineOf(net), StepSize: 0.2, NoiseVariance: 0.3, PriorVariance: 0.4, InitVariance: 0.5,
		Perturbation: 0.6, MapStep: 0.7, KL: 0.9, Policy: explore.EpsilonGreedy{Anneal: 20},
	}
	want := map[string]float64{
		"StepSize": 0.2, "NoiseVariance": 0.3, "PriorVariance": 0.4, "InitVariance": 0.5, "Perturbation": 0.6,
		"MapStep": 0.7, "Policy.Anneal": 20,
	}
	check := func(what string) {
		t.Helper()
		if got := l.WithDefaults().Numbers(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("all given")
	l.InitVariance, l.Perturbation, l.Policy = -1, -2, explore.Thompson{}
	want["InitVariance"], want["Perturbation"] = 0, 0
	delete(want, "Policy.Anneal")
	check("no prior and no perturbation")
	l.Clip, want["Clip"] = 5, 5
	check("clipped")
	l.Belief = hyper.Model{Base: net, Hyper: hyper.MeanField{Params: hyper.NumTheta(net)}}
	l.Train.Regularize = train.KL
	want["KL"] = 0.9
	check("KL")
	l.KL, want["KL"] = -1, 0
	check("no KL")
}

// fit makes one step of the learner on one datum of each of two runs, from nu away from nu_0. It returns the move of
// each particle, and the gradient of the particle's own loss,
//
//	((f - y)^2 / 2 sigma_w^2 + |theta - theta_0|^2 / 2 sigma_p^2) / |D|
//
// by automatic differentiation, both [runs, particles, parameters].
func fit(t *testing.T, l learner.Learner, n func(g *Graph) hyper.Numbers) (moves, gradients [][][]float32) {
	t.Helper()
	l.Train.Steps, l.Train.Capacity, l.Perturbation, l.NoiseVariance, l.PriorVariance, l.FreeSteps = 1, 4, -1, 0.5, 2, true
	l = l.WithDefaults()
	must.M(l.Validate())
	b := must.M1(backend.Open(backend.Go))
	out, err := CallOnceN(b, func(in []*Node) []*Node {
		s, numbers := learner.Streams{Seeds: in[0]}, hyper.Numbers(nil)
		if n != nil {
			numbers = n(in[0].Graph())
		}
		state := l.Init(s.Init(), numbers)
		state["nu.0"] = AddScalar(state["nu.0"], 0.25)
		now := s.Learn(in[1])
		arm := Const(in[0].Graph(), []int32{0, 1})
		state = l.Observe(state, numbers, now, in[1], arm, in[3], in[2])
		after := l.Fit(state, numbers, now, OnesLike(in[1]), nil, in[2])

		nu := state["nu.0"]
		p := hyper.Params{Nu: []*Node{nu}, Nu0: []*Node{state["anchor.0"]}, Fixed: map[string]*Node{}}
		at := Concatenate([]*Node{ // each run's own datum, [runs, 1, features]
			Slice(in[2], AxisElem(0), AxisElem(0)), Slice(in[2], AxisElem(1), AxisElem(1)),
		}, 0)
		f := Squeeze(l.Belief.Predict(p, l.Belief.Index().(index.Enumerable).All(in[0].Graph(), 2), at), 2)
		misfit := Square(Sub(f, InsertAxes(in[3], -1)))
		loss := Add(MulScalar(ReduceAllSum(misfit), 1/(2*l.NoiseVariance)),
			MulScalar(ReduceAllSum(Square(Sub(nu, StopGradient(p.Nu0[0])))), 1/(2*l.PriorVariance)))
		return []*Node{Sub(after["nu.0"], nu), Gradient(loss, nu)[0]}
	}, []uint64{3, 4}, int32(0), [][][]float32{{{1, -2}, {0.5, 1}}, {{2, 1}, {-1.5, 0.5}}}, []float32{3, -2})
	if err != nil {
		t.Fatal(err)
	}
	read := func(x *tensors.Tensor) [][][]float32 { return x.Value().([][][]float32) }
	return read(out[0]), read(out[1])
}

// visits returns how many times its step size a particle moved, by gradients: the same number for each of its
// parameters.
func visits(t *testing.T, what string, step float64, move, gradient []float32) int {
	t.Helper()
	longest := 0 // index of the largest gradient
	for i, g := range gradient {
		if math.Abs(float64(g)) > math.Abs(float64(gradient[longest])) {
			longest = i
		}
	}
	times := math.Round(-float64(move[longest]) / (step * float64(gradient[longest])))
	for i, g := range gradient {
		// A difference of numbers of size 1 is accurate to about 1e-7.
		if want := -times * step * float64(g); math.Abs(float64(move[i])-want) > 2e-6 {
			t.Errorf("%s: parameter %d moved by %v, want %v times %v times the gradient %v of its particle's loss",
				what, i, move[i], times, step, g)
		}
	}
	return int(times)
}

// StepSize is the step of a particle each time that SGD visits it. It is the same whether SGD visits 3 of 30 particles,
// one of them possibly twice, or all particles, and for every way to compute the gradient.
func TestStepSizeIsAParticles(t *testing.T) {
	const particles, step = 30, 0.05
	for _, b := range []hyper.BaseModel{line, net} {
		for _, c := range []train.Config{
			{Integrate: train.Sampled, Indices: 3, Batch: 4}, {Integrate: train.Sampled, Indices: 3, Batch: 1},
			{Integrate: train.Sampled, Indices: 40, Batch: 4}, {Integrate: train.Analytic, Batch: 4},
			{Integrate: train.FullData},
		} {
			if _, linear := b.(hyper.LinearBase); c.Integrate == train.FullData && !linear {
				continue
			}
			what := fmt.Sprintf("%T, %s of %d", b, c.Integrate, c.Indices)
			c.Optimizer = train.SGD{}
			moves, gradients := fit(t, learner.Learner{Belief: ensembleOf(b, particles), StepSize: step, Train: c}, nil)
			for run := range moves {
				sum := 0
				for i, move := range moves[run] {
					n := visits(t, what, step, move, gradients[run][i])
					if sum += n; c.Integrate != train.Sampled && n != 1 {
						t.Errorf("%s: particle %d moved by %d steps, want 1", what, i, n)
					}
				}
				if c.Integrate == train.Sampled && sum != c.Indices {
					t.Errorf("%s: the particles moved by %d steps in total, want the number of indices", what, sum)
				}
			}
		}
	}
}

// Adam divides by the size of the gradient: its first step moves each number of a particle that it visits by StepSize,
// however many particles it visits.
func TestStepSizeOfAdam(t *testing.T) {
	const step = 0.05
	for _, c := range []train.Config{
		{Integrate: train.Sampled, Indices: 3, Batch: 4}, {Integrate: train.Analytic, Batch: 4},
	} {
		c.Optimizer = train.Adam{}
		moves, gradients := fit(t, learner.Learner{Belief: ensembleOf(line, 30), StepSize: step, Train: c}, nil)
		for run := range moves {
			moved := 0
			for i, move := range moves[run] {
				if move[0] == 0 && move[1] == 0 {
					continue
				}
				moved++
				for j, m := range move {
					// The epsilon of 1e-7 is small relative to the gradients, of at least 0.01 / 30.
					want := -math.Copysign(step, float64(gradients[run][i][j]))
					if math.Abs(float64(m)-want) > 1e-3*step {
						t.Errorf("%s: a number moved by %v, want %v", c.Integrate, m, want)
					}
				}
			}
			if sampled := c.Integrate == train.Sampled; sampled && (moved < 1 || moved > 3) || !sampled && moved != 30 {
				t.Errorf("%s: %d particles moved, want 1 to 3 if sampled and all otherwise", c.Integrate, moved)
			}
		}
	}
}

// The runs of a batch have the numbers that they are given: the step of the second run is twice as long.
func TestNumbersOfRuns(t *testing.T) {
	steps := []float32{0.05, 0.1}
	all := train.Config{Integrate: train.Analytic, Batch: 4}
	l := learner.Learner{Belief: ensembleOf(line, 4), StepSize: 7, Train: all}
	moves, gradients := fit(t, l, func(g *Graph) hyper.Numbers {
		return hyper.Numbers{"StepSize": Const(g, steps)}
	})
	for run, step := range steps {
		for i, move := range moves[run] {
			if n := visits(t, fmt.Sprint("run ", run), float64(step), move, gradients[run][i]); n != 1 {
				t.Errorf("run %d: particle %d moved by %d steps, want 1", run, i, n)
			}
		}
	}
}

// A learner with an ensemble of networks: the values that WithDefaults set for zeros, and the numbers that may differ
// between runs.
func ExampleLearner() {
	net := base.MLP{Layers: []int{4, 20, 1}}
	l := learner.Learner{
		Belief: hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 30, Params: hyper.NumTheta(net)}},
		Train:  train.Config{Capacity: 1000},
		Policy: explore.IDS{},
	}.WithDefaults()
	fmt.Println(l.Validate())
	fmt.Printf("%s by %T, steps of %v\n", l.Train.Integrate, l.Train.Optimizer, l.StepSize)
	fmt.Println(slices.Sorted(maps.Keys(l.Numbers())))
	// Output:
	// <nil>
	// sampled by train.Adam, steps of 0.01
	// [InitVariance MapStep NoiseVariance Perturbation PriorVariance StepSize]
}

// twoValues is a belief with two actions. Its two functions have log-odds of -1 and 5 for the first action, and of 1.9
// for the second.
type twoValues struct{}

func (twoValues) Index() index.Distribution               { return index.Gaussian{N: 1} }
func (twoValues) Init(rng.Stream, *Node) (p hyper.Params) { return p }
func (twoValues) Predict(_ hyper.Params, z index.Set, _ *Node) *Node {
	return Const(z.Dense().Graph(), [][][]float32{{{-1, 1.9}, {5, 1.9}}})
}

// Policies that average functions compare probabilities and not log-odds: the first action has the larger mean of
// log-odds, and the second the larger mean of probabilities.
func TestMeansAreOfResponses(t *testing.T) {
	for want, loss := range []train.Loss{train.Gaussian{}, train.LogisticLoss{}} {
		l := learner.Learner{Belief: twoValues{}, Train: train.Config{Loss: loss}, Policy: explore.Greedy{N: 2}}
		out := must.M1(CallOnce(must.M1(backend.Open(backend.Go)), func(seeds *Node) *Node {
			s := rng.New(seeds)
			return l.Act(train.State{}, nil, s, Const(seeds.Graph(), int32(0)), nil, nil).Action
		}, []uint64{1}))
		if got := out.Value().([]int32)[0]; int(got) != want {
			t.Errorf("%T: got action %d, want %d", loss, got, want)
		}
	}
}
