package layers_test

import (
	"math"
	rand1 "math/rand"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/layers"
)

// digits returns images of 8x8 pixels, in [0, 1], and their digits: rows from..to-1 of the data set in a random order,
// because neighbours are of one writer.
func digits(from, to int) (images [][]float32, labels [][]int32) {
	rows := must.M1(sheet.Set("digits")).Rows
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(rows))[from:to] {
		row := rows[i]
		image := make([]float32, len(row)-1)
		for i := range image {
			image[i] = float32(must.M1(strconv.ParseFloat(row[i], 64))) / 16
		}
		images = append(images, image)
		labels = append(labels, []int32{int32(must.M1(strconv.Atoi(row[len(row)-1])))})
	}
	return images, labels
}

func data(b compute.Backend, images [][]float32, labels [][]int32) *dataset.InMemoryDataset {
	return must.M1(dataset.InMemoryFromData(b, "digits", []any{images}, []any{labels}))
}

func trunk(scope *model.Scope, images *Node) *Node {
	return fnn.New(scope.In("trunk"), images, 64).NumHiddenLayers(2, 64).Done()
}

func classifier(scope *model.Scope, images *Node) *Node {
	z := layers.Index(scope, index.Gaussian{N: 8}, 16)
	h := trunk(scope, images)
	return layers.Dense(scope.In("out"), z, h, 10).Prior(3).Done()
}

func store(seed int) *model.Store {
	s := model.NewStore()
	s.SetParam("/"+layers.ParamSeed, seed)
	s.SetParam("/"+model.ParamInitialSeed, int64(seed))
	must.M(s.ResetRNGState())
	return s
}

func trainer(b compute.Backend, s *model.Store) *train.Trainer {
	return train.NewTrainer(b, s, classifier, layers.Loss(loss.SparseCategoricalCrossEntropyLogits),
		optimizer.Adam().LearningRate(0.002).Done(), nil, layers.JointMetrics(10))
}

func trained(b compute.Backend, s *model.Store, steps int) *train.Trainer {
	images, labels := digits(0, 300)
	tr := trainer(b, s)
	batches := data(b, images, labels).BatchSize(64, true).Infinite(true).Shuffle().WithRand(rand1.New(rand1.NewSource(7)))
	must.M1(train.NewLoop(tr).RunSteps(batches, steps))
	return tr
}

// A network that is trained on 300 images knows the digits. The bounds are 1.5 to 2 times the values of one run;
// guesses have an error of 0.9, and joint likelihoods of 23 nats.
func TestLearnsDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for long")
	}
	b := must.M1(backend.Open(backend.Default()))
	s := store(1)
	tr := trained(b, s, 1000)
	s.SetParam("/"+layers.ParamEvaluation, 100)
	images, labels := digits(300, 1797)
	out := must.M1(tr.Eval(data(b, images, labels).BatchSize(499, true)))
	value := map[string]float32{}
	for i, m := range tr.EvalMetrics() {
		value[m.Name()] = tensors.ToScalar[float32](out[i])
	}
	t.Log(value)
	sampler := must.M1(layers.NewSampler(b, s, classifier, 100))
	scores := must.M1(sampler.Score(images, labels, 10))
	for name, got := range map[string]float64{"error": scores.Error, "marginal NLL": scores.MarginalNLL} {
		if want := value[name]; math.Abs(got-float64(want)) > 1e-4 {
			t.Errorf("%s is %g by the sampler, and %g by the trainer", name, got, want)
		}
	}
	bounds := map[string]float32{"error": 0.1, "marginal NLL": 0.45, "joint NLL": 3.8, "calibration error": 0.06}
	for name, most := range bounds {
		if got, ok := value[name]; !ok || !(got < most) {
			t.Errorf("%s is %g, want less than %g", name, got, most)
		}
	}
}

// The same seed gives the same training. A store that is saved and loaded gives the same predictions for given indices,
// and another seed gives others.
func TestSameSeedSameTraining(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		images, _ := digits(300, 310)
		predictions := func(s *model.Store) []float32 {
			e := must.M1(model.NewExec1(b, s, func(scope *model.Scope, in []*Node) *Node {
				layers.With(in[1])
				return classifier(scope, in[0])
			}))
			z := make([][]float32, 3)
			for i := range z {
				z[i] = make([]float32, 8)
				z[i][i] = 1
			}
			return must.M1(tensors.CopyFlatData[float32](must.M1(e.Call(images, z))))
		}
		stores := []*model.Store{store(1), store(1)}
		if name == backend.Go {
			stores = append(stores, store(2))
		}
		var all [][]float32
		for _, s := range stores {
			trained(b, s, 5)
			all = append(all, predictions(s))
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("the same seed gives %v and %v", all[0][:5], all[1][:5])
		}
		if slices.Equal(all[0], all[len(all)-1]) && name == backend.Go || slices.Equal(all[0][:100], all[0][100:200]) {
			t.Error("another seed, or another index, gives the same predictions")
		}
		dir := t.TempDir()
		must.M(must.M1(checkpoint.Build(stores[0]).Dir(dir).Immediate().Done()).Save())
		loaded := model.NewStore()
		must.M1(checkpoint.Load(loaded).Dir(dir).Immediate().Done())
		if !slices.Equal(predictions(loaded), all[0]) {
			t.Error("what was saved and loaded predicts otherwise")
		}
	})
}

