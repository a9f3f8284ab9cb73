package agent

import (
	"math"
	"math/rand/v2"
	"testing"
)

// firstAlarm is the datum, from 1, of the first alarm of a detector whose residuals are N(0, 1) and then, after a
// number, N(shift, 1); 0 is none in n.
func firstAlarm(r *rand.Rand, from int, shift float64, n int) int {
	d, evidence := detector{}, 0.0
	for i := range n {
		x := r.NormFloat64()
		if i >= from {
			x += shift
		}
		if d, evidence = d.next(x); evidence >= 10_000 {
			return i + 1
		}
	}
	return 0
}

// Of rewards that are as predicted at most n/Run of the runs of n data have an alarm; 2,000 runs of 1,000 data: at most
// 200 expected, and 13.4 is the standard error.
func TestChangeFalseAlarms(t *testing.T) {
	r, alarms := rand.New(rand.NewPCG(1, 2)), 0
	for range 2000 {
		if firstAlarm(r, 0, 0, 1000) > 0 {
			alarms++
		}
	}
	long := 0
	for range 200 {
		if firstAlarm(r, 0, 0, 10_000) > 0 {
			long++
		}
	}
	t.Logf("%d of 2,000 runs of 1,000 data have a false alarm, %d of 200 of 10,000", alarms, long)
	if alarms > 200+3*14 {
		t.Errorf("%d of 2,000 runs have a false alarm", alarms)
	}
}

func TestChangeDelay(t *testing.T) {
	for _, c := range []struct{ shift, most float64 }{{0.5, 80}, {1, 25}, {2, 10}} {
		r, sum, found, early := rand.New(rand.NewPCG(3, 4)), 0.0, 0, 0
		for range 400 {
			switch at := firstAlarm(r, 500, c.shift, 5000); {
			case at > 500:
				sum, found = sum+float64(at-500), found+1
			case at > 0:
				early++
			}
		}
		t.Logf("a shift by %v is found after %.1f data in the mean; %d of 400 before it", c.shift, sum/float64(found), early)
		if found+early < 400 || sum/float64(found) > c.most {
			t.Errorf("a shift by %v: %d found, after %.1f data, want all and %v", c.shift, found, sum/float64(found), c.most)
		}
	}
}

// Two residuals of 0 after those that tell the scale: each bet has (L + 1) L, with the likelihood ratio L at 0. Those
// before are no evidence, whatever they are, and a residual of 3 after
// those of 2 is as one of 1.5 after those of 1.
func TestChangeInClosedForm(t *testing.T) {
	d, evidence, want := detector{}, 0.0, 0.0
	wide, whole := detector{}, detector{}
	for i := range settled {
		if d, evidence = d.next(0); evidence != 0 {
			t.Errorf("evidence %g after %d residuals", evidence, i+1)
		}
		wide, _ = wide.next(2)
		whole, _ = whole.next(1)
	}
	for range 2 {
		d, evidence = d.next(0)
	}
	for _, s := range shifts {
		l := math.Exp(-s * s / 2)
		want += (l + 1) * l / float64(2*len(shifts))
	}
	for _, k := range spreads {
		want += (1/k + 1) / k / float64(2*len(spreads))
	}
	if math.Abs(evidence-want) > 1e-12 {
		t.Errorf("evidence %g, want %g", evidence, want)
	}
	_, a := wide.next(3)
	_, b := whole.next(1.5)
	if math.Abs(a-b) > 1e-12 {
		t.Errorf("evidence %g of a residual of 3 deviations of 2, %g of 1.5 of 1", a, b)
	}
}
