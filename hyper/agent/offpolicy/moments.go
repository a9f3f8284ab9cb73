package offpolicy

import "gonum.org/v1/gonum/floats"

// moments holds the mean of a random number, and its second, third and fourth central moments.
type moments struct{ mean, second, third, fourth float64 }

// times returns the moments of the product of two independent numbers x and y. With central parts u and v, the product
// is x mean(y) + mean(x) v + u v, whose powers are multiplied out. The formula takes no difference of large numbers.
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

// plus returns the moments of the sum of two independent numbers.
func (x moments) plus(y moments) moments {
	return moments{x.mean + y.mean, x.second + y.second, x.third + y.third,
		x.fourth + y.fourth + 6*x.second*y.second}
}

// powers holds sums of the first four powers of numbers.
type powers [4]float64

// add adds the powers of x, multiplied by its probability.
func (p *powers) add(probability, x float64) {
	for k := range p {
		probability *= x
		p[k] += probability
	}
}

// moments returns the moments of n numbers, after the powers of their differences from centre were added.
func (p powers) moments(n int, centre float64) moments {
	for k := range p {
		p[k] /= float64(n)
	}
	a, b, c, d := p[0], p[1], p[2], p[3]
	return moments{centre + a, max(0, b-a*a), c - 3*a*b + 2*a*a*a, max(0, d-4*a*c+6*a*a*b-3*a*a*a*a)}
}

// momentsOf returns the moments of numbers in units of scale.
func momentsOf(x []float64, scale float64) moments {
	mean := floats.Sum(x) / float64(len(x)) / scale
	var p powers
	for _, v := range x {
		p.add(1, v/scale-mean)
	}
	return p.moments(len(x), mean)
}

// freedom returns the degrees of freedom of the estimated variance of n numbers. The relative variance of that estimate
// is (kurtosis - 1) / n. The result is 0 if there are none, or if the moments are not finite.
func (x moments) freedom(n int) float64 {
	f := min(float64(n-1), 2*float64(n)/max(0, x.fourth/x.second/x.second-1))
	if !(f > 0) {
		return 0
	}
	return f
}
