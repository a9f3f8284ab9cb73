package layers

import (
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Loss returns a loss for a model whose first output is [indices, batch..., ...]: the mean of f over the indices, where
// f is any of GoMLX's losses. f sees all indices as one batch, [indices * batch..., ...], with the labels, masks and
// weights repeated for each index. The options [Perturbed] and [Anchored] change the loss in training, and not in
// evaluation.
func Loss(f train.LossFn, options ...LossOption) train.LossFn {
	c := lossConfig{f: f}
	for _, o := range options {
		o(&c)
	}
	return c.loss
}

// LossOption is an option of [Loss]: [Perturbed] or [Anchored].
type LossOption func(*lossConfig)

type lossConfig struct {
	f                   train.LossFn
	perturbed, anchored bool
	sigma, lambda       float64
}

// Perturbed adds sigma a^T z to the first label, where a is a datum's own random vector (section 2.1). Each index then
// fits its own perturbation of the data, and the spread over indices approximates the uncertainty that noise in the
// data causes. sigma is the standard deviation of the noise. Perturbed is for numbers as labels, float32 [batch, 1],
// and a squared loss; leave it out for classes. The last label must be the datum's number in the data set, an integer
// [batch] or [batch, 1]: by this number, the datum has the same vector in each step. Evaluation does not use it.
func Perturbed(sigma float64) LossOption {
	return func(c *lossConfig) { c.perturbed, c.sigma = true, sigma }
}

// Anchored adds lambda E_z |g_nu(z) - g_nu0(z)|^2, over the parameters of all layers by [Dense] and [FNN]: the
// regularizer towards the start nu_0 (section 2.1). For layers without parameters g_nu(z), as [Epinet], it adds lambda
// |nu - nu_0|^2. Other layers have no part in it. In the paper's loss, for N data with the mean of squared errors as
// the loss, lambda is sigma_w^2 / (sigma_p^2 N). nu_0 is kept in variables beside nu.
func Anchored(lambda float64) LossOption {
	return func(c *lossConfig) { c.anchored, c.lambda = true, lambda }
}

func (c lossConfig) loss(labels, predictions []*Node) *Node {
	f := predictions[0]
	g := f.Graph()
	made := indicesOf(g, "layers.Loss")
	n, training := made.set.Len(), made.of.scope.IsTraining(g)
	switch {
	case !(c.sigma >= 0 && c.lambda >= 0) || math.IsInf(c.sigma, 0) || math.IsInf(c.lambda, 0):
		exceptions.Panicf("layers.Loss: sigma and lambda must be finite and not negative, got %g and %g", c.sigma, c.lambda)
	case c.perturbed && isMask(made.of.Distribution):
		exceptions.Panicf("layers.Loss: Perturbed has no effect, because the indices of index.Bernoulli have no " +
			"perturbations")
	case f.Rank() < 3 || f.Shape().Dim(0) != n:
		exceptions.Panicf("layers.Loss: the model's output must be [%d indices, batch..., outputs], got %s", n, f.Shape())
	}
	var ids *Node
	if c.perturbed {
		ids, labels = idsOf(labels)
	}
	var tiled []*Node
	for _, label := range labels {
		tiled = append(tiled, ofEach(label, n))
	}
	if c.perturbed && training {
		tiled[0] = Add(tiled[0], Reshape(MulScalar(made.perturbation(ids), c.sigma), tiled[0].Shape().Dimensions...))
	}
	mean := ReduceAllMean(c.f(tiled, []*Node{merged(f)}))
	if c.anchored && training {
		mean = Add(mean, MulScalar(anchor(g, made), c.lambda))
	}
	return mean
}

// idsOf splits the data's numbers from the labels, and checks both.
func idsOf(labels []*Node) (ids *Node, rest []*Node) {
	last := len(labels) - 1
	if last < 1 || !labels[last].DType().IsInt() {
		exceptions.Panicf("layers.Loss: Perturbed needs the data's numbers as the last label, integers [batch], " +
			"after the labels")
	}
	if y := labels[0]; !y.DType().IsFloat() {
		exceptions.Panicf("layers.Loss: Perturbed is for numbers as labels, got %s", y.Shape())
	}
	ids = labels[last]
	if batch := labels[0].Shape().Dim(0); ids.Shape().Size() != batch || labels[0].Shape().Size() != batch {
		exceptions.Panicf("layers.Loss: Perturbed needs one label and one number for each datum, got %s and %s",
			labels[0].Shape(), ids.Shape())
	}
	return Reshape(ids, -1), labels[:last]
}

// perturbation returns a^T z, [indices, batch], for the data with the given numbers.
func (m madeIndices) perturbation(ids *Node) *Node {
	return Squeeze(m.of.Distribution.Dot(m.vectors(ids), m.set, nil), 0)
}

// vectors returns the vectors a of the data, [1, batch, width]. Each datum has a random stream of its own, by its
// number.
func (m madeIndices) vectors(ids *Node) *Node {
	seed := uint64(model.GetParamOr(m.of.scope, ParamSeed, 0))
	seeds := AddScalar(ConvertDType(ids, dtypes.Uint64), seed<<32)
	a := m.of.Distribution.Perturbation(rng.New(seeds).Named("layers").Named("perturbation"), 1) // [batch, 1, width]
	return Transpose(a, 0, 1)
}

// ofEach repeats x [batch, ...] for each of n indices: [n * batch, ...].
func ofEach(x *Node, n int) *Node {
	dims := x.Shape().Dimensions
	x = BroadcastToDims(InsertAxes(x, 0), append([]int{n}, dims...)...)
	return merged(x)
}

// merged makes the first two axes one.
func merged(x *Node) *Node {
	dims := x.Shape().Dimensions
	return Reshape(x, slices.Concat([]int{dims[0] * dims[1]}, dims[2:])...)
}

// anchor returns E_z |g_nu(z) - g_nu0(z)|^2 of all layers in the graph.
func anchor(g *Graph, made madeIndices) *Node {
	all, sum := layersOf(g), ScalarZero(g, dtypes.Float32)
	if len(all) == 0 {
		exceptions.Panicf("layers.Loss: Anchored has no effect, because the model has no layer by Dense, FNN, Epinet " +
			"or Belief")
	}
	for _, l := range all {
		sum = Add(sum, l.moved(g, made))
	}
	return sum
}

// moved returns E_z |g_nu(z) - g_nu0(z)|^2, or |nu - nu0|^2 for a belief without g_nu.
func (l *layer) moved(g *Graph, made madeIndices) *Node {
	var nu, nu0 []*Node
	for i := range l.shapes {
		nu = append(nu, InsertAxes(l.nu("nu.", i).NodeValue(g), 0))
		start := l.nu("anchor.", i).SetTrainable(false).NodeValue(g)
		nu0 = append(nu0, StopGradient(InsertAxes(start, 0)))
	}
	if p := hyper.CapabilitiesOf(l.belief).Parametric; p != nil {
		moved := Sub(p.Trained(nu, made.set), p.Trained(nu0, made.set)) // [1, indices, N_theta]
		return ReduceAllMean(ReduceSum(Square(moved), 2))
	}
	sum := ScalarZero(g, dtypes.Float32)
	for i := range nu {
		sum = Add(sum, ReduceAllSum(Square(Sub(nu[i], nu0[i]))))
	}
	return sum
}
