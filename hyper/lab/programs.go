package lab

import (
	"fmt"
	"sync"
)

// lazyProgram is the program of a shape. It is compiled when a batch first needs it.
type lazyProgram struct {
	once sync.Once
	p    *program
	err  error
}

// Programs keeps the compiled program of the last shape that a process ran. Specs of the same shape that run one after
// the other therefore compile once. Programs holds only one program, because a program uses memory. It is safe for
// concurrent use. A nil *Programs keeps nothing.
type Programs struct {
	mu   sync.Mutex
	key  string
	last *lazyProgram
}

// program returns the kept program if it has the shape of the entry. Otherwise it returns a new one and keeps it
// instead.
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
