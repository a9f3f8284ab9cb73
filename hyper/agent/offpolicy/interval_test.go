package offpolicy

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// unskewed is the inverse of Hall's transformation.
func TestUnskewed(t *testing.T) {
	for _, s := range []float64{-0.7, -0.01, 1e-6, 1e-8, 0, 0.2, 1} {
		for _, x := range []float64{-3, -1.96, 0, 0.5, 2.6} {
			y := unskewed(x, s)
			if g := y + s*y*y/3 + s*s*y*y*y/27 + s/6; math.Abs(g-x) > 1e-6 {
				t.Errorf("skewness %v: g(%v) = %v, want %v", s, y, g, x)
			}
		}
	}
}

// Without weights and skewness, Hall's interval is Student's.
func TestHallIsStudents(t *testing.T) {
	p, rewards := []float64{0.5, 0.5}, []float64{}
	var samples []Sample
	for i := range 100 {
		rewards = append(rewards, float64(i%4-i/4%2)) // skewed
		samples = append(samples, must.M1(NewSample(i%2, rewards[i], p, p, nil)))
	}
	v := must.M1(newEvidence(samples, IPS{}))
	v.skewness = 0
	lower, upper := must.M2(Hall{}.interval(v, 0.9))
	mean, deviation := stat.MeanStdDev(rewards, nil)
	half := distuv.StudentsT{Sigma: 1, Nu: v.freedom}.Quantile(0.95) * deviation / 10
	if !same(lower, mean-half) || !same(upper, mean+half) {
		t.Errorf("[%v, %v], want %v and %v about it", lower, upper, mean, half)
	}
	if want := stat.Skew(rewards, nil); math.Abs(must.M1(newEvidence(samples, IPS{})).skewness*10-want) > 0.05 {
		t.Errorf("the skewness of the mean differs from a tenth of the rewards' skewness %v", want)
	}
}

// With many decisions, the bootstrap's interval is close to Hall's. It differs between seeds, and is the same for one
// seed.
func TestBootstrap(t *testing.T) {
	samples := newWorld(1, bernoulli).log(newRand(), 5000)
	hall := must.M1(Evaluate(samples, SNIPS{}, Options{}))
	a := must.M1(Evaluate(samples, SNIPS{}, Options{Interval: Bootstrap{}}))
	b := must.M1(Evaluate(samples, SNIPS{}, Options{Interval: Bootstrap{Draws: 999}}))
	c := must.M1(Evaluate(samples, SNIPS{}, Options{Interval: Bootstrap{Seed: 1}}))
	if a != b || a == c {
		t.Errorf("intervals: got %v and %v with one seed, %v with another", a, b, c)
	}
	if math.Abs(a.Lower-hall.Lower) > 0.2*hall.StdErr || math.Abs(a.Upper-hall.Upper) > 0.2*hall.StdErr {
		t.Errorf("bootstrap interval %v, Hall's interval %v: want ends within 0.2 standard errors", a, hall)
	}
	two := four()[:2]
	if _, err := Evaluate(two, IPS{}, Options{Interval: Bootstrap{}, Least: 1e-9}); !errors.Is(err, ErrTooFew) {
		t.Errorf("two samples, half of whose resamples have no spread: got error %v, want ErrTooFew", err)
	}
	for _, bad := range []struct {
		b    Bootstrap
		want string
	}{
		{Bootstrap{Draws: -1}, "Bootstrap.Draws must be at least 1, got -1"},
		{Bootstrap{Draws: 38}, "Bootstrap.Draws is 38: want at least 39 for Options.Level 0.95"},
	} {
		if _, err := Evaluate(samples, SNIPS{}, Options{Interval: bad.b}); err == nil || err.Error() != bad.want {
			t.Errorf("error is %v, want %v", err, bad.want)
		}
	}
}

// The interval equals theorem 4 of Maurer and Pontil computed by hand, with 2.5% on each side, rewards in [0, 1] and
// weights up to 2.
func TestBernsteinByHand(t *testing.T) {
	samples := repeated(10000, func(i int, reward float64) Sample {
		return must.M1(NewSample(i%2, reward, []float64{0.5, 0.5}, []float64{0.75, 0.25}, []float64{0.5, 0.5}))
	})
	log := math.Log(2 / 0.025)
	for _, k := range []struct {
		e            Estimator
		low          float64
		lower, upper float64 // how far the terms of either side may be apart, with what is left out
		blind        float64
	}{
		{IPS{}, 0, 2, 3, 0},
		{IPS{Clip: 1}, 0, 1, 2, 0.25},
		{IPS{Clip: 1}, -1, 3, 3, 0.25},
		{DoublyRobust{}, 0, 6, 6, 0},
	} {
		got := must.M1(Evaluate(samples, k.e, Options{Interval: Bernstein{Low: k.low, High: 1, MaxWeight: 2}}))
		lower := got.Value + k.low*k.blind - math.Sqrt(2*log)*got.StdErr - 7*k.lower*log/3/9999
		upper := got.Value + k.blind + math.Sqrt(2*log)*got.StdErr + 7*k.upper*log/3/9999
		if !same(got.Lower, lower) || !same(got.Upper, upper) || !same(got.Blind, k.blind) {
			t.Errorf("%v: %v, want [%v, %v]", k.e, got, lower, upper)
		}
	}
}

