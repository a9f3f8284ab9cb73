// Package forecast measures runs on this machine, and predicts the time and memory of a Spec.
//
//	c, err := forecast.Calibrate(spec, 0, 8, backend.XLACPU, time.Second)
//	...
//	jobs, _ := lab.Jobs(spec, 8)
//	seconds := forecast.Makespan(jobs, []forecast.Calibration{c}, spec.Periods, 4, true, 0)
package forecast

import (
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
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
func Calibrate(spec lab.Spec, entry, runs int, name string, length time.Duration) (Calibration, error) {
	begin := time.Now()
	clock, err := lab.NewClock(spec, entry, runs, name)
	if err != nil {
		return Calibration{}, err
	}
	defer clock.Close()
	_, agent := spec.Entries[entry].Setting.Build(spec.Periods)
	c := Calibration{Runs: runs, Call: clock.Call, Operations: agent.Computation(),
		Compile: time.Since(begin).Seconds(), Peak: process.PeakMemory()}
	process.ForgetPeak()
	begin = time.Now()
	c.Period, _, err = clock.Time(length)
	c.Total, c.Running = time.Since(begin).Seconds(), process.PeakMemory()
	c.Peak = max(c.Peak, c.Running)
	return c, err
}
