package agent

import (
	"errors"
	"fmt"
)

// Reader returns the agent of a file that Save has written, beside the agent that learns: it decides and is sampled by
// what the file knows, learns nothing, as after Close, and cannot be saved. Nobody waits for what comes of its
// decisions: they have no ID. Refresh goes on with a later file.
//
// seed takes the place of Config.Seed in what is drawn for decisions and samples, so that readers of one file, each
// with a seed of its own, do not all try the same. The error is one of Load.
func Reader(c Config, path string, seed uint64) (*Agent, error) {
	c.Background = nil
	a, _, err := load(c.withDefaults(), path, &seed)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	return a, nil
}

// Refresh goes on with a later file of the agent that a [Reader] reads. The programs of the Reader stay, so that no
// decision waits for a compilation; decisions under way are by one file or the other. The error is one of Load, and the
// Reader is then what it was.
func (a *Agent) Refresh(path string) error {
	if a.reader == nil {
		return errors.New("an agent that learns cannot go on with another's file: agent.Reader makes one that can")
	}
	a.learning.Lock()
	defer a.learning.Unlock()
	if _, err := a.restore(path); err != nil {
		return fmt.Errorf("loading %s: %w", path, err)
	}
	return nil
}

// seed is that of decisions and samples.
func (a *form) seed() uint64 {
	if a.reader != nil {
		return *a.reader
	}
	return a.config.Seed
}
