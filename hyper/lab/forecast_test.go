package lab

import "testing"

// By hand: with one second per period for two runs, and 10 periods, a job of two runs takes 10 s. A compilation takes 3
// s.
func TestMakespan(t *testing.T) {
	shapes := []Calibration{{Runs: 2, Period: 1, Compile: 3}, {Runs: 1, Period: 0.1, Compile: 5}}
	two := Job{Shape: 0, Runs: 2}
	for name, c := range map[string]struct {
		jobs    []Job
		workers int
		alone   bool
		startup float64
		want    float64
	}{
		"one job":                              {[]Job{two}, 4, true, 0, 13},
		"half a job":                           {[]Job{{0, 1}}, 1, true, 0, 8},
		"one after the other, compiled once":   {[]Job{two, two, two}, 1, true, 0, 33},
		"two workers that compile each":        {[]Job{two, two, two}, 2, true, 0, 23},
		"a startup":                            {[]Job{two, two, two}, 2, true, 1.5, 24.5},
		"two workers that share a compilation": {[]Job{two, two}, 2, false, 0, 13},
		"two shapes":                           {[]Job{two, {1, 1}, {1, 2}}, 1, true, 0, 3 + 10 + 5 + 1 + 2},
	} {
		toysNear(t, name, Makespan(c.jobs, shapes, 10, c.workers, c.alone, c.startup), c.want)
	}
}

func TestMemoryOfARun(t *testing.T) {
	more := Calibration{Runs: 10, Running: 190, Peak: 200}
	for name, few := range map[string]Calibration{
		"by the slope":   {Runs: 2, Running: 110, Peak: 120},
		"by the program": {Runs: 2, Running: 1, Peak: 120, Call: 20},
	} {
		if run, process := Memory(few, more); run != 10 || process != 100 {
			t.Errorf("%s: %d a run and %d a process, want 10 and 100", name, run, process)
		}
	}
}
