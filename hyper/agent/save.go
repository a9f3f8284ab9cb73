package agent

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// file is an agent as Save writes it, before its state.
type file struct {
	Names        []string
	Size, Rounds int
	Draws        uint32
}

// Save writes the agent's state to a file, atomically. The configuration is not in it.
func (a *Agent) Save(path string) error {
	s := a.now.Load()
	return saved.Write(path, file{Names: a.names, Size: s.size, Rounds: s.rounds, Draws: a.draws.Load()}, s.state)
}

// Load returns the agent that was saved to a file, given the configuration it was made with. It goes on exactly as the
// saved one would have.
func Load(c Config, path string) (*Agent, error) {
	a, err := New(c)
	if err != nil {
		return nil, err
	}
	var f file
	var state []*tensors.Tensor
	if err := saved.Read(path, &f, &state); err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	same := slices.Equal(f.Names, a.names) && slices.EqualFunc(state, a.now.Load().state, func(x, y *tensors.Tensor) bool { return x.Shape().Equal(y.Shape()) })
	if !same {
		return nil, fmt.Errorf("loading %s: it was saved by an agent of another configuration", path)
	}
	a.now.Store(&snapshot{state: state, size: f.Size, rounds: f.Rounds})
	a.draws.Store(f.Draws)
	return a, nil
}
