package agent

import "math"

// bets are the alternatives that a detector bets on: rewards are off by a shift, in deviations of what is predicted, or
// Spread more widely by a factor, as they are where some actions become better and others worse. Half of the money is
// on each kind.
var (
	shifts  = []float64{-2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2}
	spreads = []float64{1.25, 1.5, 2, 3}
)

// detector is what a test of change knows. It is the Shiryaev-Roberts e-detector of Shin, Ramdas and Rinaldo (2024,
// "E-detectors: a nonparametric framework for sequential change detection"): for each bet j and each datum
//
//	R_j <- (R_j + 1) L_j(r)
//
// with the likelihood ratio L_j of the bet against r ~ N(0, 1). Where no bet has an expectation above 1 given the past,
// the mean R of all minus the number of data is a supermartingale: the first R of at least A comes after A data or more
// in the mean, and within n data with probability n/A at most.
type detector struct {
	Evidence []float64 // R_j
	Squares  float64   // sum of squared residuals, and their number
	Residual int
	Seen     int // data observed, of all beliefs
	Alarms   int
	Last     int // datum of the last alarm, from 1
}

// settled is how many residuals tell their scale before there are bets.
const settled = 30

// scale is the deviation of residuals so far, or 1 where that is more: a noise that is larger than the learner takes it
// to be is no change.
func (d detector) scale() float64 { return math.Sqrt(max(1, d.Squares/float64(d.Residual))) }

// next is the detector after a residual, and the evidence R.
func (d detector) next(residual float64) (detector, float64) {
	before := d
	d.Squares, d.Residual = d.Squares+residual*residual, d.Residual+1
	if d.Residual <= settled {
		return d, 0
	}
	r := residual / before.scale()
	d.Evidence = make([]float64, len(shifts)+len(spreads))
	copy(d.Evidence, before.Evidence)
	move := func(j int, logRatio float64) { d.Evidence[j] = (d.Evidence[j] + 1) * math.Exp(logRatio) }
	for j, shift := range shifts {
		move(j, shift*r-shift*shift/2)
	}
	for j, k := range spreads {
		move(len(shifts)+j, r*r*(1-1/(k*k))/2-math.Log(k))
	}
	return d, d.evidence()
}

// evidence is R: the mean over the bets, half of it for each kind.
func (d detector) evidence() (sum float64) {
	for j, r := range d.Evidence {
		if j < len(shifts) {
			sum += r / float64(2*len(shifts))
		} else {
			sum += r / float64(2*len(spreads))
		}
	}
	return sum
}

// alarmed is the detector after an alarm, which begins anew.
func (d detector) alarmed() detector {
	return detector{Seen: d.Seen, Alarms: d.Alarms + 1, Last: d.Seen}
}

// valid tells whether a file's detector can be one.
func (d detector) valid() bool {
	n := len(d.Evidence)
	for _, r := range append([]float64{d.Squares}, d.Evidence...) {
		if !(r >= 0) || math.IsInf(r, 1) {
			return false
		}
	}
	return (n == 0 || n == len(shifts)+len(spreads)) && d.Residual >= 0 && d.Residual <= d.Seen &&
		d.Last >= 0 && d.Last <= d.Seen && d.Alarms >= 0 && d.Alarms <= d.Seen
}