// Predict returns what Probabilities and Entropies compute, for logits with and without an axis of indices. Score and
// Predict refuse a wrong number of labels, labels that are no class, a wrong tau, and outputs that are not logits.
func TestPredict(t *testing.T) {
	b := must.M1(backend.Open(backend.Go))
	of := func(logits any) *layers.Sampler {
		return must.M1(layers.NewSampler(b, model.NewStore(), func(_ *model.Scope, x *Node) *Node {
			return ConvertDType(Const(x.Graph(), logits), dtypes.Float32)
		}, 1))
	}
	x := []float32{0, 0} // the constant logits ignore it
	sure := []float64{50, 0}
	p := must.M1(of([][][]float64{{sure, {0, 0}}, {{0, 50}, {0, 0}}}).Predict(x))
	for i, want := range []struct{ total, aleatoric float64 }{{math.Ln2, 0}, {math.Ln2, math.Ln2}} {
		total, aleatoric, epistemic := float64(p.Total[i]), float64(p.Aleatoric[i]), float64(p.Epistemic[i])
		if math.Abs(total-want.total) > 1e-5 || math.Abs(aleatoric-want.aleatoric) > 1e-5 ||
			math.Abs(epistemic-want.total+want.aleatoric) > 1e-5 || math.Abs(float64(p.Probabilities[i][0])-0.5) > 1e-5 {
			t.Errorf("input %d: got %v, want %+v", i, p, want)
		}
	}
	plain := of([][]float64{sure, sure})
	if p := must.M1(plain.Predict(x)); p.Probabilities[1][0] < 0.99 || math.Abs(float64(p.Epistemic[0])) > 1e-5 {
		t.Errorf("without an index: got %v", p)
	}
	if s := must.M1(plain.Score(x, []int32{0, 1}, 1)); s.Error != 0.5 || math.Abs(s.MarginalNLL-25) > 1e-3 {
		t.Errorf("without an index: got %+v, want an error of 0.5 and a marginal NLL of 25", s)
	}
	for name, err := range map[string]error{
		"one integer for each of 2 inputs": second(plain.Score(x, []int32{0, 1, 1}, 1)),
		"input 1 is 2, but the model has":  second(plain.Score(x, []int32{1, 2}, 1)),
		"has 2 classes, 0 to 1":            second(plain.Score(x, [][]int{{-1}, {0}}, 1)),
		"tau must be positive":             second(plain.Score(x, []int32{0, 1}, 0)),
		"need logits":                      second(of([]float64{1, 2}).Predict(x)),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one with %q", err, name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A sampler's indices are the same in each call, and another model than the one that was trained is refused.
func TestSampler(t *testing.T) {
	b := must.M1(backend.Open(backend.Go))
	s := store(1)
	images, _ := digits(0, 4)
	sampler := must.M1(layers.NewSampler(b, s, classifier, 7))
	first, second := must.M1(sampler.Sample(images)), must.M1(sampler.Sample(images[:2]))
	if got := first.Shape().Dimensions; !slices.Equal(got, []int{7, 4, 10}) {
		t.Fatalf("samples are %v", got)
	}
	all, some := must.M1(tensors.CopyFlatData[float32](first)), must.M1(tensors.CopyFlatData[float32](second))
	for k := range 7 {
		for i, v := range some[k*20 : (k+1)*20] {
			if math.Abs(float64(v-all[k*40+i])) > 1e-4 {
				t.Fatalf("index %d predicts %g, and then %g", k, all[k*40+i], v)
			}
		}
	}
	other := must.M1(layers.NewSampler(b, s, func(scope *model.Scope, x *Node) *Node {
		return layers.FNN(scope.In("other"), layers.Index(scope, index.Gaussian{N: 8}, 1), x, 10, 3).Done()
	}, 7))
	before := s.NumVariables()
	for range 2 {
		if _, err := other.Sample(images); err == nil || !strings.Contains(err.Error(), "the store lacks 2 variables") {
			t.Errorf("the error is %v", err)
		}
	}
	if after := s.NumVariables(); after != before {
		t.Errorf("the store has %d variables after a model that was refused, and %d before", after, before)
	}
}

// A sampler takes inputs of any number of shapes.
func TestSamplerOfManyShapes(t *testing.T) {
	sampler := must.M1(layers.NewSampler(must.M1(backend.Open(backend.Go)), store(1), classifier, 2))
	images, _ := digits(0, 40)
	for n := range images {
		if p, err := sampler.Predict(images[:n+1]); err != nil || len(p.Probabilities) != n+1 {
			t.Fatalf("%d images: got %d predictions, %v", n+1, len(p.Probabilities), err)
		}
	}
}
