package study_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// below judges the claim that an estimate from a number of runs is below a bound.
func below(e stats.Estimate, bound float64, runs int) study.Finding {
	return study.Comparison{Text: "ratio", Estimate: e, Claimed: study.Below(bound), Periods: 10, Runs: runs}.Judge()
}

// An interval of four times as many runs is half as long.
func TestRunsToDecide(t *testing.T) {
	undecided := below(stats.Estimate{Value: 0.8, Lower: 0.4, Upper: 1.2}, 1, 100)
	if runs, ok := undecided.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide, want 401", runs, ok)
	}
	above := below(stats.Estimate{Value: 1.1, Lower: 0.9, Upper: 1.6}, 1, 100)
	if runs, ok := above.RunsToDecide(); !ok || runs < 400 || runs > 402 {
		t.Errorf("%v, %v runs would decide against it, want 401", runs, ok)
	}
	// The factor for few runs also falls, from 1.33 with 9 runs to 1.19 with 28, so that 28 runs decide instead of 36.
	few := stats.MeanRegret([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	half := below(few, float64(few.Value+few.Upper)/2, 9)
	if runs, ok := half.RunsToDecide(); !ok || runs < 29 || runs > 31 {
		t.Errorf("%v, %v runs would decide, want 30", runs, ok)
	}
	discrete := undecided
	discrete.Discrete = true
	decided := below(stats.Estimate{Value: 0.8, Lower: 0.7, Upper: 0.9}, 1, 100)
	endless := below(stats.Estimate{Value: 0.8, Lower: 0.4, Upper: stats.Float(math.Inf(1))}, 1, 100)
	for _, f := range []study.Finding{decided, endless, discrete} {
		if runs, ok := f.RunsToDecide(); ok {
			t.Errorf("%v: %v runs would decide, want no number", f, runs)
		}
	}
}

// A claim that two agents are alike holds if the whole interval lies between its bounds. It is refuted if the whole
// interval lies outside.
func TestWithin(t *testing.T) {
	alike := func(e stats.Estimate) study.Finding {
		return study.Comparison{Estimate: e, Claimed: study.Within(1.25), Periods: 10, Runs: 100}.Judge()
	}
	for _, c := range []struct {
		value, lower, upper float64
		want                study.Verdict
	}{
		{1, 0.9, 1.1, study.Reproduced}, {1, 0.7, 1.1, study.Undecided}, {1, 0.9, 1.4, study.Undecided},
		{0.6, 0.5, 0.7, study.Refuted}, {2, 1.5, 3, study.Refuted},
	} {
		e := stats.Estimate{Value: stats.Float(c.value), Lower: stats.Float(c.lower), Upper: stats.Float(c.upper)}
		if f := alike(e); f.Verdict != c.want {
			t.Errorf("%v: %s, want %s", e, f.Verdict, c.want)
		}
	}
	toLower := alike(stats.Estimate{Value: 0.9, Lower: 0.7, Upper: 1.16})
	if runs, ok := toLower.RunsToDecide(); !ok || runs < 401 || runs > 402 { // 0.2 above the lower end must become 0.1
		t.Errorf("%v, %v runs would decide", runs, ok)
	}
}

// Holm's p-values of 0.001, 0.02, 0.03 and 0.2 are 0.004, 0.06, 0.06 and 0.2, as R's p.adjust returns them: two
// findings that are decided alone are not decided among four. A finding that was not tested does not count.
func TestHolm(t *testing.T) {
	finding := func(p float64, v study.Verdict) study.Finding { return study.Finding{P: stats.Float(p), Verdict: v} }
	all := []study.Finding{finding(0.03, study.Refuted), finding(0.001, study.Reproduced),
		finding(math.NaN(), study.NotTested), finding(0.02, study.Reproduced), finding(0.2, study.Undecided)}
	got := study.Correct(all)
	for i, want := range []study.Finding{finding(0.06, study.Undecided), finding(0.004, study.Reproduced), all[2],
		finding(0.06, study.Undecided), finding(0.2, study.Undecided)} {
		if got[i].Verdict != want.Verdict || math.Abs(float64(got[i].P-want.P)) > 1e-12 {
			t.Errorf("finding %d: p = %v, %s; want %v, %s", i, got[i].P, got[i].Verdict, want.P, want.Verdict)
		}
	}
	if all[0].Verdict != study.Refuted {
		t.Error("Holm changed its argument")
	}
	// Among four, 0.02 must become 0.05/3, which is 2.394 standard errors instead of 2.326: this needs 1.06 times the
	// runs.
	all[3].Runs = 1000
	if runs, ok := study.Correct(all)[3].RunsToDecideAmong(); !ok || runs < 1058 || runs > 1062 {
		t.Errorf("%v, %v runs would decide among all, want 1060", runs, ok)
	}
	for _, f := range []study.Finding{all[3], got[1], got[4]} { // not corrected, decided, undecided alone
		if runs, ok := f.RunsToDecideAmong(); ok {
			t.Errorf("%v: %v runs would decide among all, want no number", f, runs)
		}
	}
}

// The p-value of a finding is the two-sided p-value of the estimate at the nearer bound, or, inside a range of two
// bounds, the larger of the two.
func TestPValues(t *testing.T) {
	for _, x := range []struct{ value, at float64 }{{0.7, 0.8}, {0.9, 0.8}, {1.2, 1.25}, {1.3, 1.25}} {
		e := stats.Student(x.value, 0.05, 20)
		f := study.Comparison{Estimate: e, Claimed: study.Within(1.25), Runs: 20}.Judge()
		if want := e.PValue(x.at); math.Abs(float64(f.P)-want) > 1e-12 {
			t.Errorf("%v: p = %v, want %v", e, f.P, want)
		}
		if inside := x.value > 0.8 && x.value < 1.25; inside != (f.Inside < f.Outside) {
			t.Errorf("%v: one-sided p-values %v and %v", e, f.Inside, f.Outside)
		}
	}
}

// The keys of a finding in JSON are those that scripts read. The key above is there for claims with two bounds only.
func TestFindingAsJSON(t *testing.T) {
	f := study.Comparison{Text: "ratio", Estimate: stats.Estimate{Value: 1, Lower: 0.9, Upper: stats.Float(math.Inf(1))},
		Claimed: study.Within(1.25), Periods: 10, Runs: 20, Diverged: [2]int{1, 2}, Inside: 0.4, Outside: 0.6}.Judge()
	f.Claim = "alike"
	want := `{"claim":"alike","statistic":"ratio","estimate":1,"lower":0.9,"upper":"+Inf","bound":1.25,"above":0.8,"p":0.8,` +
		`"periods":10,"runs":20,"diverged":3,"verdict":"undecided"}`
	if got := string(must.M1(json.Marshal(f))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.Claimed = study.Below(2)
	if got := string(must.M1(json.Marshal([]study.Finding{f}))); !strings.Contains(got, `"bound":2,"p"`) {
		t.Errorf("got %s, want no key above", got)
	}
}

func ExampleComparison_Judge() {
	linear, ensemble := []float64{10, 12, 9, 11, 10, 13}, []float64{30, 25, 41, 28, 33, 36} // regrets on the same seeds
	c := study.Comparison{Text: "regret over the ensemble's", Estimate: stats.RatioOfRegrets(linear, ensemble),
		Claimed: study.Below(1), Runs: len(linear)}
	fmt.Println(c.Judge())
	// Output: regret over the ensemble's = 0.3368, 95% interval [0.204, 0.556], bound 1, 6 runs: reproduced
}
