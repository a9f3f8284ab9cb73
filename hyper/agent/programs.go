package agent

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// shape identifies a program of Act or Sample: a program is compiled for one shape.
type shape struct {
	functions int // number of functions that Sample draws; 0 means Act
	inputs    int // number of inputs, with padding; 0 means all arms
}

// programs caches the programs of Act and Sample that were used last. The zero value is ready to use.
type programs struct {
	mu  sync.Mutex
	all []*program // most recently used first
}

// mostPrograms is the largest number of cached programs. A program of XLA takes some megabytes.
const mostPrograms = 16

// program is freed by its last user. Its users are calls, and the cache while it holds the program.
type program struct {
	shape shape
	exec  *Exec
	users int

	compiled atomic.Bool
}

// use returns the program of a shape, and creates it if needed. The caller must call done.
func (p *programs) use(s shape, create func() (*Exec, error)) (*program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.all, func(q *program) bool { return q.shape == s })
	if at < 0 {
		exec, err := create()
		if err != nil {
			return nil, err
		}
		p.all, at = append(p.all, &program{shape: s, exec: exec, users: 1}), len(p.all)
	}
	found := p.all[at]
	found.users++
	p.all = slices.Insert(slices.Delete(p.all, at, at+1), 0, found)
	if last := len(p.all) - 1; last >= mostPrograms {
		p.leave(p.all[last])
		p.all = slices.Delete(p.all, last, last+1)
	}
	return found, nil
}

// sizes returns n and the numbers of actions that Act is compiled for.
func (p *programs) sizes(n int) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []int{n}
	for _, q := range p.all {
		if q.shape.functions == 0 && q.shape.inputs > 0 && !slices.Contains(out, q.shape.inputs) {
			out = append(out, q.shape.inputs)
		}
	}
	return out
}

// end releases all programs.
func (p *programs) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.all {
		p.leave(q)
	}
	p.all = nil
}

func (p *programs) done(q *program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(q)
}

func (p *programs) leave(q *program) {
	if q.users--; q.users == 0 {
		q.exec.Finalize()
	}
}

// padded rounds a number of inputs up to a power of two, or to one and a half times a power of two. At most a third of
// the result is padding.
func padded(n int) int {
	for size := 1; ; size *= 2 {
		switch {
		case n == 0:
			return 0
		case n <= size:
			return size
		case n <= size+size/2:
			return size + size/2
		}
	}
}

// program returns the program of a shape; the caller must call done.
func (a *form) program(s shape) (*program, error) {
	return a.programs.use(s, func() (*Exec, error) {
		if s.functions > 0 {
			return NewExec(a.backend, func(args []*Node) []*Node { return []*Node{a.buildSample(args, s.functions)} })
		}
		return NewExec(a.backend, a.buildAct)
	})
}

// ask calls the program of a shape with a belief. number is the number of earlier calls; x holds the inputs, or is nil.
func (a *form) ask(s shape, belief *snapshot, x [][]float32, number uint32) ([]*tensors.Tensor, error) {
	p, err := a.program(s)
	if err != nil {
		return nil, err
	}
	defer a.programs.done(p)
	more := []any{number}
	if x != nil {
		inputs := a.inputs(x, s.inputs)
		defer free(inputs)
		more = append(more, int32(len(x)), inputs)
	}
	whole, err := a.wholeOf(belief, a.read)
	if err != nil {
		return nil, err
	}
	defer whole.drop()
	return p.exec.Call(arguments(whole.tensors(), more...)...)
}

// inputs returns a tensor with the rows of x, padded with copies of the first row: [1, size, Features], or arms, int32
// [1, size, 1].
func (a *form) inputs(x [][]float32, size int) *tensors.Tensor {
	x = append(slices.Clone(x), slices.Repeat(x[:1], size-len(x))...)
	if a.config.Features == 0 {
		arms := make([]int32, size)
		for i, row := range x {
			arms[i] = int32(row[0])
		}
		return tensors.FromFlatDataAndDimensions(arms, 1, size, 1)
	}
	return tensors.FromFlatDataAndDimensions(slices.Concat(x...), 1, size, a.config.Features)
}

// checkInputs reports inputs that are missing or wrong; nil means all arms.
func (a *form) checkInputs(x [][]float32) error {
	if x == nil && a.config.Features > 0 {
		return fmt.Errorf("the inputs must be given: each has %d features", a.config.Features)
	}
	if x != nil && len(x) == 0 {
		return fmt.Errorf("there is nothing to choose from: no inputs")
	}
	for _, row := range x {
		if err := a.checkInput(row); err != nil {
			return err
		}
	}
	return nil
}
