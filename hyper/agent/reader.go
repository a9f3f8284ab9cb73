package agent

import (
	"errors"
	"fmt"
)

// Reader returns a read-only copy of the agent that Save wrote to a file. It decides and can be sampled with the
// knowledge in the file. It does not learn, as after Close, and cannot be saved. Its decisions have no ID, because it
// takes no feedback. Refresh loads a later file.
//
// seed replaces Config.Seed for the random numbers of decisions and samples. Readers of the same file need different
// seeds, so that they do not all explore in the same way. The error is an error of Load.
func Reader(c Config, path string, seed uint64) (*Agent, error) {
	c.Background = nil
	a, _, err := load(c.withDefaults(), path, &seed)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	return a, nil
}

// Refresh loads a later file of the agent that a [Reader] reads. The programs of the Reader stay, so that no decision
// waits for a compilation. A decision under way uses the old file or the new one; with Standardize it may combine the
// old belief with the new statistics of the numbers. The error is an error of Load; the Reader is then unchanged.
func (a *Agent) Refresh(path string) error {
	if a.reader == nil {
		return errors.New("an agent that learns cannot load another file: agent.Reader makes an agent that can")
	}
	a.learning.Lock()
	defer a.learning.Unlock()
	if _, err := a.restore(path); err != nil {
		return fmt.Errorf("loading %s: %w", path, err)
	}
	return nil
}

// seed returns the seed of decisions and samples.
func (a *form) seed() uint64 {
	if a.reader != nil {
		return *a.reader
	}
	return a.config.Seed
}
