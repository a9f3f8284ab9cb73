package train

import (
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// entries holds some entries of a State in the order of their names. The state of a loop is such a list.
type entries struct {
	names []string
	nodes []*Node
}

// entriesOf returns all entries of a State.
func entriesOf(s State) (out entries) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		out.names, out.nodes = append(out.names, name), append(out.nodes, s[name])
	}
	return out
}

// split returns the entries that an SGD step moves, and the other entries.
func (s State) split() (moved, still entries) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		part := &still
		if Entry(name).moves() {
			part = &moved
		}
		part.names, part.nodes = append(part.names, name), append(part.nodes, s[name])
	}
	return moved, still
}

// put sets the entries of a State to the given nodes.
func (e entries) put(state State, nodes []*Node) {
	for i, name := range e.names {
		state[name] = nodes[i]
	}
}

// get returns the entries of a State.
func (e entries) get(state State) []*Node {
	nodes := make([]*Node, len(e.names))
	for i, name := range e.names {
		nodes[i] = state[name]
	}
	return nodes
}

// places returns the addresses of the nodes in a list.
func places(nodes []*Node) []**Node {
	out := make([]**Node, len(nodes))
	for i := range nodes {
		out[i] = &nodes[i]
	}
	return out
}

// nodes returns the addresses of the rates that SGD steps read.
func (r *Rates) nodes() []**Node {
	return []**Node{&r.Step, &r.NoiseVar, &r.PriorVar, &r.Perturbation, &r.MapStep, &r.Clip, &r.KL}
}
