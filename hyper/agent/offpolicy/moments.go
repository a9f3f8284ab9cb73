package offpolicy

import "gonum.org/v1/gonum/floats"

// moments are the mean of a random number, and its second, third and fourth central moments.
type moments struct{ mean, second, third, fourth float64 }

// times are the moments of the product of two independent numbers, x and y: with central parts u and v it is
// x mean(y) + mean(x) v + u v, and powers are multiplied out. No difference of large numbers is taken.
func (x moments) times(y moments) moments {
	a, b := x.mean, y.mean
	square, cube := a*a+x.second, a*a*a+3*a*x.second+x.third // of x, not central
	fourth := a*a*a*a + 6*a*a*x.second + 4*a*x.third + x.fourth
	return moments{
		mean:   a * b,
		second: square*y.second + b*b*x.second,
		third:  cube*y.third + b*b*b*x.third + 3*b*y.second*(x.third+2*a*x.second),
		fourth: fourth*y.fourth + b*b*b*b*x.fourth +
			4*b*y.third*(3*a*a*x.second+3*a*x.third+x.fourth) +
			6*b*b*y.second*(a*a*x.second+2*a*x.third+x.fourth),
	}
}

// plus are the moments of the sum of two independent numbers.
func (x moments) plus(y moments) moments {
	return moments{x.mean + y.mean, x.second + y.second, x.third + y.third,
		x.fourth + y.fourth + 6*x.second*y.second}
}

// powers are sums of the first four powers of numbers.
type powers [4]float64

// add adds the powers of a number that comes with a probability.
func (p *powers) add(probability, x float64) {
	for k := range p {
		probability *= x
		p[k] += probability
	}
}

// moments are those of n numbers, of which the powers of what they are above a centre were added.
func (p powers) moments(n int, centre float64) moments {
	for k := range p {
		p[k] /= float64(n)
	}
	a, b, c, d := p[0], p[1], p[2], p[3]
	return moments{centre + a, max(0, b-a*a), c - 3*a*b + 2*a*a*a, max(0, d-4*a*c+6*a*a*b-3*a*a*a*a)}
}

// momentsOf are the moments of numbers in units of scale.
func momentsOf(x []float64, scale float64) moments {
	mean := floats.Sum(x) / float64(len(x)) / scale
	var p powers
	for _, v := range x {
		p.add(1, v/scale-mean)
	}
	return p.moments(len(x), mean)
}

// freedom is that of the estimate of the variance of n numbers, which varies by (kurtosis - 1) / n of its square: 0
// where there is none, or the moments are not finite.
func (x moments) freedom(n int) float64 {
	f := min(float64(n-1), 2*float64(n)/max(0, x.fourth/x.second/x.second-1))
	if !(f > 0) {
		return 0
	}
	return f
}
