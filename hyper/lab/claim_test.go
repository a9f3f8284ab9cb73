package lab_test

import (
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// An interval of four times the runs is half as long.
func TestRunsToDecide(t *testing.T) {
	undecided := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.4, Upper: 1.2}, 1, 10, 100)
	if runs, ok := undecided.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide, want 401", runs, ok)
	}
	above := lab.Below("ratio", lab.Estimate{Value: 1.1, Lower: 0.9, Upper: 1.6}, 1, 10, 100)
	if runs, ok := above.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide against it, want 401", runs, ok)
	}
	discrete := undecided
	discrete.Discrete = true
	decided := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.7, Upper: 0.9}, 1, 10, 100)
	endless := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.4, Upper: lab.Float(math.Inf(1))}, 1, 10, 100)
	for _, f := range []lab.Finding{decided, endless, discrete} {
		if runs, ok := f.RunsToDecide(); ok {
			t.Errorf("%v: %v runs would decide, want none told", f, runs)
		}
	}
}
