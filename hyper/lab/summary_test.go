package lab

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

// toy is a setting that only summaries use: its agent knows nothing but its computation.
type toy struct {
	Arms int `key:"arms" help:"arms"`
}

type toyAgent struct {
	Agent
	arms, periods int
}

func (s *toy) Validate() error { return nil }
func (s *toy) Build(periods int) (Environment, Agent) {
	return nil, toyAgent{arms: s.Arms, periods: periods}
}
func (a toyAgent) Computation() float64 { return float64(a.arms * a.periods) }

func toyHeader(entries int) Header {
	h := Header{Backend: "go", Spec: Spec{Experiment: "toys", Periods: 100, Runs: 4, Seed: 7}}
	for i := range entries {
		h.Spec.Entries = append(h.Spec.Entries, Entry{Agent: "toy", Setting: &toy{Arms: i + 2}})
	}
	return h
}

// rowsOf makes the rows of an entry: regrets[run][i] at periods 10, 100, ...
func rowsOf(entry int, regrets ...[]float64) (rows []Row) {
	for run, r := range regrets {
		for i, x := range r {
			rows = append(rows, Row{Entry: entry, Run: run, Seed: 7 + uint64(run), Period: []int{10, 100}[i], Regret: Float(x)})
		}
	}
	return rows
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-4*math.Max(1, math.Abs(want)) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// nearP is near for a statistic that may be missing, which want says by NaN.
func nearP(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if (got == nil) != math.IsNaN(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	} else if got != nil {
		near(t, what, *got, want)
	}
}

func summarize(t *testing.T, rows []Row) Summary {
	t.Helper()
	s, err := Summarize(toyHeader(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func TestSummarize(t *testing.T) {
	rows := rowsOf(0, []float64{1, 2}, []float64{1, 4}, []float64{1, 9}, []float64{1, 500})
	rows[6].Diverged = 3 // run 3, already at period 10
	s := summarize(t, rows)
	if s.Runs != 4 || s.Diverged != 1 || s.Periods != 100 || s.Seed != 7 || s.Backend != "go" || s.Experiment != "toys" || s.Settings["arms"] != 2 {
		t.Errorf("got %+v", s)
	}
	near(t, "computation", s.Computation, 200)           // 2 arms x 100 periods of the Spec
	nearP(t, "mean", s.Cumulative, 5)                    // (2+4+9)/3
	nearP(t, "se", s.CumulativeSE, 2.081666)             // variance (9+1+16)/2 = 13; sqrt(13/3)
	nearP(t, "median", s.CumulativeMedian, 4)            // of 2, 4, 9
	nearP(t, "average", s.Average, 0.05)                 // 5/100
	nearP(t, "se of the average", s.AverageSE, 0.020817) // sqrt(13/3)/100
}

func TestSummarizeUnfinished(t *testing.T) {
	s := summarize(t, rowsOf(0, []float64{1, 2}, []float64{3}, []float64{8, 9})) // run 1 has only reached period 10
	if s.Periods != 10 || s.Runs != 3 {
		t.Errorf("got %d runs to period %d, want 3 to 10", s.Runs, s.Periods)
	}
	nearP(t, "mean", s.Cumulative, 4)          // (1+3+8)/3
	nearP(t, "average", s.Average, 0.4)        // over 10 periods, not the Spec's 100
	nearP(t, "median", s.CumulativeMedian, 3)  // of 1, 3, 8
	nearP(t, "se", s.CumulativeSE, 2.08166600) // variance (9+1+16)/2 = 13; sqrt(13/3)
}

func TestSummarizeFewRuns(t *testing.T) {
	one := summarize(t, rowsOf(0, []float64{1, 6}))
	nearP(t, "mean of one", one.Cumulative, 6)
	nearP(t, "median of one", one.CumulativeMedian, 6)
	nearP(t, "se of one", one.CumulativeSE, math.NaN())
	two := summarize(t, rowsOf(0, []float64{1, 6}, []float64{1, 9}))
	nearP(t, "median of two", two.CumulativeMedian, 7.5) // between 6 and 9

	rows := rowsOf(0, []float64{1, math.NaN()}) // regret that is not finite is divergence too
	none := summarize(t, rows)
	if none.Runs != 1 || none.Diverged != 1 {
		t.Errorf("got %+v", none)
	}
	text, err := json.Marshal(none)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"experiment":"toys","agent":"toy","settings":{"arms":2},"runs":1,"periods":100,"seed":7,"backend":"go",` +
		`"average_regret":null,"average_regret_se":null,"cumulative_regret":null,"cumulative_regret_se":null,` +
		`"cumulative_regret_median":null,"diverged":1,"computation":200}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestSummarizeNothing(t *testing.T) {
	if _, err := Summarize(toyHeader(2), rowsOf(0, []float64{1})); !errors.Is(err, ErrNoRows) {
		t.Errorf("an entry without rows: got %v", err)
	}
	rows := []Row{{Run: 0, Seed: 1, Period: 1}, {Run: 1, Seed: 2, Period: 2}}
	if _, err := Summarize(toyHeader(1), rows); !errors.Is(err, ErrNoRows) {
		t.Errorf("no common period: got %v", err)
	}
}

func TestCurves(t *testing.T) {
	rows := rowsOf(0, []float64{1, 2}, []float64{2, 4}, []float64{9, 9}, []float64{50, 60})
	rows[7].Diverged = 90 // run 3, only after period 10: the curve is over the same runs everywhere
	rows = append(rows, rowsOf(1, []float64{5, 6})...)
	curves := Curves(toyHeader(3), rows)
	c := curves[0]
	if len(curves) != 3 || c.Runs != 3 || c.Diverged != 1 || len(c.Periods) != 2 || c.Periods[1] != 100 {
		t.Fatalf("got %+v", curves)
	}
	near(t, "mean at 10", c.Mean[0], 4)                    // (1+2+9)/3
	near(t, "mean at 100", c.Mean[1], 5)                   // (2+4+9)/3
	near(t, "half-width", c.HalfWidth[1], 8.956686)        // t(0.975; 2) = 4.302653 (tables) times sqrt(13/3)
	near(t, "median", c.Median[1], 4)                      // of 2, 4, 9
	near(t, "lower quartile", c.Lower[1], 3)               // halfway from 2 to 4 (type 7)
	near(t, "upper quartile", c.Upper[1], 6.5)             // halfway from 4 to 9
	near(t, "one run", curves[1].Mean[1], 6)               //
	near(t, "one run", curves[1].Lower[1], 6)              //
	near(t, "one run", curves[1].HalfWidth[1], math.NaN()) // no interval
	if len(curves[2].Periods) != 0 || curves[2].Settings["arms"] != 4 {
		t.Errorf("an entry without rows: got %+v", curves[2])
	}
}

func TestPairedDifference(t *testing.T) {
	a := rowsOf(0, []float64{1, 3}, []float64{1, 5}, []float64{1, 10}, []float64{1, 70}) // run 3 has no partner
	b := rowsOf(1, []float64{1, 2}, []float64{1, 2}, []float64{1, 5})
	d, err := PairedDifference(append(a, b...), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Pairs != 3 || d.Unpaired != 1 || d.Diverged != 0 || d.Period != 100 {
		t.Errorf("got %+v", d)
	}
	near(t, "mean", float64(d.Mean), 3)           // of 1, 3, 5
	near(t, "lower", float64(d.Lower), -1.968275) // sd 2; 3 - 4.302653 x 2/sqrt(3)
	near(t, "upper", float64(d.Upper), 7.968275)
	near(t, "ratio", float64(d.Ratio), 2)            // 18/9
	near(t, "ratio", float64(d.RatioLower), 1.5)     // the least of the 27 resamples, all of pair 0: 3/2, of probability 1/27 > 2.5%
	near(t, "ratio", float64(d.RatioUpper), 5.0/2.0) // the greatest, all of pair 1: 5/2, likewise
	if again, _ := PairedDifference(append(a, b...), 0, 1); again != d {
		t.Errorf("not reproducible: %+v and %+v", d, again)
	}
}

func TestPairedDifferenceLeavesOut(t *testing.T) {
	a := rowsOf(0, []float64{4, 8}, []float64{1, 5}, []float64{1, 2})
	b := rowsOf(1, []float64{1}, []float64{1, 2}, []float64{1, 2}) // run 0 unfinished
	a[3].Diverged, b[4].Diverged = 50, 20                          // run 1 in A, run 2 in B
	d, err := PairedDifference(append(a, b...), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Pairs != 1 || d.Diverged != 2 || d.Period != 10 {
		t.Errorf("got %+v", d)
	}
	near(t, "mean", float64(d.Mean), 3)   // 4 - 1 at period 10
	near(t, "ratio", float64(d.Ratio), 4) // 4 / 1
	near(t, "lower", float64(d.Lower), math.NaN())
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
	if _, err := PairedDifference(a, 0, 1); !errors.Is(err, ErrNoRows) {
		t.Errorf("no pairs: got %v", err)
	}
}
