package lab

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
)

// errMemory reports that the runs of a Spec need more memory than the machine has free.
var errMemory = errors.New("not enough memory")

// fit returns the number of runs of a batch with which the Spec fits into free memory: o.BatchRuns, or fewer if chosen
// is true, which means that the program and not the user chose o.BatchRuns. begun says whether there are results in
// such batches. See runBytes for the memory that fit counts. All memory of a period is not known before the period is
// compiled. The memory of a GPU is not known.
func fit(spec Spec, o Options, chosen, begun bool) (int, error) {
	free := process.FreeMemory()
	if free <= 0 || o.Backend == backend.XLACUDA {
		return o.BatchRuns, nil
	}
	var largest int64
	seen := map[string]bool{}
	for _, e := range spec.Entries {
		if key := e.Shape(); !seen[key] {
			seen[key] = true
			if bytes, err := runBytes(e, spec.Periods, free); err == nil { // otherwise compiling it will report the fault
				largest = max(largest, bytes)
			}
		}
	}
	at := min(o.Workers, len(newPlan(spec, o.BatchRuns).batches)) // number of batches at once
	least := 1
	if blocksOn(o.Backend) != nil {
		least = 2 // a single run is doubled, see program.initial
	}
	most := int(free / max(largest, 1) / int64(at))
	switch {
	case max(o.BatchRuns, least) <= most:
		return o.BatchRuns, nil
	case most < least:
		one := float64(largest) * float64(least)
		return 0, fmt.Errorf("%w: a run needs at least %s, and %d runs at once need %s, but only %s are free; use %s",
			errMemory, bytesOf(one), at, bytesOf(one*float64(at)), process.Bytes(free), smaller(at, begun))
	case !chosen:
		advice := fmt.Sprintf("--batch-runs %d would fit", most)
		if begun {
			advice = "use " + smaller(at, begun)
		}
		return 0, fmt.Errorf("%w: %d batches of %d runs need at least %s, but only %s are free; %s", errMemory, at,
			o.BatchRuns, bytesOf(float64(largest)*float64(o.BatchRuns)*float64(at)), process.Bytes(free), advice)
	}
	return most, nil
}

// bytesOf describes a number of bytes that may be too large for an int64.
func bytesOf(n float64) string { return process.Bytes(int64(min(n, math.MaxInt64/2))) }

// smaller says what makes a Spec fit, if this number of batches advance at once. Results that have begun keep their
// settings.
func smaller(at int, begun bool) string {
	advice := "smaller settings"
	if begun {
		advice = "a machine with more free memory"
	}
	if at == 1 {
		return advice
	}
	return "fewer --workers, or " + advice
}

// runBytes returns a number of bytes that one run of an entry needs at least: the state before and after a period, or
// the state and the largest array of a period. If the world alone needs more than free, runBytes builds nothing.
func runBytes(e Entry, periods int, free int64) (int64, error) {
	if p := e.Setting.World.Problem(); !p.Moves { // the world keeps at least a number for each feature of each action
		if world := 8 * float64(p.Actions) * float64(max(p.Features, 1)); world > float64(free) {
			return int64(min(world, math.MaxInt64/2)), nil
		}
	}
	state, step, err := sizes(e, periods)
	return max(2*state, state+step), err
}

// sizes returns the bytes of a run's state, and of the largest array of a period that every backend stores. It reads
// the sizes from the graph; it computes nothing.
func sizes(e Entry, periods int) (state, step int64, err error) {
	b, err := backend.Open(backend.Go)
	if err != nil {
		return 0, 0, err
	}
	world, agent := e.Setting.Build(periods)
	p := &program{world: world, name: typeOf(world), problem: world.Problem(), agent: agent,
		inputs: slices.Sorted(maps.Keys(e.Setting.numbers(periods)))}
	defer func() {
		if r := recover(); r != nil { // GoMLX reports a fault in a graph by a panic
			err = fmt.Errorf("agent %s: %v", e.Agent, r)
		}
	}()
	g := NewGraph(b, "size")
	defer g.Finalize()
	args := []*Node{Parameter(g, "seeds", shapes.Make(dtypes.Uint64, 1))}
	for _, name := range p.inputs {
		args = append(args, Parameter(g, name, shapes.Make(dtypes.Float32, 1)))
	}
	carried := p.buildInit(args)
	for _, n := range carried {
		state += n.Shape().ByteSize()
	}
	p.period(carried)
	for _, n := range g.Nodes() {
		switch n.Type() {
		case NodeTypeDotGeneral, NodeTypeGather:
			step = max(step, n.Shape().ByteSize())
		case NodeTypeArgMinMax: // of values that have several uses
			step = max(step, n.Inputs()[0].Shape().ByteSize())
		}
	}
	return state, step, nil
}
