package lab

import (
	"fmt"
	"time"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Calibration is the time and memory that a batch of runs of one entry took on this machine.
type Calibration struct {
	Runs    int     `json:"runs"`    // number of runs in the batch
	Compile float64 `json:"compile"` // seconds to compile, including the first call
	Period  float64 `json:"period"`  // seconds that one period of the whole batch takes
	// Call is the number of bytes that one call needs for the batch: the state before, the state after, and temporary
	// values. It is 0 if the backend does not report it.
	Call int64 `json:"call"`
	// Peak is the largest number of bytes that the process used. It is 0 if the operating system does not report it.
	Peak       int64   `json:"peak"`
	Running    int64   `json:"running"`    // largest number of bytes after compiling
	Total      float64 `json:"total"`      // seconds that the calibration took after compiling
	Operations float64 `json:"operations"` // operations of one run in one period, by the paper's formula
}

// Calibrate runs a batch of one entry of a Spec for about the given time and measures it. All periods of the Spec must
// take equally long. Peak and Running are the memory of the batch only if the process runs nothing else.
func Calibrate(spec Spec, entry, runs int, name string, length time.Duration) (Calibration, error) {
	begin := time.Now()
	clock, err := NewClock(spec, entry, runs, name)
	if err != nil {
		return Calibration{}, err
	}
	defer clock.Close()
	c := Calibration{Runs: runs, Call: clock.Call, Operations: clock.program.agent.Computation(),
		Compile: time.Since(begin).Seconds(), Peak: peakMemory()}
	forgetPeak()
	begin = time.Now()
	c.Period, _, err = clock.Time(length)
	c.Total, c.Running = time.Since(begin).Seconds(), peakMemory()
	c.Peak = max(c.Peak, c.Running)
	return c, err
}

// StateBytes returns the number of bytes that one run of an entry carries from period to period, if the run has the
// given number of periods. A run needs at least this much memory, and twice as much while it advances. StateBytes reads
// the sizes from the graph; it computes nothing.
func StateBytes(e Entry, periods int) (bytes int64, err error) {
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
