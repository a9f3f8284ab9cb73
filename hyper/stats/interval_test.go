package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestMeanRegret(t *testing.T) {
	// mean 21, standard error 19.5021, t(0.975; 2) = 4.302653: Student's interval would be from -62.9 to 104.9
	e := MeanRegret([]float64{1, 2, 60})
	near(t, "mean", float64(e.Value), 21)
	near(t, "lower", float64(e.Lower), 21/math.Exp((1+1/math.Sqrt(3))*4.302653*19.502137/21))
	near(t, "upper", float64(e.Upper), 21*math.Exp((1+1/math.Sqrt(3))*4.302653*19.502137/21))
	for name, c := range map[string]struct {
		regrets             []float64
		value, lower, upper float64
	}{
		"none":      {nil, math.NaN(), math.NaN(), math.NaN()},
		"one":       {[]float64{3}, 3, math.NaN(), math.NaN()},
		"equal":     {[]float64{3, 3, 3}, 3, 3, 3},
		"zeros":     {[]float64{0, 0, 0}, 0, 0, 0},
		"no number": {[]float64{3, math.NaN(), 3}, math.NaN(), math.NaN(), math.NaN()},
	} {
		e := MeanRegret(c.regrets)
		near(t, name, float64(e.Value), c.value)
		near(t, name+": lower", float64(e.Lower), c.lower)
		near(t, name+": upper", float64(e.Upper), c.upper)
	}
}

// MeanRegret's interval is never below zero. For heavy-tailed regrets it covers the mean at least about as often as
// Student's interval and percentiles of a bootstrap. It errs less often on the side that claims concern: an upper end
// below the mean. It still covers less than 95% if the tail is heavy and runs are few: no method that was tried covers
// as much with intervals of a useful length. (The bootstrap of the t statistic covers 0.85 to 0.95 of the worst cases
// here, with intervals of 2 to 50 times the mean.)
func TestCoverageOfMeanRegret(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	random := rand.New(rand.NewPCG(3, 4))
	lognormal := func(deviation float64) func() float64 {
		return func() float64 { return math.Exp(deviation * random.NormFloat64()) }
	}
	fails := func(share, times float64) func() float64 { // an agent that fails on some seeds
		return func() float64 {
			x := 1 + 0.35*random.NormFloat64()
			if random.Float64() < share {
				x *= times
			}
			return math.Abs(x)
		}
	}
	for _, c := range []struct {
		name  string
		draw  func() float64
		mean  float64
		least map[int]float64 // least coverage by the number of runs: the coverage of 1,500 samples, minus about 0.04
	}{
		{"light", fails(0, 1), 1, map[int]float64{10: 0.9, 20: 0.9, 60: 0.9}},
		{"exponential", random.ExpFloat64, 1, map[int]float64{10: 0.88, 20: 0.89, 60: 0.9}},
		{"lognormal", lognormal(1), math.Exp(0.5), map[int]float64{10: 0.84, 20: 0.86, 60: 0.88}},
		{"a fifth fail", fails(0.2, 10), 2.8, map[int]float64{10: 0.8, 20: 0.88, 60: 0.9}},
	} {
		for _, runs := range []int{10, 20, 60} {
			covered := coverage(c.draw, c.mean, runs, 400)
			text := fmt.Sprintf("%s, %d runs: covers %.3f, Student's %.3f, percentiles %.3f; ends below the mean "+
				"%.3f, Student's %.3f", c.name, runs,
				covered.log, covered.student, covered.percentiles, covered.short, covered.shortStudent)
			t.Log(text)
			if covered.negative > 0 {
				t.Errorf("%s: %d intervals begin below zero", text, covered.negative)
			}
			if covered.log < c.least[runs] || covered.log < covered.student-0.015 ||
				covered.log < covered.percentiles-0.015 || covered.short > covered.shortStudent {
				t.Error(text)
			}
		}
	}
}

// covers holds, by method, the shares of samples whose interval contains the mean and whose upper end is below it.
type covers struct {
	log, student, percentiles, short, shortStudent float64
	negative                                       int
}

// coverage counts over samples of n runs.
func coverage(draw func() float64, mean float64, runs, samples int) (c covers) {
	one := 1 / float64(samples)
	for range samples {
		x := make([]float64, runs)
		for i := range x {
			x[i] = draw()
		}
		add := func(share *float64, yes bool) {
			if yes {
				*share += one
			}
		}
		e := MeanRegret(x)
		add(&c.log, float64(e.Lower) <= mean && mean <= float64(e.Upper))
		add(&c.short, float64(e.Upper) < mean)
		if e.Lower < 0 {
			c.negative++
		}
		m, se := MeanSE(x)
		half := halfWidth(se, runs, usual)
		add(&c.student, math.Abs(m-mean) <= half)
		add(&c.shortStudent, m+half < mean)
		lower, upper := percentilesOfMean(x)
		add(&c.percentiles, lower <= mean && mean <= upper)
	}
	return c
}

