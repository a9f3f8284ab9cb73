package layers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/support/exceptions"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// LastLayerIndex returns the index of a [LastLayer] on n features: a number for each of its parameters.
func LastLayerIndex(n, outputs int) index.Distribution { return index.Gaussian{N: (n + 1) * outputs} }

// LastLayer is a dense layer that is trained as in a network without indices, and becomes a posterior afterwards, in
// closed form: by [LastLayerFit]. Until then all indices give the same outputs, [indices, batch, outputs]. h is
// [batch, n], such as the last hidden units of a network, which may have been trained before. To keep such a network as
// it is, make its variables SetTrainable(false); StopGradient is not enough, because Adam moves them on by the moments
// of the first training. The index must be [LastLayerIndex]; one index in a training step is enough. A model has at
// most one LastLayer.
func LastLayer(scope *model.Scope, z Indices, h *Node, outputs int) *Node {
	g, n := h.Graph(), h.Shape().Dim(-1)
	if want := LastLayerIndex(n, outputs); z.of(scope) != want {
		exceptions.Panicf("layers.LastLayer in scope %q needs indices of LastLayerIndex(%d, %d), got %T %+v", scope.Scope(),
			n, outputs, z.Distribution, z.Distribution)
	}
	if h.Rank() != 2 || h.DType() != dtypes.Float32 {
		exceptions.Panicf("layers.LastLayer in scope %q needs float32 features [batch, n], got %s", scope.Scope(), h.Shape())
	}
	if other, twice := model.GetGraphParam(g, graphLast); twice {
		exceptions.Panicf("layers.LastLayer in scope %q: the model has a LastLayer already, in scope %q", scope.Scope(),
			other.(*lastLayer).scope.Scope())
	}
	phi := Concatenate([]*Node{h, Ones(g, shapes.Make(h.DType(), h.Shape().Dim(0), 1))}, 1)
	start := func(g *Graph, shape shapes.Shape) *Node {
		w := hyper.InitGlorotUniform(stream(scope, g).Named("weights"), n, outputs, n, outputs)
		return Concatenate([]*Node{Squeeze(w, 0), Zeros(g, shapes.Make(w.DType(), 1, outputs))}, 0)
	}
	weights := scope.WithInitializer(start).VariableWithShape("weights", shapes.Make(h.DType(), n+1, outputs))
	zero := func(g *Graph, shape shapes.Shape) *Node { return Zeros(g, shape) }
	root := scope.WithInitializer(zero).VariableWithShape("root", shapes.Make(h.DType(), outputs, n+1, n+1))
	root.SetTrainable(false)
	mean := Einsum("bi,io->bo", phi, weights.NodeValue(g))
	model.SetGraphParam(g, graphLast, &lastLayer{scope, phi, mean})
	set := z.Set(g)
	f := BroadcastToDims(InsertAxes(mean, 0), set.Len(), mean.Shape().Dim(0), outputs)
	if scope.IsTraining(g) {
		return f
	}
	along := Einsum("bi,oij->boj", phi, StopGradient(root.NodeValue(g)))
	vectors := Reshape(set.Dense(), set.Len(), outputs, n+1)
	return Add(f, Einsum("boj,koj->kbo", along, vectors))
}

// graphLast is the name of the parameter of a graph with its *lastLayer.
const graphLast = "/hyper_last_layer"

type lastLayer struct {
	scope     *model.Scope
	phi, mean *Node // [batch, n + 1] and [batch, outputs]
}

// LastLayerFit sets the posterior of a model's [LastLayer] given data, with independent weights of variance
// PriorVariance before the data.
//
// With a NoiseVariance, labels are numbers with Gaussian noise, float32 [batch, outputs]. The posterior is then exact:
// it is the posterior of Bayesian linear regression, and its mean replaces the trained weights. If NoiseVariance is 0,
// labels are classes, and outputs are logits. The posterior is then the Laplace approximation at the trained weights,
// without covariances between the weights of different classes. A smaller PriorVariance makes a smaller spread far from
// the data; take the PriorVariance with the best likelihood on held-out data.
type LastLayerFit struct {
	PriorVariance float64
	NoiseVariance float64 // 0 for classes
}

// Fit goes over the data once. of is the model's function, and store has its trained variables. Fit changes the
// variables of the last layer alone. Fit computes the posterior from the weights and features at the time of the call.
// Call Fit again after more training, because training changes the weights and features, but not the posterior.
//
// The data must end: Fit returns after the last batch. It refuses a dataset.InMemoryDataset that is Infinite. It cannot
// detect that another dataset never ends: limit such a dataset to a number of batches by dataset.Take.
func (l LastLayerFit) Fit(backend compute.Backend, store *model.Store, of func(scope *model.Scope, x *Node) *Node,
	data train.Dataset) error {
	if !(l.PriorVariance > 0) || !(l.NoiseVariance >= 0) {
		return fmt.Errorf("layers.LastLayerFit: PriorVariance must be positive and NoiseVariance not negative, got %g and %g",
			l.PriorVariance, l.NoiseVariance)
	}
	var path string
	guard := guard{store: store}
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, in []*Node) []*Node {
		guard.watch("layers.LastLayerFit", func() { of(scope, in[0]) })
		last, ok := model.GetGraphParam(in[0].Graph(), graphLast)
		if !ok {
			exceptions.Panicf("layers.LastLayerFit: the model has no LastLayer")
		}
		path = last.(*lastLayer).scope.Scope()
		return l.sums(last.(*lastLayer), in[1:])
	})
	if err != nil {
		return err
	}
	sums, err := l.accumulate(exec, data)
	if err != nil {
		guard.undo()
		return err
	}
	return l.set(store.Scope(path), sums)
}

