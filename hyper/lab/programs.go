package lab

import (
	"fmt"
	"sync"
)

// lazyProgram is the program of a shape, compiled when a batch first needs it.
type lazyProgram struct {
	once sync.Once
	p    *program
	err  error
}

// Programs keeps the compiled program of the last shape that a process ran, so that Specs of one shape that it runs one
// after the other compile once. It holds one program, since programs hold memory. It may be shared; nil keeps none.
type Programs struct {
	mu   sync.Mutex
	key  string
	last *lazyProgram
}

// program returns the program kept for a shape, or a new one, which it keeps in place of the last.
func (c *Programs) program(s Spec, backend string, e Entry) *lazyProgram {
	if c == nil {
		return new(lazyProgram)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(s.Experiment, " ", s.Periods, " ", backend, " ", e.Shape())
	if c.last == nil || c.key != key {
		c.key, c.last = key, new(lazyProgram)
	}
	return c.last
}
