package agent

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// The bets of a detector are alternatives to the standard normal distribution of its scores: a shift of the mean, or a
// larger standard deviation. A larger deviation occurs when some actions become better and others worse. Each kind of
// bet gets half of the weight.
var (
	shifts  = [...]float64{-2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2}
	spreads = [...]float64{1.25, 1.5, 2, 3}
)

const (
	early   = 10 // number of first errors that are ignored: the agent knows nothing yet
	settled = 30 // number of errors before the first bet; errors early+1 to settled estimate the scale
	octaves = 8  // number of classes for errors of one sign; each class covers twice the size of the last
)

// detector is the state of a test of change. It compares the error of a prediction with the earlier errors. So it needs
// neither the distribution of errors nor a correct belief.
//
// Errors early+1 to settled give the scale, the root of their mean square. Each later error belongs to one of 17
// classes: one class for errors below half the scale, and classes by sign and octave of size for larger errors. The
// last octave holds everything from 64 scales up. The classes are coarse so that learning does not trigger the test:
// errors that become smaller move to the middle.
//
// The rank of an error's class among the classes so far, including its own, with ties broken at random, is a p-value.
// While the errors are exchangeable, the p-values are independent and uniform, whatever the distribution of errors
// (Vovk, Nouretdinov and Gammerman 2003, "Testing exchangeability on-line"), and the normal score z of each is N(0, 1).
// The Shiryaev-Roberts e-detector of Shin, Ramdas and Rinaldo (2024, "E-detectors: a nonparametric framework for
// sequential change detection") bets on z. For each bet j
//
//	R_j <- (R_j + 1) L_j(z)
//
// where L_j is the likelihood ratio of the bet against N(0, 1). The weighted mean R of all R_j, minus the number of
// data, is then a martingale. So the mean number of data until R first reaches A is at least A, and the probability
// that this happens within n data is at most n/A.
//
// A file of an earlier version has only the counts of the data and of the alarms; the test then begins anew.
type detector struct {
	Wealth        [len(shifts) + len(spreads)]float64 // R_j
	SquaredErrors float64                             // sum of the squared errors that estimate the scale
	Errors        int                                 // number of errors since the test began, or since the last alarm
	Classes       [2*octaves + 1]int                  // number of errors of each class, after the first settled errors
	Seen          int                                 // number of data observed, also before restarts
	Alarms        int
	Last          int // number of the datum of the last alarm, counted from 1
}

// class returns the index of an error's class in Classes.
func (d detector) class(err float64) int {
	at, least := 0, math.Sqrt(d.SquaredErrors/(settled-early))/2
	for size := math.Abs(err); at < octaves && size > 0 && size >= least; at++ {
		least *= 2
	}
	if err < 0 {
		at = -at
	}
	return octaves + at
}

// next returns the detector after an error, and the evidence R. u breaks ties; it is uniform on (0, 1).
func (d detector) next(err, u float64) (detector, float64) {
	d.Errors++
	switch {
	case d.Errors <= early:
		return d, 0
	case d.Errors <= settled:
		d.SquaredErrors += err * err
		return d, 0
	}
	at, less := d.class(err), 0
	d.Classes[at]++
	for _, n := range d.Classes[:at] {
		less += n
	}
	z := distuv.UnitNormal.Quantile((float64(less) + u*float64(d.Classes[at])) / float64(d.Errors-settled))
	move := func(j int, logRatio float64) { d.Wealth[j] = (d.Wealth[j] + 1) * math.Exp(logRatio) }
	for j, shift := range shifts {
		move(j, shift*z-shift*shift/2)
	}
	for j, k := range spreads {
		move(len(shifts)+j, z*z*(1-1/(k*k))/2-math.Log(k))
	}
	return d, d.evidence()
}

// evidence returns R, the weighted mean over the bets: each kind of bet has weight 1/2.
func (d detector) evidence() (sum float64) {
	for j, r := range d.Wealth {
		if j < len(shifts) {
			sum += r / float64(2*len(shifts))
		} else {
			sum += r / float64(2*len(spreads))
		}
	}
	return sum
}

// valid reports whether a detector from a file is possible.
func (d detector) valid() bool {
	for _, r := range append(d.Wealth[:], d.SquaredErrors) {
		if !(r >= 0) || math.IsInf(r, 1) {
			return false
		}
	}
	after := 0
	for _, n := range d.Classes {
		if n < 0 {
			return false
		}
		after += n
	}
	return d.Errors >= 0 && d.Errors <= d.Seen && after == max(0, d.Errors-settled) &&
		d.Last >= 0 && d.Last <= d.Seen && d.Alarms >= 0 && d.Alarms <= d.Seen
}
