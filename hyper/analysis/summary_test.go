package analysis

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// nearP is near for a statistic that may be missing, for which want is NaN.
func nearP(t *testing.T, what string, got *stats.Float, want float64) {
	t.Helper()
	if (got == nil) != math.IsNaN(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	} else if got != nil {
		toys.Near(t, what, float64(*got), want)
	}
}

func summarize(t *testing.T, rows []lab.Row) Summary {
	t.Helper()
	s := must.M1(Summarize(toys.Header(1), rows))
	return s[0]
}

func TestSummarize(t *testing.T) {
	s := summarize(t, toys.Rows(0, []float64{1, 2}, []float64{1, 4}, []float64{1, 9}))
	if s.Runs != 3 || s.Diverged != 0 || s.Periods != 100 || s.Seed != 7 || s.Backend != "go" ||
		s.Experiment != "toys" || s.Settings["arms"] != 2 {
		t.Errorf("got %+v", s)
	}
	toys.Near(t, "computation", s.Computation, 200)      // 2 arms x 100 periods of the Spec
	nearP(t, "mean", s.Cumulative, 5)                    // (2+4+9)/3
	nearP(t, "se", s.CumulativeSE, 2.081666)             // variance (9+1+16)/2 = 13; sqrt(13/3)
	nearP(t, "median", s.CumulativeMedian, 4)            // of 2, 4, 9
	nearP(t, "average", s.Average, 0.05)                 // 5/100
	nearP(t, "se of the average", s.AverageSE, 0.020817) // sqrt(13/3)/100
}

// A run that diverged counts with its regret.
func TestSummarizeDiverged(t *testing.T) {
	rows := toys.Rows(0, []float64{1, 2}, []float64{1, 4}, []float64{1, 9}, []float64{1, 5})
	rows[7].Diverged = 30
	s := summarize(t, rows)
	if s.Runs != 4 || s.Diverged != 1 {
		t.Errorf("%d runs, %d diverged, want 4 and 1", s.Runs, s.Diverged)
	}
	nearP(t, "mean", s.Cumulative, 5)
	nearP(t, "median", s.CumulativeMedian, 4.5)
}

func TestSummarizeUnfinished(t *testing.T) {
	s := summarize(t, toys.Rows(0, []float64{1, 2}, []float64{3}, []float64{8, 9})) // run 1 has only reached period 10
	if s.Periods != 10 || s.Runs != 3 {
		t.Errorf("got %d runs to period %d, want 3 to 10", s.Runs, s.Periods)
	}
	nearP(t, "mean", s.Cumulative, 4)          // (1+3+8)/3
	nearP(t, "average", s.Average, 0.4)        // over 10 periods, not the Spec's 100
	nearP(t, "median", s.CumulativeMedian, 3)  // of 1, 3, 8
	nearP(t, "se", s.CumulativeSE, 2.08166600) // variance (9+1+16)/2 = 13; sqrt(13/3)
}

