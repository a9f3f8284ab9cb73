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
	Runs       int     `json:"runs"`       // in the batch
	Compile    float64 `json:"compile"`    // seconds, with the first call
	Period     float64 `json:"period"`     // seconds a period of the batch
	Peak       int64   `json:"peak"`       // bytes of memory that the process had at most; 0 where the system does not tell
	Running    int64   `json:"running"`    // bytes that it had at most after compiling
	Total      float64 `json:"total"`      // seconds that the calibration took after Compile
	Operations float64 `json:"operations"` // of a period of a run, by the paper's formula
}

// Calibrate runs a batch of an entry, of a Spec whose periods are as long, for about so long. To tell its memory it wants a process of its own.
func Calibrate(spec Spec, entry, runs int, name string, length time.Duration) (Calibration, error) {
	c := Calibration{Runs: runs}
	spec.Entries, spec.Runs = spec.Entries[entry:entry+1], runs
	p := newPlan(spec, runs)
	b := batch{lanes: make([]lane, runs)}
	for i := range b.lanes {
		b.lanes[i].run = i
	}
	r := newRunner(p, Options{Backend: name})
	begin := time.Now()
	program, err := r.compile(b)
	if err != nil {
		return c, err
	}
	c.Operations = program.agent.Computation()
	compiling := peakMemory()
	if err := r.stretch(program, b, length, &c); err != nil {
		return c, err
	}
	c.Compile = time.Since(begin).Seconds() - c.Total
	c.Running = peakMemory()
	c.Peak = max(compiling, c.Running)
	return c, nil
}

// stretch runs a batch from its begin, for about so long or to its end, in calls of growing length. The first may compile, and is not counted.
func (r *runner) stretch(p *program, b batch, length time.Duration, c *Calibration) error {
	state, err := p.initial(r.plan.seeds(b), r.plan.inputs(b))
	if err != nil {
		return err
	}
	if state, err = p.until(state, 1); err != nil {
		return err
	}
	forgetPeak()
	begin, done := time.Now(), 1
	for chunk := 1; time.Since(begin) < length && done < r.plan.spec.Periods; chunk = min(2*chunk, 1000) {
		done = min(done+chunk, r.plan.spec.Periods)
		if state, err = p.until(state, done); err != nil {
			return err
		}
	}
	c.Total = time.Since(begin).Seconds()
	c.Period = c.Total / float64(max(1, done-1))
	for _, t := range state {
		t.MustFinalizeAll()
	}
	return nil
}

// StateBytes is the size of what one run of an entry carries from period to period, for runs of so many periods: a run needs at
// least so much memory, twice while it is advanced. It is told from the graph; nothing is computed.
func StateBytes(e Entry, periods int) (bytes int64, err error) {
	b, err := backend.Open(backend.Go)
	if err != nil {
		return 0, err
	}
	env, agent := e.Setting.Build(periods)
	numbers := perRun(e.Setting)
	p := &program{env: env, agent: agent, inputs: sortedKeys(numbers)}
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
