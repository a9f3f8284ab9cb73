package lab_test

import (
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// An interval of four times the runs is half as long.
func TestRunsToDecide(t *testing.T) {
	undecided := lab.Below("ratio", 0.8, 0.4, 1.2, 1, 100)
	if runs, ok := undecided.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide, want 401", runs, ok)
	}
	above := lab.Below("ratio", 1.1, 0.9, 1.6, 1, 100)
	if runs, ok := above.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide against it, want 401", runs, ok)
	}
	discrete := undecided
	discrete.Discrete = true
	for _, f := range []lab.Finding{lab.Below("ratio", 0.8, 0.7, 0.9, 1, 100), lab.Below("ratio", 0.8, 0.4, math.Inf(1), 1, 100), discrete} {
		if runs, ok := f.RunsToDecide(); ok {
			t.Errorf("%v: %v runs would decide, want none told", f, runs)
		}
	}
}
