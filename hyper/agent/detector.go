package agent

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// bets are the alternatives that a detector bets on: normal scores are off by a shift, or spread more widely by a
// factor, as they are where some actions become better and others worse. Half of the money is on each kind.
var (
	shifts  = [...]float64{-2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2}
	spreads = [...]float64{1.25, 1.5, 2, 3}
)

const (
	early   = 10 // errors that tell nothing: those of an agent that knows nothing
	settled = 30 // errors before there are bets; those after the early ones tell the scale
	octaves = 8  // classes of errors of one sign, each twice as large as the last
)

// detector is what a test of change knows. It compares the error of a prediction with the errors before it, and so
// needs neither their distribution nor a belief that is right.
//
// The first errors but the very first tell their scale, the root of their mean square. After them an error has one of
// 17 classes: below half the scale, or by its sign and the octave of its size, the last of which is everything from 64
// scales up. Classes that coarse keep what an agent learns out of the test: errors that become smaller move to the
// middle.
//
// The rank of an error's class among those so far, itself included and ties broken at random, is a p-value. While the
// errors are exchangeable p-values are independent and uniform, whatever the distribution (Vovk, Nouretdinov and
// Gammerman 2003, "Testing exchangeability on-line"), and the normal score z of each is N(0, 1). On z bets the
// Shiryaev-Roberts e-detector of Shin, Ramdas and Rinaldo (2024, "E-detectors: a nonparametric framework for sequential
// change detection"): for each bet j
//
//	R_j <- (R_j + 1) L_j(z)
//
// with the likelihood ratio L_j of the bet against N(0, 1). The mean R of all minus the number of data is then a
// martingale: the first R of at least A comes after A data or more in the mean, and within n data with probability n/A
// at most.
//
// A file from before December 2026 has the counts of the data and of the alarms alone: the test begins anew.
type detector struct {
	Wealth        [len(shifts) + len(spreads)]float64 // R_j
	SquaredErrors float64                             // the sum of those that tell the scale
	Errors        int                                 // since the test began, or began anew at an alarm
	Classes       [2*octaves + 1]int                  // how many errors after the first there are of each
	Seen          int                                 // data observed, of all beliefs
	Alarms        int
	Last          int // datum of the last alarm, from 1
}

// class is the place of an error in Classes.
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

// next is the detector after an error, and the evidence R. u breaks ties: a number uniform on (0, 1).
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

// evidence is R: the mean over the bets, half of it for each kind.
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

// alarmed is the detector after an alarm, which begins anew.
func (d detector) alarmed() detector {
	return detector{Seen: d.Seen, Alarms: d.Alarms + 1, Last: d.Seen}
}

// valid tells whether a file's detector can be one.
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
