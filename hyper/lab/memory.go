package lab

import (
	"errors"
	"fmt"
	"maps"
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
// is true, which means that the program and not the user chose o.BatchRuns. fit counts twice the memory that runs carry
// from period to period. The further memory of a period is not known before it is compiled. The memory of a GPU is not
// known.
func fit(spec Spec, o Options, chosen bool) (int, error) {
	free := process.FreeMemory()
	if free <= 0 || o.Backend == backend.XLACUDA {
		return o.BatchRuns, nil
	}
	var largest int64
	seen := map[string]bool{}
	for _, e := range spec.Entries {
		if key := e.Shape(); !seen[key] {
			seen[key] = true
			if bytes, err := stateBytes(e, spec.Periods); err == nil { // otherwise compiling it will report the fault
				largest = max(largest, bytes)
			}
		}
	}
	at := min(o.Workers, len(newPlan(spec, o.BatchRuns).batches)) // number of batches at once
	most := int(free / (2 * max(largest, 1)) / int64(at))
	switch {
	case o.BatchRuns <= most:
		return o.BatchRuns, nil
	case most < 1:
		return 0, fmt.Errorf("%w: a run needs at least %s, and %d runs at once need %s, but only %s are free; use "+
			"fewer --workers",
			errMemory, process.Bytes(2*largest), at, process.Bytes(2*largest*int64(at)), process.Bytes(free))
	case !chosen:
		return 0, fmt.Errorf("%w: %d batches of %d runs need at least %s, but only %s are free; --batch-runs %d "+
			"would fit",
			errMemory, at, o.BatchRuns,
			process.Bytes(2*largest*int64(o.BatchRuns)*int64(at)), process.Bytes(free), most)
	}
	return most, nil
}

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }

// stateBytes returns the number of bytes that one run of an entry carries from period to period, if the run has the
// given number of periods. A run needs at least this much memory, and twice as much while it advances. stateBytes reads
// the sizes from the graph; it computes nothing.
func stateBytes(e Entry, periods int) (bytes int64, err error) {
	b, err := backend.Open(backend.Go)
	if err != nil {
		return 0, err
	}
	world, agent := e.Setting.Build(periods)
	p := &program{world: world, problem: world.Problem(), agent: agent, inputs: sortedKeys(e.Setting.numbers(periods))}
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
	for _, n := range p.buildInit(args) {
		bytes += n.Shape().ByteSize()
	}
	return bytes, nil
}