// percentilesOfMean returns the bootstrap's percentile interval of a mean, for comparison with Student's interval.
func percentilesOfMean(x []float64) (lower, upper float64) {
	random := rand.New(rand.NewPCG(1, 2))
	draws := make([]float64, 500)
	for r := range draws {
		for range x {
			draws[r] += x[random.IntN(len(x))] / float64(len(x))
		}
	}
	return Quantile(draws, (1-Level)/2), Quantile(draws, (1+Level)/2)
}

// The interval of a median covers it for every distribution, including those with heavy tails. The interval of a share
// covers on average over the shares. Its coverage at one share is computed exactly, because the number of failed runs
// is binomial. It is below the level for some shares, as for every interval that is not too long for the others. If no
// run failed, the share may still be more than zero.
func TestMedianAndShareCover(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const samples = 4000
	for _, n := range []int{8, 24, 60, 100} {
		var medians, shares float64
		for range samples {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Exp(2 * random.NormFloat64())
			}
			if e := Median(x); float64(e.Lower) <= 1 && 1 <= float64(e.Upper) {
				medians += 1. / samples
			}
		}
		worst, at := 1., 0.
		for i := 1; i < 100; i++ {
			p := float64(i) / 100
			covered := shareCovers(p, n)
			shares += covered / 99
			if covered < worst {
				worst, at = covered, p
			}
		}
		t.Logf("%d runs: medians %.3f, shares %.3f (least %.3f, at %.2f)", n, medians, shares, worst, at)
		if medians < 0.94 || medians > 0.97 {
			t.Errorf("%d runs: intervals of medians cover %.3f", n, medians)
		}
		if shares < 0.94 || shares > 0.97 || worst < 0.8 {
			t.Errorf("%d runs: intervals of shares cover %.3f, and %.3f at %.2f", n, shares, worst, at)
		}
	}
	if e := Median([]float64{1, 2, 3, 4, 5}); e.Value != 3 || !math.IsNaN(float64(e.Lower)) {
		t.Errorf("the median of five numbers is %v, which need no interval", e)
	}
	if e := Median([]float64{1, 2, 3, math.NaN(), 5, 6, 7}); e.String() != "NaN [-, -]" {
		t.Errorf("with a regret that is no number: %v", e)
	}
	for n := 1; n < 60; n++ {
		if none, all := Share(0, n), Share(n, n); none.Lower != 0 || all.Upper != 1 {
			t.Errorf("of %d none has the interval %v, all %v", n, none, all)
		}
	}
	if e := Share(0, 60); e.Lower != 0 || e.Upper < 0.05 || e.Upper > 0.07 {
		t.Errorf("the interval of 0 of 60 is %v", e)
	}
}

// shareCovers returns the probability that the interval of a share of n runs contains the true share p.
func shareCovers(p float64, n int) (covered float64) {
	fails := distuv.Binomial{N: float64(n), P: p}
	for k := range n + 1 {
		if e := Share(k, n); float64(e.Lower) <= p && p <= float64(e.Upper) {
			covered += fails.Prob(float64(k))
		}
	}
	return covered
}

func TestEstimateAsText(t *testing.T) {
	for want, e := range map[string]Estimate{
		"2 [1, 3]": {Value: 2, Lower: 1, Upper: 3}, "2 [-, -]": Median([]float64{1, 2, 3}),
	} {
		if got := e.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, e := range map[string]Estimate{
		"0.077 [0.061, 0.093]": {Value: 0.07686, Lower: 0.06061, Upper: 0.09311},
		"120 [99, 1500]":       {Value: 123, Lower: 98.7, Upper: 1496},
		"100 [20, 120000]":     {Value: 99.7, Lower: 20, Upper: 123456},
		"2.0 [-, -]":           Median([]float64{1, 2, 3}),
	} {
		if got := e.Rounded(2); got != want {
			t.Errorf("with two digits %s, want %s", got, want)
		}
	}
}

// near reports an error unless two numbers are equal, up to a ten-thousandth, or both NaN.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= 1e-4*math.Max(1, math.Abs(want))) &&
		!(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
