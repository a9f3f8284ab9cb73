package forecast

import (
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Makespan returns the time in seconds that workers need for jobs. The workers take the jobs in order, each as soon as
// it is idle. If alone is true, each worker compiles for itself, as processes do. A worker is ready after startup
// seconds.
func Makespan(jobs []lab.Job, shapes []Calibration, periods, workers int, alone bool, startup float64) float64 {
	clocks := make([]float64, min(workers, len(jobs)))
	compiled := map[[2]int]float64{} // time at which the program of a shape is ready for a worker
	for i := range clocks {
		clocks[i] = startup
	}
	for _, j := range jobs {
		w := 0
		for i := range clocks {
			if clocks[i] < clocks[w] {
				w = i
			}
		}
		key := [2]int{j.Shape, 0}
		if alone {
			key[1] = w
		}
		c := shapes[j.Shape]
		if _, ok := compiled[key]; !ok {
			compiled[key] = clocks[w] + c.Compile
		}
		clocks[w] = max(clocks[w], compiled[key]) + c.Period*float64(periods)*float64(j.Runs)/float64(c.Runs)
	}
	return slices.Max(clocks)
}

// Memory returns the number of bytes that each run of a shape needs while a call advances it, and the number of bytes
// that a process needs in addition. Both are 0 if the operating system does not report memory. The compiled program
// reports the memory of a run. If it does not, Memory divides the difference between a calibration with few runs in a
// batch and one with more. That estimate is rough, because memory that a process holds in reserve hides the difference.
func Memory(few, more Calibration) (run, process int64) {
	switch {
	case few.Peak == 0:
		return 0, 0
	case few.Call > 0:
		run = few.Call / int64(few.Runs)
	case more.Runs > few.Runs:
		run = max(0, (more.Running-few.Running)/int64(more.Runs-few.Runs))
	}
	return run, max(0, few.Peak-run*int64(few.Runs))
}
