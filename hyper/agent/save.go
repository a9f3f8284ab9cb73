package agent

import (
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// file is an agent as Save writes it.
type file struct {
	Names        []string
	State        []saved.Tensor
	Size, Rounds int
	Draws        uint32
}

// Save writes the agent's state to a file, atomically. The configuration is not in it.
func (a *Agent) Save(path string) error {
	s := a.now.Load()
	state, err := saved.From(s.state)
	if err != nil {
		return err
	}
	return saved.Write(path, file{Names: a.names, State: state, Size: s.size, Rounds: s.rounds, Draws: a.draws.Load()})
}

// Load returns the agent that was saved to a file, given the configuration it was made with. It goes on exactly as the
// saved one would have.
func Load(c Config, path string) (*Agent, error) {
	a, err := New(c)
	if err != nil {
		return nil, err
	}
	var f file
	if err := saved.Read(path, &f); err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	fresh, err := saved.From(a.now.Load().state)
	if err != nil {
		return nil, err
	}
	same := slices.Equal(f.Names, a.names) && slices.EqualFunc(f.State, fresh, func(x, y saved.Tensor) bool {
		return x.DType == y.DType && slices.Equal(x.Dims, y.Dims)
	})
	if !same {
		return nil, fmt.Errorf("loading %s: it was saved by an agent of another configuration", path)
	}
	state, err := saved.Tensors(f.State)
	if err != nil {
		return nil, err
	}
	a.now.Store(&snapshot{state: state, size: f.Size, rounds: f.Rounds})
	a.draws.Store(f.Draws)
	return a, nil
}
