package stats_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// lognormal draws n pairs. The second numbers are on average times the first ones, and a share of both is common.
func lognormal(random *rand.Rand, n int, times float64) (a, b []float64) {
	for range n {
		both := random.NormFloat64()
		a = append(a, math.Exp(0.5*both+0.5*random.NormFloat64()))
		b = append(b, times*math.Exp(0.5*both+0.5*random.NormFloat64()))
	}
	return a, b
}

// The further a bound lies beyond the estimate, the smaller is the p-value. For bounds on the other side it is large.
func TestPValuesFall(t *testing.T) {
	a, b := lognormal(rand.New(rand.NewPCG(1, 2)), 64, 1.5)
	difference := make([]float64, len(a))
	for i := range a {
		difference[i] = a[i] - b[i]
	}
	for name, p := range map[string]stats.Paired{"ratio": stats.Ratio(a, b), "mean": stats.Mean(difference)} {
		step := math.Abs(p.Value) / 4
		for i := range 3 {
			far := step * float64(i)
			if low, next := p.PBelow(p.Value+far), p.PBelow(p.Value+far+step); i > 0 && low > 0.9 || next > low {
				t.Errorf("%s: got p-values %v and %v for bounds %v and %v above the estimate, want a decrease",
					name, low, next, far, far+step)
			}
			if p.PBelow(p.Value-far) < 0.4 || p.PAbove(p.Value+far) < 0.4 {
				t.Errorf("%s: got small p-values for a bound on the other side, by %v", name, far)
			}
		}
	}
}

// The inverse of a ratio has the test of the other side, and units do not matter.
func TestRatioIsSymmetric(t *testing.T) {
	a, b := lognormal(rand.New(rand.NewPCG(3, 4)), 24, 1)
	scaled := slices.Clone(a)
	for i := range scaled {
		scaled[i] *= 1000
	}
	one, other, thousand := stats.Ratio(a, b), stats.Ratio(b, a), stats.Ratio(scaled, b)
	for _, p := range []stats.Paired{stats.Ratio([]float64{1, 2}, []float64{0, 0}), stats.Mean([]float64{3, 3})} {
		if below, above := p.PBelow(3), p.PAbove(3); below != 1 || above != 1 { // a mean of zero, and equal runs
			t.Errorf("%v: got p-values %v and %v, want 1", p.Value, below, above)
		}
	}
	if p, q := one.PBelow(1.2), other.PAbove(1/1.2); math.Abs(p-q) > 1e-3 {
		t.Errorf("p-values of a ratio and of its inverse: %v and %v, want equal ones", p, q)
	}
	if p, q := one.PBelow(1.2), thousand.PBelow(1200); math.Abs(p-q) > 1e-3 {
		t.Errorf("in other units p = %v, want %v", q, p)
	}
}

// On lognormal pairs, a test at 0.05 rejects fewer than 5 of 100 true hypotheses, and most of the hypotheses that are
// false by a factor of two.
func TestLevelAndPower(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	random := rand.New(rand.NewPCG(5, 6))
	const samples = 200
	var wrong, right int
	for range samples {
		a, b := lognormal(random, 64, 1)
		p := stats.Ratio(a, b)
		if p.PBelow(1) <= 0.05 {
			wrong++
		}
		if p.PBelow(2) <= 0.05 {
			right++
		}
	}
	if t.Logf("%d of %d true hypotheses rejected, %d false ones", wrong, samples, right); wrong > 10 || right < 180 {
		t.Errorf("%d of %d true hypotheses rejected, want 10 at most; %d false ones, want 180 or more",
			wrong, samples, right)
	}
}

func TestEqualRuns(t *testing.T) {
	same := stats.Ratio([]float64{2, 2, 2}, []float64{2, 2, 2})
	if p, q := same.PBelow(1), same.PAbove(1); same.Value != 1 || p < 0.3 || q < 0.3 {
		t.Errorf("agents with the same regret: got p-values %v and %v, want large ones", p, q)
	}
}

