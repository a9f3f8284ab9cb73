package analysis

import (
	"errors"
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Regrets of 2 x^0.7 times factors that depend only on the seed have this slope and no spread. With factors that also
// depend on the entry, the standard error is the standard error of the mean of sum_i w_i r_i / mean_i. By hand for two
// entries, at 1 and e, the slope is log mean_2 - log mean_1.
func TestRegretSlope(t *testing.T) {
	row := func(entry, seed int, regret float64) lab.Row {
		return lab.Row{Entry: entry, Seed: uint64(seed), Period: 10, Regret: stats.Float(regret)}
	}
	var rows []lab.Row
	x := []float64{1, 3, 10}
	for i, v := range x {
		for seed := range 4 {
			rows = append(rows, row(i, seed, 2*math.Pow(v, 0.7)*float64(seed+1)))
		}
	}
	e, period, runs, err := RegretSlope(rows, x)
	if err != nil || period != 10 || runs != 4 || math.Abs(float64(e.Value)-0.7) > 1e-12 ||
		float64(e.Upper-e.Lower) > 1e-9 {
		t.Errorf("%v at %d of %d runs, %v", e, period, runs, err)
	}
	e, _, _, err = RegretSlope([]lab.Row{row(0, 0, 1), row(0, 1, 3), row(1, 0, 6), row(1, 1, 2)}, []float64{1, math.E})
	// The moves are 6/4 - 1/2 = 1 and 2/4 - 3/2 = -1, so the standard error is 1.
	if want := math.Log(2); err != nil || math.Abs(float64(e.Value)-want) > 1e-12 || math.Abs(e.StdErr()-1) > 1e-12 {
		t.Errorf("%v with standard error %v, %v; want %v and 1", e, e.StdErr(), err, want)
	}
	if _, _, _, err := RegretSlope(nil, x); !errors.Is(err, ErrNoRows) {
		t.Error(err)
	}
}

// Regrets that double from period 40 to 100 have a slope of log 2 / log 2.5 and no spread. With other factors, the
// standard error is the standard error of r_100 / mean - r_40 / mean, divided by log 2.5: here 1/4 and -1/4, so 1/4.
func TestLateSlope(t *testing.T) {
	row := func(seed, period int, regret float64) lab.Row {
		return lab.Row{Seed: uint64(seed), Period: period, Regret: stats.Float(regret)}
	}
	var rows []lab.Row
	for seed := range 4 {
		f := float64(seed + 1)
		rows = append(rows, row(seed, 20, f), row(seed, 40, 3*f), row(seed, 80, 5*f), row(seed, 100, 6*f))
	}
	want := math.Log(2) / math.Log(2.5)
	e, period, runs, err := LateSlope(rows, 0)
	toys.Near(t, "slope", float64(e.Value), want)
	if err != nil || period != 100 || runs != 4 || float64(e.Upper-e.Lower) > 1e-9 {
		t.Errorf("%v at %d of %d runs, %v; want %v", e, period, runs, err, want)
	}
	e, _, _, err = LateSlope([]lab.Row{row(0, 40, 2), row(1, 40, 2), row(0, 100, 5), row(1, 100, 3)}, 0)
	if se := 0.25 / math.Log(2.5); err != nil || math.Abs(e.StdErr()-se) > 1e-12 {
		t.Errorf("%v with standard error %v, %v; want %v", e, e.StdErr(), err, se)
	}
	if _, _, _, err := LateSlope([]lab.Row{row(0, 100, 5)}, 0); !errors.Is(err, ErrNoRows) {
		t.Error(err)
	}
}
