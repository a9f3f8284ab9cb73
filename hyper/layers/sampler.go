package layers

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Sampler predicts with a trained model at many indices. It is safe for concurrent use while nothing else uses the
// store; its calls run one after the other.
type Sampler struct {
	mu      sync.Mutex
	backend compute.Backend
	exec    *model.ExecOneOutput
	predict *Exec
	guard   guard
}

// NewSampler returns a sampler of n indices for a model function, which is compiled for each shape of inputs. The store
// has the trained variables; with a store without any, the sampler predicts what the model does before training. All
// calls take the same indices, so that an index is a function. A distribution that can list its indices has all of
// them, whatever n is.
func NewSampler(backend compute.Backend, store *model.Store, of func(scope *model.Scope, x *Node) *Node, n int) (
	*Sampler, error) {
	if n < 1 {
		return nil, fmt.Errorf("layers.NewSampler: the number of indices must be positive, got %d", n)
	}
	s := &Sampler{backend: backend, guard: guard{store: store}}
	var err error
	if s.predict, err = NewExec(backend, predictions); err != nil {
		return nil, err
	}
	s.predict.SetMaxCache(-1) // GoMLX's default is an error at the 33rd shape of inputs
	s.exec, err = model.NewExec1(backend, store, func(scope *model.Scope, x *Node) *Node {
		model.SetGraphParam(x.Graph(), graphCount, n)
		s.guard.watch("layers.Sampler", func() { x = of(scope, x) })
		return x
	})
	if err != nil {
		return nil, err
	}
	s.exec.SetMaxCache(-1)
	return s, nil
}

// Sample returns the model's outputs at inputs x, a tensor or what GoMLX makes one of: [indices, batch..., outputs].
func (s *Sampler) Sample(x any) (*tensors.Tensor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.exec.Call(x)
	if err != nil {
		s.guard.undo()
	}
	return out, err
}

// Prediction is the prediction of a classifier, for each input of a batch.
type Prediction struct {
	Probabilities [][]float32 // of the classes, the mean over indices: [batch][classes]

	// The uncertainty about the class, and its two parts, in nats: see [Entropies].
	Total, Aleatoric, Epistemic []float32
}

// Predict returns the prediction for inputs x of a model whose outputs are logits, [indices, batch, classes]. The
// logits of a model without an index may also be [batch, classes].
func (s *Sampler) Predict(x any) (p Prediction, err error) {
	logits, err := s.Sample(x)
	if err != nil {
		return p, err
	}
	out, err := s.predict.Call(logits)
	if err != nil {
		return p, err
	}
	p.Probabilities = out[0].Value().([][]float32)
	for i, to := range []*[]float32{&p.Total, &p.Aleatoric, &p.Epistemic} {
		*to = out[i+1].Value().([]float32)
	}
	return p, nil
}

func predictions(logits *Node) []*Node {
	logits = indexed(logits)
	total, aleatoric, epistemic := Entropies(logits)
	return []*Node{Probabilities(logits), total, aleatoric, epistemic}
}

// indexed gives the logits of a model without an index an axis of one index.
func indexed(logits *Node) *Node {
	if logits.Rank() == 2 {
		return InsertAxes(logits, 0)
	}
	return logits
}

// Scores judge the predictions of a classifier by labels. They are means over the inputs, and smaller is better.
type Scores struct {
	Error            float64 // the share of inputs whose most probable class is wrong
	MarginalNLL      float64 // see [MarginalNLL]
	JointNLL         float64 // see [JointNLL]
	CalibrationError float64 // in 15 bins: see [CalibrationError]
}

// Score compares the predictions for inputs x with labels, and returns the mean scores. labels are integers, [batch] or
// [batch, 1], from 0 to one less than the number of classes; others are an error. tau is the number of labels that the
// joint NLL takes together. The model's outputs are as for [Sampler.Predict]. Each call compiles the scores anew.
func (s *Sampler) Score(x, labels any, tau int) (r Scores, err error) {
	logits, err := s.Sample(x)
	if err != nil {
		return r, err
	}
	out, err := CallOnceN(s.backend, func(logits, labels *Node) []*Node {
		logits = indexed(logits)
		var means []*Node
		for _, score := range scores(tau) {
			means = append(means, ReduceAllMean(score.of(logits, labels)))
		}
		class, _ := classOf(labels, logits.Shape().Dim(1), logits.Shape().Dim(2), logits.DType())
		return append(means, class)
	}, logits, labels)
	if err != nil {
		return r, err
	}
	classes := logits.Shape().Dim(-1)
	for i, class := range out[len(out)-1].Value().([]int64) {
		if class < 0 || class >= int64(classes) {
			return r, fmt.Errorf("layers.Sampler: the label of input %d is %d, but the model has %d classes, 0 to %d", i,
				class, classes, classes-1)
		}
	}
	for i, to := range []*float64{&r.Error, &r.MarginalNLL, &r.JointNLL, &r.CalibrationError} {
		*to = float64(tensors.ToScalar[float32](out[i]))
	}
	return r, nil
}

// guard refuses a model that makes variables which a store of trained variables lacks: it is not the model that was
// trained.
type guard struct {
	store *model.Store
	made  []string // paths of the variables of a refused model
}

// watch builds the graph of a model, and panics if the model is to be refused.
func (g *guard) watch(caller string, build func()) {
	known, trained := map[string]bool{}, false
	for v := range g.store.IterVariables() {
		known[v.Path()] = true
		trained = trained || v.Trainable
	}
	build()
	if !trained {
		return
	}
	for v := range g.store.IterVariables() {
		if !known[v.Path()] {
			g.made = append(g.made, v.Path())
		}
	}
	if len(g.made) > 0 {
		exceptions.Panicf("%s: the store lacks %d variables of the model, such as %s: it is not the model that was trained",
			caller, len(g.made), slices.Min(g.made))
	}
}

// undo removes the variables of a refused model.
func (g *guard) undo() {
	for _, path := range g.made {
		_ = g.store.DeleteVariable(path)
	}
	g.made = nil
}