func ExampleRatio() {
	linear, ensemble := []float64{10, 12, 9, 11, 10, 13}, []float64{30, 25, 41, 28, 33, 36}
	less := stats.Ratio(linear, ensemble)
	fmt.Printf("%.2f times the regret, p = %.1g\n", less.Value, less.PBelow(1))
	// Output: 0.34 times the regret, p = 0.0001
}

func ExampleMean() {
	gained := stats.Mean([]float64{3, 5, 4, 6, 2, 5, 4, 4})
	fmt.Printf("%.3g, p = %.1g\n", gained.Value, gained.PAbove(0))
	// Output: 4.12, p = 0.009
}

func ExampleHolm() {
	fmt.Println(stats.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06] [3 1 2]
}

// Equal numbers share the mean of their ranks.
func ExampleRankCorrelation() {
	fmt.Printf("%.3f\n", stats.RankCorrelation([]float64{1, 2, 3, 4}, []float64{20, 10, 40, 30}))
	fmt.Printf("%.3f\n", stats.RankCorrelation([]float64{3, 1, 3}, []float64{5, 4, 6}))
	// Output:
	// 0.600
	// 0.866
}

func ExampleRatioOfRegrets() {
	fmt.Println(stats.RatioOfRegrets([]float64{10, 12, 9, 11, 10, 13}, []float64{30, 25, 41, 28, 33, 36}))
	// Output: 0.3368 [0.204, 0.556]
}

// Numbers that are no pairs are refused.
func TestPairsOnly(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	for name, f := range map[string]func(){"Ratio": func() { stats.Ratio(one, two) },
		"RatioOfMeans": func() { stats.RatioOfMeans(one, two) }, "RatioOfRegrets": func() { stats.RatioOfRegrets(two, one) }} {
		func() {
			defer func() {
				if e := recover(); !strings.Contains(fmt.Sprint(e), "are no pairs") {
					t.Errorf("%s: got %v, want a panic about pairs", name, e)
				}
			}()
			f()
		}()
	}
}

// Files have texts for numbers that JSON lacks, and read them again. MarshalNull has null, and all else is the same.
func TestMarshalNull(t *testing.T) {
	type line struct {
		Agent string                 `json:"agent"`
		Mean  stats.Estimate         `json:"mean"`
		SE    *stats.Float           `json:"se"`
		None  *stats.Float           `json:"none,omitempty"`
		Other map[string]stats.Float `json:"other"`
	}
	nan := stats.Float(math.NaN())
	v := line{"a <b>", stats.Estimate{Value: 1e-9, Lower: nan, Upper: stats.Float(math.Inf(1))}, &nan, nil,
		map[string]stats.Float{"b": 2.5, "a": nan}}
	file, err := json.Marshal(v)
	want := `{"agent":"a \u003cb\u003e","mean":{"value":1e-09,"lower":"NaN","upper":"+Inf"},"se":"NaN",` +
		`"other":{"a":"NaN","b":2.5}}`
	if string(file) != want || err != nil {
		t.Errorf("a file: got %s, error %v, want %s", file, err, want)
	}
	want = strings.ReplaceAll(want, `"NaN"`, "null")
	if got, err := stats.MarshalNull(v); string(got) != want || err != nil {
		t.Errorf("MarshalNull: got %s, error %v, want %s", got, err, want)
	}
	if err := json.Unmarshal(file, &v); err != nil || !math.IsInf(float64(v.Mean.Upper), 1) {
		t.Errorf("reading: got %v, error %v", v.Mean, err)
	}
}

// One pair with a mean of zero proves nothing.
func TestRatioWithoutAMean(t *testing.T) {
	for _, r := range []stats.Estimate{stats.RatioOfRegrets([]float64{0}, []float64{3}),
		stats.RatioOfMeans([]float64{1, 2}, []float64{0, 0})} {
		if !math.IsNaN(float64(r.Lower)) || !math.IsNaN(float64(r.Upper)) {
			t.Errorf("got %v, want bounds that are NaN", r)
		}
	}
}
