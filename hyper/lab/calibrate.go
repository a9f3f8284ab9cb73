package lab

import (
	"fmt"
	"time"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Calibration is what a batch of runs of one entry took on this machine.
type Calibration struct {
	Runs    int     `json:"runs"`    // in the batch
	Compile float64 `json:"compile"` // seconds, with the first call
	Period  float64 `json:"period"`  // seconds a period of the batch
	// bytes that a call takes for the batch: state before and after, and temporaries; 0 where the backend does not tell
	Call int64 `json:"call"`
	// bytes of memory that the process had at most; 0 where the system does not tell
	Peak       int64   `json:"peak"`
	Running    int64   `json:"running"`    // bytes that it had at most after compiling
	Total      float64 `json:"total"`      // seconds that the calibration took after Compile
	Operations float64 `json:"operations"` // of a period of a run, by the paper's formula
}

// Calibrate runs a batch of an entry, of a Spec with periods of the same length, for about the given time. Peak and
// Running tell its memory if the process runs nothing else.
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

// StateBytes is the size of what one run of an entry carries from period to period, for runs of that many periods: the
// memory that a run needs at least, and twice while it is advanced. The graph tells it; nothing is computed.
func StateBytes(e Entry, periods int) (bytes int64, err error) {
	b, err := backend.Open(backend.Go)
	if err != nil {
		return 0, err
	}
	world, agent := e.Setting.Build(periods)
	p := &program{world: world, problem: world.Problem(), agent: agent, inputs: sortedKeys(e.Setting.numbers(periods))}
	defer func() {
		if r := recover(); r != nil { // GoMLX panics with what is wrong in a graph
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