func TestBernsteinBadInput(t *testing.T) {
	for _, k := range []struct {
		e    Estimator
		b    Bernstein
		want string
	}{
		{IPS{}, Bernstein{Low: 1, High: 1}, "Bernstein: rewards from 1 to 1: want finite bounds, Low below High"},
		{IPS{}, Bernstein{High: math.Inf(1)}, "Bernstein: rewards from 0 to +Inf: want finite bounds, Low below High"},
		{IPS{}, Bernstein{High: 8, MaxWeight: -1}, "Bernstein.MaxWeight must be finite and not negative, got -1"},
		{IPS{}, Bernstein{High: 8}, "Bernstein.MaxWeight is 0: want the largest weight that can occur, one over the smallest " +
			"probability that the log gives an action, or a bound of the estimator such as IPS.Clip"},
		{SNIPS{}, Bernstein{High: 8, MaxWeight: 5}, "snips has no Bernstein interval, because it is not a mean of bounded terms: " +
			"use IPS, DoublyRobust or Switch, or another Interval"},
		{IPS{}, Bernstein{High: 7, MaxWeight: 5}, "decision 3 has reward 8, outside the Bernstein bounds 0 and 7"},
		{Switch{}, Bernstein{Low: 0.5, High: 8, MaxWeight: 2}, "decision 2 gives action 0 a weight of 3.75, above " +
			"Bernstein.MaxWeight, 2"},
		{DoublyRobust{}, Bernstein{Low: 3, High: 8, MaxWeight: 5}, "decision 0 has reward 1, outside the Bernstein " +
			"bounds 3 and 8"},
	} {
		if _, err := Evaluate(four(), k.e, Options{Interval: k.b}); err == nil || err.Error() != k.want {
			t.Errorf("error is %v, want %v", err, k.want)
		}
	}
	far := four()
	far[1].predicted = 9
	if _, err := Evaluate(far, DoublyRobust{}, Options{Interval: Bernstein{High: 8, MaxWeight: 5}}); err == nil {
		t.Error("prediction outside the bounds: got no error")
	}
	if _, err := Evaluate(far, IPS{}, Options{Interval: Bernstein{High: 8, MaxWeight: 5}}); err != nil {
		t.Error("IPS, which uses no predictions: got error:", err)
	}
}

// The moments of products and sums of independent numbers equal the moments over all pairs.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) (x []float64) {
		for range n {
			x = append(x, math.Exp(2*r.NormFloat64())-1)
		}
		return x
	}
	x, y := draw(5), draw(7)
	var products, sums []float64
	for _, a := range x {
		for _, b := range y {
			products, sums = append(products, a*b), append(sums, a+b)
		}
	}
	mx, my := momentsOf(x, 1), momentsOf(y, 1)
	for _, k := range []struct{ got, want moments }{
		{mx.times(my), momentsOf(products, 1)},
		{mx.plus(my), momentsOf(sums, 1)},
		{momentsOf(x, 2), moments{mx.mean / 2, mx.second / 4, mx.third / 8, mx.fourth / 16}},
	} {
		for i, got := range []float64{k.got.mean, k.got.second, k.got.third, k.got.fourth} {
			want := []float64{k.want.mean, k.want.second, k.want.third, k.want.fourth}[i]
			if math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%+v, want %+v", k.got, k.want)
				break
			}
		}
	}
	var p powers
	for _, v := range x {
		p.add(1, v-3)
	}
	if got := p.moments(len(x), 3); math.Abs(got.fourth/mx.fourth-1) > 1e-6 || math.Abs(got.mean-mx.mean) > 1e-9 {
		t.Errorf("from powers above 3 %+v, want %+v", got, mx)
	}
	fair := moments{second: 1, fourth: 3} // normal
	if fair.freedom(100) != 99 || (moments{}).freedom(100) != 0 {
		t.Errorf("freedom of 100 normal numbers: got %v, want 99", fair.freedom(100))
	}
}
