package lab_test

import (
	"testing"
	"time"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Before anything is computed, no time left is claimed.
func TestPace(t *testing.T) {
	for want, p := range map[string]lab.Progress{
		"speed and time left not known yet": {Total: 40, Done: 10},
		"5 per second, 3s left":             {Total: 40, Done: 25, Computed: 25, Run: 5 * time.Second, Busy: []time.Duration{5e9}},
		"0 per second, 0s left":             {Total: 40, Done: 40},
	} {
		if got := p.Pace("per second"); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}
