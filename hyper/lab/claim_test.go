package lab_test

import (
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// An interval of four times as many runs is half as long.
func TestRunsToDecide(t *testing.T) {
	undecided := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.4, Upper: 1.2}, 1, 10, 100)
	if runs, ok := undecided.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide, want 401", runs, ok)
	}
	above := lab.Below("ratio", lab.Estimate{Value: 1.1, Lower: 0.9, Upper: 1.6}, 1, 10, 100)
	if runs, ok := above.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide against it, want 401", runs, ok)
	}
	// The factor for few runs also falls, from 1.33 with 9 runs to 1.19 with 28, so that 28 runs decide instead of 36.
	few := lab.MeanRegret([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	half := lab.Below("regret", few, float64(few.Value+few.Upper)/2, 10, 9)
	if runs, ok := half.RunsToDecide(); !ok || runs < 29 || runs > 31 {
		t.Errorf("%v, %v runs would decide, want 30", runs, ok)
	}
	discrete := undecided
	discrete.Discrete = true
	decided := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.7, Upper: 0.9}, 1, 10, 100)
	endless := lab.Below("ratio", lab.Estimate{Value: 0.8, Lower: 0.4, Upper: lab.Float(math.Inf(1))}, 1, 10, 100)
	for _, f := range []lab.Finding{decided, endless, discrete} {
		if runs, ok := f.RunsToDecide(); ok {
			t.Errorf("%v: %v runs would decide, want no number", f, runs)
		}
	}
}

// A claim that two agents are alike holds if the whole interval lies between its bounds. It is refuted if the whole
// interval lies outside.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		value, lower, upper float64
		want                lab.Verdict
	}{
		{1, 0.9, 1.1, lab.Reproduced}, {1, 0.7, 1.1, lab.Undecided}, {1, 0.9, 1.4, lab.Undecided},
		{0.6, 0.5, 0.7, lab.Refuted}, {2, 1.5, 3, lab.Refuted},
	} {
		e := lab.Estimate{Value: lab.Float(c.value), Lower: lab.Float(c.lower), Upper: lab.Float(c.upper)}
		if f := lab.Within("ratio", e, 0.8, 1.25, 10, 100); f.Verdict != c.want {
			t.Errorf("%v: %s, want %s", e, f.Verdict, c.want)
		}
	}
	toLower := lab.Within("ratio", lab.Estimate{Value: 0.9, Lower: 0.7, Upper: 1.16}, 0.8, 1.25, 10, 100)
	if runs, ok := toLower.RunsToDecide(); !ok || runs < 401 || runs > 402 { // 0.2 above the lower end must become 0.1
		t.Errorf("%v, %v runs would decide", runs, ok)
	}
}

// Holm's p-values of 0.001, 0.02, 0.03 and 0.2 are 0.004, 0.06, 0.06 and 0.2, as R's p.adjust returns them: two
// findings that are decided alone are not decided among four. A finding that was not tested does not count.
func TestHolm(t *testing.T) {
	finding := func(p float64, v lab.Verdict) lab.Finding { return lab.Finding{P: lab.Float(p), Verdict: v} }
	all := []lab.Finding{finding(0.03, lab.Refuted), finding(0.001, lab.Reproduced),
		finding(math.NaN(), lab.NotTested), finding(0.02, lab.Reproduced), finding(0.2, lab.Undecided)}
	got := lab.Holm(all)
	for i, want := range []lab.Finding{finding(0.06, lab.Undecided), finding(0.004, lab.Reproduced), all[2],
		finding(0.06, lab.Undecided), finding(0.2, lab.Undecided)} {
		if got[i].Verdict != want.Verdict || math.Abs(float64(got[i].P-want.P)) > 1e-12 {
			t.Errorf("finding %d: p = %v, %s; want %v, %s", i, got[i].P, got[i].Verdict, want.P, want.Verdict)
		}
	}
	if all[0].Verdict != lab.Refuted {
		t.Error("Holm changed its argument")
	}
	// Among four, 0.02 must become 0.05/3, which is 2.394 standard errors instead of 2.326: this needs 1.06 times the
	// runs.
	all[3].Runs = 1000
	if runs, ok := lab.Holm(all)[3].RunsToDecideAmong(); !ok || runs < 1058 || runs > 1062 {
		t.Errorf("%v, %v runs would decide among all, want 1060", runs, ok)
	}
	for _, f := range []lab.Finding{all[3], got[1], got[4]} { // not corrected, decided, undecided alone
		if runs, ok := f.RunsToDecideAmong(); ok {
			t.Errorf("%v: %v runs would decide among all, want no number", f, runs)
		}
	}
}