func TestSummarizeFewRuns(t *testing.T) {
	one := summarize(t, toys.Rows(0, []float64{1, 6}))
	nearP(t, "mean of one", one.Cumulative, 6)
	nearP(t, "median of one", one.CumulativeMedian, 6)
	nearP(t, "se of one", one.CumulativeSE, math.NaN())
	two := summarize(t, toys.Rows(0, []float64{1, 6}, []float64{1, 9}))
	nearP(t, "median of two", two.CumulativeMedian, 7.5) // between 6 and 9

	none := summarize(t, toys.Rows(0, []float64{1, math.NaN()})) // regret that is NaN
	if none.Runs != 1 || none.Diverged != 0 {
		t.Errorf("got %+v", none)
	}
	text := must.M1(json.Marshal(none))
	const want = `{"experiment":"toys","agent":"toy","settings":{"arms":2,"delay":0},"runs":1,` +
		`"periods":100,"seed":7,"backend":"go",` +
		`"average_regret":null,"average_regret_se":null,"cumulative_regret":null,"cumulative_regret_se":null,` +
		`"cumulative_regret_median":null,"diverged":0,"computation":200}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestSummarizeNothing(t *testing.T) {
	if _, err := Summarize(toys.Header(2), toys.Rows(0, []float64{1})); !errors.Is(err, ErrNoRows) {
		t.Errorf("an entry without rows: got %v", err)
	}
	rows := []lab.Row{{Run: 0, Seed: 1, Period: 1}, {Run: 1, Seed: 2, Period: 2}}
	if _, err := Summarize(toys.Header(1), rows); !errors.Is(err, ErrNoRows) {
		t.Errorf("no common period: got %v", err)
	}
}

func TestCurves(t *testing.T) {
	rows := toys.Rows(0, []float64{1, 2}, []float64{2, 4}, []float64{9, 9})
	rows = append(rows, toys.Rows(1, []float64{5, 6})...)
	curves := Curves(toys.Header(3), rows)
	c := curves[0]
	if len(curves) != 3 || c.Runs != 3 || c.Diverged != 0 || len(c.Periods) != 2 || c.Periods[1] != 100 {
		t.Fatalf("got %+v", curves)
	}
	toys.Near(t, "mean at 10", c.Mean[0], 4)  // (1+2+9)/3
	toys.Near(t, "mean at 100", c.Mean[1], 5) // (2+4+9)/3
	// 5 exp(-2.825566): t(0.975; 2) = 4.302653 (tables) times sqrt(13/3), divided by 5, widened by 1 + 1/sqrt(3)
	toys.Near(t, "lower", c.MeanLower[1], 0.296375)
	toys.Near(t, "upper", c.MeanUpper[1], 84.352485)            // 5 exp(2.825566)
	toys.Near(t, "median", c.Median[1], 4)                      // of 2, 4, 9
	toys.Near(t, "lower quartile", c.Lower[1], 3)               // halfway from 2 to 4 (type 7)
	toys.Near(t, "upper quartile", c.Upper[1], 6.5)             // halfway from 4 to 9
	toys.Near(t, "one run", curves[1].Mean[1], 6)               //
	toys.Near(t, "one run", curves[1].Lower[1], 6)              //
	toys.Near(t, "one run", curves[1].MeanLower[1], math.NaN()) // no interval
	if len(curves[2].Periods) != 0 || curves[2].Settings["arms"] != 4 {
		t.Errorf("an entry without rows: got %+v", curves[2])
	}
	mean, period := c.Final()
	if none, at := curves[2].Final(); period != 100 || mean.Value != 5 || at != 0 || none.Value != 0 {
		t.Errorf("final means %v at %d, and %v at %d of no rows", mean, period, none, at)
	}
}

// A run that diverged counts with its regret, and is counted from the period in which it diverged.
func TestCurvesOfRunsThatDiverged(t *testing.T) {
	rows := toys.Rows(0, []float64{1, 2}, []float64{2, 4}, []float64{9, 9}, []float64{4, 5})
	rows[7].Diverged = 90 // run 3, after period 10
	c := Curves(toys.Header(1), rows)[0]
	if c.Runs != 4 || c.Diverged != 1 {
		t.Errorf("%d runs, %d diverged, want 4 and 1", c.Runs, c.Diverged)
	}
	toys.Near(t, "mean at 100", c.Mean[1], 5)
	toys.Near(t, "median", c.Median[1], 4.5)
}

func TestPairedDifference(t *testing.T) {
	a := toys.Rows(0, []float64{1, 3}, []float64{1, 5}, []float64{1, 10}, []float64{1, 70}) // run 3 has no partner
	b := toys.Rows(1, []float64{1, 2}, []float64{1, 2}, []float64{1, 5})
	d := must.M1(PairedDifference(append(a, b...), 0, 1))
	if d.Pairs != 3 || d.Diverged != [2]int{} || d.Period != 100 {
		t.Errorf("got %+v", d)
	}
	toys.Near(t, "mean", float64(d.Mean.Value), 3)          // of 1, 3, 5
	toys.Near(t, "lower", float64(d.Mean.Lower), -4.836711) // sd 2; 3 - w x 4.302653 x 2/sqrt(3)
	toys.Near(t, "upper", float64(d.Mean.Upper), 10.836711) // w is 1 + 1/sqrt(3)
	toys.Near(t, "share", float64(d.Share), 5.0/9)
	toys.Near(t, "ratio", float64(d.Ratio.Value), 2) // 18/9
	// a/6 - b/3 is -1/6, 1/6 and 0: sd 1/6; the ends are 2 exp(-+ w x 4.302653 / (6 sqrt(3))), with w = 0.84 +
	// 2.4/sqrt(3)
	toys.Near(t, "ratio", float64(d.Ratio.Lower), 0.795870)
	toys.Near(t, "ratio", float64(d.Ratio.Upper), 5.025945)
	if again, _ := PairedDifference(append(a, b...), 0, 1); again != d {
		t.Errorf("not reproducible: %+v and %+v", d, again)
	}
}

// Runs that diverged count with their regret, and are counted.
func TestPairedDifferenceWithRunsThatDiverged(t *testing.T) {
	a := toys.Rows(0, []float64{4, 8}, []float64{1, 5}, []float64{1, 6})
	b := toys.Rows(1, []float64{5, 20}, []float64{1, 22}, []float64{1, 25})
	rows := append(a, b...)
	whole := must.M1(PairedDifference(rows, 0, 1))
	rows[3].Diverged, rows[9].Diverged = 50, 60
	d, err := PairedDifference(rows, 0, 1)
	if err != nil || d.Diverged != [2]int{1, 1} {
		t.Errorf("%+v, %v", d, err)
	}
	if d.Diverged = [2]int{}; d != whole {
		t.Errorf("with diverged runs %+v, without %+v", d, whole)
	}
}

func TestPairedDifferenceErrors(t *testing.T) {
	// Run 0 of B is unfinished.
	a, b := toys.Rows(0, []float64{4, 8}, []float64{1, 5}), toys.Rows(1, []float64{1}, []float64{1, 2})
	d, err := PairedDifference(append(a, b...), 0, 1)
	if err != nil || d.Period != 10 || d.Pairs != 2 {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := PairedDifference(a, 0, 1); !errors.Is(err, ErrNoRows) {
		t.Errorf("no pairs: got %v", err)
	}
}

// The p-value of a bound is 1 minus the level at which the interval ends at the bound.
func TestPValue(t *testing.T) {
	rows := append(toys.Rows(0, []float64{1, 3}, []float64{1, 5}, []float64{1, 10}),
		toys.Rows(1, []float64{1, 2}, []float64{1, 2}, []float64{1, 5})...)
	d := must.M1(PairedDifference(rows, 0, 1))
	for _, e := range []stats.Estimate{d.Mean, d.Ratio, d.Ratio.Scaled(3), stats.MeanRegret([]float64{1, 2, 60})} {
		toys.Near(t, "p of the lower end", e.PValue(float64(e.Lower)), 0.05)
		toys.Near(t, "p of the upper end", e.PValue(float64(e.Upper)), 0.05)
		toys.Near(t, "p of the estimate", e.PValue(float64(e.Value)), 1)
	}
	if p := (stats.Estimate{Value: 1, Lower: 0, Upper: 2}).PValue(0); !math.IsNaN(p) {
		t.Errorf("p = %v of an interval that is not Student's", p)
	}
}

// Late regret is the regret after the last period that is at most half of the last one: here all but the first 10 of
// 100.
func TestLateDifference(t *testing.T) {
	rows := append(toys.Rows(0, []float64{1, 3}, []float64{2, 5}), toys.Rows(1, []float64{1, 2}, []float64{0, 5})...)
	d, from, err := LateDifference(rows, 0, 1)
	if err != nil || from != 10 || d.Period != 100 {
		t.Fatalf("from %d to %d, %v", from, d.Period, err)
	}
	toys.Near(t, "ratio", float64(d.Ratio.Value), 5.0/6) // (2 + 3) / (1 + 5)
	if _, _, err := LateDifference(rows, 0, 2); !errors.Is(err, ErrNoRows) {
		t.Errorf("no such entry: error %v", err)
	}
}
