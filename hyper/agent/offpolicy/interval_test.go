package offpolicy

import (
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

// Without weights and skewness, the interval is Student's.
func TestHallIsStudents(t *testing.T) {
	p, rewards := []float64{0.5, 0.5}, []float64{}
	var samples []Sample
	for i := range 100 {
		rewards = append(rewards, float64(i%4-i/4%2)) // skewed
		samples = append(samples, must.M1(NewSample(i%2, rewards[i], p, p, nil)))
	}
	v := must.M1(newEvidence(samples, IPS{}))
	v.skewness = 0
	lower, upper := v.interval(0.9)
	mean, deviation := stat.MeanStdDev(rewards, nil)
	half := distuv.StudentsT{Sigma: 1, Nu: v.freedom}.Quantile(0.95) * deviation / 10
	if !same(lower, mean-half) || !same(upper, mean+half) {
		t.Errorf("[%v, %v], want %v and %v about it", lower, upper, mean, half)
	}
	if want := stat.Skew(rewards, nil); math.Abs(must.M1(newEvidence(samples, IPS{})).skewness*10-want) > 0.05 {
		t.Errorf("the skewness of the mean differs from a tenth of the rewards' skewness %v", want)
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
