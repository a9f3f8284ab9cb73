package layers

import (
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Sampler predicts with a trained model at many indices. It is safe for concurrent use while nothing trains the model.
type Sampler struct{ exec *model.ExecOneOutput }

// NewSampler returns a sampler of n indices for a model function, which is compiled for each shape of inputs. The store
// has the trained variables; with an empty store, the sampler predicts what the model does before any training. All
// calls take the same indices, so that an index is a function. A distribution that can list its indices has all of
// them, whatever n is.
func NewSampler(backend compute.Backend, store *model.Store, of func(scope *model.Scope, x *Node) *Node, n int) (
	*Sampler, error) {
	if n < 1 {
		return nil, fmt.Errorf("layers.NewSampler: the number of indices must be positive, got %d", n)
	}
	trained := numTrainable(store)
	exec, err := model.NewExec1(backend, store, func(scope *model.Scope, x *Node) *Node {
		model.SetGraphParam(x.Graph(), graphCount, n)
		y := of(scope, x)
		if made := numTrainable(store) - trained; made > 0 && trained > 0 {
			exceptions.Panicf("layers.Sampler: the model has %d variables that the store lacks: "+
				"it is not the model that was trained", made)
		}
		return y
	})
	return &Sampler{exec}, err
}

// Sample returns the model's outputs at inputs x, a tensor or what GoMLX makes one of: [indices, batch..., outputs].
func (s *Sampler) Sample(x any) (*tensors.Tensor, error) { return s.exec.Call(x) }

func numTrainable(store *model.Store) (n int) {
	for v := range store.IterVariables() {
		if v.Trainable {
			n++
		}
	}
	return n
}
