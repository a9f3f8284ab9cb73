package testbed

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Missing is what a problem counts for an agent that has no finite divergence in it.
const Missing = 1e6

// Counted is what a divergence counts: negative ones, which are errors of the estimate, are 0.
func Counted(kl float64) float64 {
	if math.IsNaN(kl) || math.IsInf(kl, 0) {
		return Missing
	}
	return max(kl, 0)
}

// Score is what an agent got in the problems of a sweep, at one tau.
type Score struct {
	KL []float64 // of each problem, in the order of the sweep, as it counts

	classes [][]float64 // the same by seed class
}

// Score counts an agent's divergences, by the numbers of problems; it may lack some.
func (s Sweep) Score(kl map[int]float64) Score {
	out := Score{classes: make([][]float64, max(s.Seeds, 1))}
	for _, p := range s.Problems {
		x, ok := kl[p.Number]
		if !ok {
			x = math.NaN()
		}
		out.KL = append(out.KL, Counted(x))
		class := &out.classes[s.class(p)]
		*class = append(*class, Counted(x))
	}
	return out
}

// Mean is the testbed's score before it is divided by another agent's: the mean over problems, in nats.
func (s Score) Mean() float64 { return stat.Mean(s.KL, nil) }

// StdErr is the standard error of Mean, by the means of seed classes: the i-th problems of all settings are a class, so
// that classes differ by chance only. It is NaN for a single class.
func (s Score) StdErr() float64 {
	var means []float64
	for _, class := range s.classes {
		if len(class) > 0 {
			means = append(means, stat.Mean(class, nil))
		}
	}
	return stat.StdErr(stat.StdDev(means, nil), float64(len(means)))
}

// Over is the score as it is published: the mean over that of a baseline, and its standard error with the baseline's
// mean taken as known. The testbed's code takes the uniform agent as baseline, its papers take the agent mlp.
func (s Score) Over(baseline Score) (ratio, se float64) {
	return s.Mean() / baseline.Mean(), s.StdErr() / baseline.Mean()
}

// Paired is the mean over that of another agent in the same problems, with an interval from the pairs. The interval
// counts how much problems of different settings differ as if it was chance, and is too wide where the ratio depends on
// the setting.
func (s Score) Paired(other Score) lab.Estimate { return lab.RatioOfMeans(s.KL, other.KL) }
