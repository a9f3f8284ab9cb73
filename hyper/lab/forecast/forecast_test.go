package forecast

import (
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// By hand: with one second per period for two runs, and 10 periods, a job of two runs takes 10 s. A compilation takes 3
// s.
func TestMakespan(t *testing.T) {
	shapes := []Calibration{{Runs: 2, Period: 1, Compile: 3}, {Runs: 1, Period: 0.1, Compile: 5}}
	two := lab.Job{Shape: 0, Runs: 2}
	for name, c := range map[string]struct {
		jobs    []lab.Job
		workers int
		alone   bool
		startup float64
		want    float64
	}{
		"one job":                              {[]lab.Job{two}, 4, true, 0, 13},
		"half a job":                           {[]lab.Job{{Shape: 0, Runs: 1}}, 1, true, 0, 8},
		"one after the other, compiled once":   {[]lab.Job{two, two, two}, 1, true, 0, 33},
		"two workers that compile each":        {[]lab.Job{two, two, two}, 2, true, 0, 23},
		"a startup":                            {[]lab.Job{two, two, two}, 2, true, 1.5, 24.5},
		"two workers that share a compilation": {[]lab.Job{two, two}, 2, false, 0, 13},
		"two shapes":                           {[]lab.Job{two, {Shape: 1, Runs: 1}, {Shape: 1, Runs: 2}}, 1, true, 0, 3 + 10 + 5 + 1 + 2},
	} {
		toys.Near(t, name, Makespan(c.jobs, shapes, 10, c.workers, c.alone, c.startup), c.want)
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
