package lab

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// ProgramSizes returns the numbers of operations of the two programs of a Spec's first setting for n runs, and the names
// of the nodes of the State that advance does not return. It builds the programs, but does not compile them.
func ProgramSizes(s Spec, name string, runs int) (start, advance int, unchanged []string, err error) {
	b, err := backend.Open(name)
	if err != nil {
		return 0, 0, nil, err
	}
	plan := newPlan(s, runs)
	inputs := slices.Sorted(maps.Keys(plan.inputs(plan.batches[0])))
	world, agent := plan.shapes[0].Setting.Build(s.Periods)
	made, err := newProgram(name, world, agent, inputs)
	if err != nil {
		return 0, 0, nil, err
	}
	args := []shapes.Shape{shapes.Make(dtypes.Uint64, runs)}
	for range inputs {
		args = append(args, shapes.Make(dtypes.Float32, runs))
	}
	start, state := programSize(b, made.buildInit, args)
	build := made.buildStep
	if made.blocks != nil {
		build, state = made.buildLoop, append(state, shapes.Make(dtypes.Int32))
	}
	advance, _ = programSize(b, build, state)
	for i, name := range made.names {
		if !slices.Contains(made.changed, i) {
			unchanged = append(unchanged, name)
		}
	}
	return start, advance, unchanged, nil
}

// programSize builds a program, and returns the number of its operations and the shapes of its results.
func programSize(
	b compute.Backend, build func([]*Node) []*Node, args []shapes.Shape,
) (operations int, out []shapes.Shape) {
	g := NewGraph(b, "size of a program")
	defer g.Finalize()
	nodes := make([]*Node, len(args))
	for i, s := range args {
		nodes[i] = Parameter(g, fmt.Sprint("argument", i), s)
	}
	for _, n := range build(nodes) {
		out = append(out, n.Shape())
	}
	return len(g.Nodes()), out
}

// SetBlocks makes all later programs advance in blocks of these numbers of periods, as programs do on a GPU.
func SetBlocks(blocks ...int) { blocksOn = func(string) []int { return blocks } }
