package testbed

import (
	"maps"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"
)

// program is a compiled function from named nodes to named nodes. Names let the output of one program be the input of
// another.
type program struct {
	exec *Exec
	in   []string // names of the arguments, sorted
	out  []string // names of the results, sorted; known after the first call
}

// named holds nodes or tensors by name.
type named[T any] map[string]T

// newProgram returns a program. The first call compiles it.
func newProgram(b compute.Backend, build func(in named[*Node]) named[*Node]) *program {
	p := &program{}
	p.exec = MustNewExec(b, func(args []*Node) []*Node {
		in := named[*Node]{}
		for i, name := range p.in {
			in[name] = args[i]
		}
		out := build(in)
		p.out = slices.Sorted(maps.Keys(out))
		nodes := make([]*Node, len(p.out))
		for i, name := range p.out {
			nodes[i] = out[name]
		}
		return nodes
	})
	p.exec.SetMaxCache(-1)
	return p
}

// call runs the program on tensors, whose names must be the same in each call. The caller owns the results.
func (p *program) call(in named[*tensors.Tensor]) (named[*tensors.Tensor], error) {
	p.in = slices.Sorted(maps.Keys(in))
	args := make([]any, len(p.in))
	for i, name := range p.in {
		args[i] = in[name]
	}
	results, err := p.exec.Call(args...)
	if err != nil {
		return nil, err
	}
	out := named[*tensors.Tensor]{}
	for i, name := range p.out {
		out[name] = results[i]
	}
	return out, nil
}

// release frees the memory of tensors.
func release(all named[*tensors.Tensor]) {
	for _, t := range all {
		t.MustFinalizeAll()
	}
}

// without returns the entries whose names begin with none of the prefixes.
func (n named[T]) without(prefixes ...string) named[T] {
	out := maps.Clone(n)
	for _, prefix := range prefixes {
		maps.DeleteFunc(out, func(name string, _ T) bool { return strings.HasPrefix(name, prefix) })
	}
	return out
}
