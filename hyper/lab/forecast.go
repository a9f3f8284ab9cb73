package lab

import "slices"

// Job is work that one worker does without a break: runs of one shape, for some periods each.
type Job struct {
	Shape int // which of the calibrations
	Runs  int
}

// Jobs are the batches of a Spec, in order; shapes are the first entry of each shape, which the jobs count.
func Jobs(spec Spec, batchRuns int) (jobs []Job, shapes []int) {
	p := newPlan(spec, batchRuns)
	for s := range p.shapes {
		shapes = append(shapes, slices.Index(p.shapeOf, s))
	}
	for _, b := range p.batches {
		jobs = append(jobs, Job{Shape: b.shape, Runs: len(b.lanes)})
	}
	return jobs, shapes
}

// Makespan is the time in seconds that workers need for jobs which they take in order, each when it has nothing to do.
// alone says that each compiles for itself, as processes do; a worker is ready after startup.
func Makespan(jobs []Job, shapes []Calibration, periods, workers int, alone bool, startup float64) float64 {
	clocks := make([]float64, min(workers, len(jobs)))
	compiled := map[[2]int]float64{} // when the program of a shape is ready for a worker
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

// Memory is what runs of a shape need: bytes for each run while a call advances it, and bytes that a process has at
// most whatever its runs. Both are 0 where the system does not tell. The compiled program tells those of a run; where
// it does not, they are the slope between calibrations with few and with more runs in a batch, which is rough: it is
// hidden by the memory that a process keeps free.
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
