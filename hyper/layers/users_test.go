package layers_test

import (
	rand1 "math/rand"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/layers"
)

type modelFn = func(scope *model.Scope, x *Node) *Node

func plainNetwork(scope *model.Scope, x *Node) *Node { return head(scope, trunk(scope, x), 10) }

// learn trains a model for some steps.
func learn(b compute.Backend, s *model.Store, of modelFn, f train.LossFn, images [][]float32, labels [][]int32, steps int) {
	tr := train.NewTrainer(b, s, of, f, optimizer.Adam().LearningRate(0.002).Done(), nil, nil)
	batches := data(b, images, labels).BatchSize(32, true).Infinite(true).Shuffle().WithRand(rand1.New(rand1.NewSource(7)))
	must.M1(train.NewLoop(tr).RunSteps(batches, steps))
}

// without returns the data without a digit, and the images of the digit.
func without(digit int32, images [][]float32, labels [][]int32) (x [][]float32, y [][]int32, held [][]float32) {
	for i, image := range images {
		if labels[i][0] == digit {
			held = append(held, image)
		} else {
			x, y = append(x, image), append(y, labels[i])
		}
	}
	return x, y, held
}

// auroc returns the probability that a score of the first is below a score of the second.
func auroc(low, high []float32) float64 {
	sorted := slices.Clone(low)
	slices.Sort(sorted)
	sum := 0
	for _, v := range high {
		sum += sort.Search(len(sorted), func(i int) bool { return sorted[i] >= v })
	}
	return float64(sum) / float64(len(low)*len(high))
}

// A digit without training data is uncertain: its epistemic entropy is above that of another image with a probability of
// at least 0.8, where chance is 0.5. The mean prediction is wrong no more often than the plain network's, within two
// standard errors of a difference. This holds for a network that is trained with its last layer, and for a plain network
// that was trained before: it only gets a last layer, and its own variables stay as they are.
func TestHeldOutDigit(t *testing.T) {
	if testing.Short() {
		t.Skip("trains four networks")
	}
	b := must.M1(backend.Open(backend.Default()))
	images, labels := digits(0, 500)
	images, labels, _ = without(9, images, labels)
	tests, testLabels := digits(500, 1797)
	tests, testLabels, held := without(9, tests, testLabels)

	plain := store(1)
	learn(b, plain, plainNetwork, loss.SparseCategoricalCrossEntropyLogits, images, labels, 300)
	most := must.M1(must.M1(layers.NewSampler(b, plain, plainNetwork, 1)).Score(tests, testLabels, 10)).Error
	before := variables(plain, "/trunk")

	frozen := func(scope *model.Scope, x *Node) *Node {
		h := trunk(scope, x)
		for v := range scope.At("trunk").IterVariables() {
			v.SetTrainable(false) // StopGradient is not enough: Adam continues with the moments of the first training
		}
		return h
	}
	for name, c := range map[string]struct {
		store *model.Store
		of    modelFn
		fit   bool
	}{
		"trained together": {store(1), studyMethods["last-layer-linear"].of(3, 10), false},
		"Dense on a trained network": {plain, func(scope *model.Scope, x *Node) *Node {
			z := layers.Index(scope, index.Gaussian{N: 8}, 8)
			return layers.Dense(scope.In("linear"), z, frozen(scope, x), 10).Prior(1).Done()
		}, false},
		"LastLayer on a trained network": {plain, func(scope *model.Scope, x *Node) *Node {
			z := layers.Index(scope, layers.LastLayerIndex(64, 10), 1)
			return layers.LastLayer(scope.In("bayes"), z, frozen(scope, x), 10)
		}, true},
	} {
		learn(b, c.store, c.of, layers.Loss(loss.SparseCategoricalCrossEntropyLogits), images, labels, 300)
		if c.fit {
			must.M(layers.LastLayerFit{PriorVariance: 0.1}.Fit(b, c.store, c.of, data(b, images, labels).BatchSize(50, false)))
		}
		sampler := must.M1(layers.NewSampler(b, c.store, c.of, 100))
		wrong := must.M1(sampler.Score(tests, testLabels, 10)).Error
		area := auroc(must.M1(sampler.Predict(tests)).Epistemic, must.M1(sampler.Predict(held)).Epistemic)
		t.Logf("%s: AUROC %.3f, error %.3f, plain %.3f", name, area, wrong, most)
		if area < 0.8 || wrong > most+0.013 {
			t.Errorf("%s: the AUROC is %.3f, want at least 0.8; the error is %.3f, the plain network's %.3f", name, area,
				wrong, most)
		}
	}
	if after := variables(plain, "/trunk"); !slices.Equal(after, before) || len(after) < 1000 {
		t.Error("the trained network has changed")
	}
}

// variables returns the numbers of the variables below a path, in the order of their paths.
func variables(s *model.Store, path string) (all []float32) {
	var found []*model.Variable
	for v := range s.IterVariables() {
		if strings.HasPrefix(v.Path(), path) {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b *model.Variable) int { return strings.Compare(a.Path(), b.Path()) })
	for _, v := range found {
		all = append(all, must.M1(tensors.CopyFlatData[float32](must.M1(v.Value())))...)
	}
	return all
}