// sums returns sum_b w_b phi_b phi_b^T of a batch for each output, [outputs, n + 1, n + 1], where w is 1/NoiseVariance
// or the curvature p (1 - p) of a class, and with NoiseVariance sum_b w_b phi_b y_b, [n + 1, outputs].
func (l LastLayerFit) sums(last *lastLayer, labels []*Node) []*Node {
	phi, outputs := ConvertDType(last.phi, dtypes.Float64), last.mean.Shape().Dim(1)
	if l.NoiseVariance == 0 && outputs < 2 {
		exceptions.Panicf("layers.LastLayerFit: classes need a logit each, so at least two outputs; got %d", outputs)
	}
	if l.NoiseVariance == 0 {
		p := Softmax(ConvertDType(last.mean, dtypes.Float64))
		curved := Mul(InsertAxes(Mul(p, OneMinus(p)), -1), InsertAxes(phi, 1)) // [batch, outputs, n + 1]
		return []*Node{Einsum("boi,bj->oij", curved, phi)}
	}
	if len(labels) == 0 || !labels[0].Shape().Equal(last.mean.Shape()) {
		exceptions.Panicf("layers.LastLayerFit: with NoiseVariance labels must be %s", last.mean.Shape())
	}
	gram := BroadcastToDims(InsertAxes(Einsum("bi,bj->ij", phi, phi), 0), outputs, phi.Shape().Dim(1), phi.Shape().Dim(1))
	fit := Einsum("bi,bo->io", phi, ConvertDType(labels[0], dtypes.Float64))
	return []*Node{MulScalar(gram, 1/l.NoiseVariance), MulScalar(fit, 1/l.NoiseVariance)}
}

// accumulate adds the sums of all batches. Data in memory without an end show by more bytes than the memory holds.
func (l LastLayerFit) accumulate(exec *model.Exec, data train.Dataset) (sums [][]float64, err error) {
	memory, _ := data.(*dataset.InMemoryDataset)
	var bytes int64
	for batch, err := range data.Iter() {
		if err != nil {
			return nil, err
		}
		for _, x := range slices.Concat(batch.Inputs, batch.Labels) {
			bytes += x.Shape().ByteSize()
		}
		if memory != nil && bytes > memory.ByteSize() {
			return nil, fmt.Errorf("layers.LastLayerFit: the dataset goes on after its %d examples; make it Infinite(false), "+
				"because Fit takes each example once", memory.NumExamples())
		}
		args := []any{batch.Inputs[0]}
		for _, label := range batch.Labels {
			args = append(args, label)
		}
		out, err := exec.Call(args...)
		if err != nil {
			return nil, err
		}
		for i, x := range out {
			of, err := tensors.CopyFlatData[float64](x)
			if err != nil {
				return nil, err
			}
			if i == len(sums) {
				sums = append(sums, make([]float64, len(of)))
			}
			for j, v := range of {
				sums[i][j] += v
			}
		}
		if err := batch.Finalize(); err != nil {
			return nil, err
		}
	}
	if sums == nil {
		return nil, errors.New("layers.LastLayerFit: there are no data")
	}
	return sums, nil
}

// set sets the variables of the last layer. The precision of an output's weights is A = sum + I / PriorVariance = L
// L^T, a root of the covariance is L^-T, and the mean of regression is A^-1 sum_b w_b phi_b y_b.
func (l LastLayerFit) set(scope *model.Scope, sums [][]float64) error {
	weights, root := scope.GetVariable("weights"), scope.GetVariable("root")
	n, outputs := weights.Shape().Dim(0), weights.Shape().Dim(1)
	roots, means := make([]float32, 0, outputs*n*n), make([]float32, n*outputs)
	for o := range outputs {
		precision := mat.NewSymDense(n, append([]float64(nil), sums[0][o*n*n:(o+1)*n*n]...))
		for i := range n {
			precision.SetSym(i, i, precision.At(i, i)+1/l.PriorVariance)
		}
		var factor mat.Cholesky
		if !factor.Factorize(precision) {
			return errors.New("layers.LastLayerFit: the features of the data are not finite, or too large")
		}
		var upper mat.TriDense // L^T
		factor.UTo(&upper)
		var inverse mat.TriDense
		if err := inverse.InverseTri(&upper); err != nil {
			return fmt.Errorf("layers.LastLayerFit: %w", err)
		}
		for i := range n {
			for j := range n {
				roots = append(roots, float32(inverse.At(i, j)))
			}
		}
		if l.NoiseVariance > 0 {
			column, mean := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
			for i := range n {
				column.SetVec(i, sums[1][i*outputs+o])
			}
			if err := factor.SolveVecTo(mean, column); err != nil {
				return fmt.Errorf("layers.LastLayerFit: %w", err)
			}
			for i := range n {
				means[i*outputs+o] = float32(mean.AtVec(i))
			}
		}
	}
	if l.NoiseVariance > 0 {
		if err := weights.SetValue(tensors.FromFlatDataAndDimensions(means, n, outputs)); err != nil {
			return err
		}
	}
	return root.SetValue(tensors.FromFlatDataAndDimensions(roots, outputs, n, n))
}
