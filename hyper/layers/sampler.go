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
	mu    sync.Mutex
	exec  *model.ExecOneOutput
	guard guard
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
	s := &Sampler{guard: guard{store: store}}
	var err error
	s.exec, err = model.NewExec1(backend, store, func(scope *model.Scope, x *Node) *Node {
		model.SetGraphParam(x.Graph(), graphCount, n)
		s.guard.watch("layers.Sampler", func() { x = of(scope, x) })
		return x
	})
	return s, err
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
