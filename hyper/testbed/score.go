package testbed

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// missingScore is the score of a problem on which an agent has no finite divergence.
const missingScore = 1e6

// FiniteScore returns the score of a divergence: 0 for a negative divergence, which is an error of estimation, and a
// million for one that is not finite.
func FiniteScore(kl float64) float64 {
	if math.IsNaN(kl) || math.IsInf(kl, 0) {
		return missingScore
	}
	return max(kl, 0)
}

// scores holds an agent's scores on the problems of a sweep, at one tau.
type scores struct {
	KL []float64 // by problem, in the order of the sweep; see FiniteScore

	classes [][]float64 // the same by seed class
}

// score returns the scores of an agent from its divergences by problem number. A missing divergence counts as
// missingScore.
func (s Sweep) score(kl map[int]float64) scores {
	out := scores{classes: make([][]float64, max(s.Seeds, 1))}
	for _, p := range s.Problems {
		x, ok := kl[p.Number]
		if !ok {
			x = math.NaN()
		}
		out.KL = append(out.KL, FiniteScore(x))
		class := &out.classes[s.class(p)]
		*class = append(*class, FiniteScore(x))
	}
	return out
}

// Mean returns the mean over problems, in nats. It is the testbed's score before division by the score of a baseline.
func (s scores) Mean() float64 { return stat.Mean(s.KL, nil) }

// StdErr returns the standard error of Mean. It compares the means of seed classes: the i-th problems of all settings
// are a class, so that classes differ by chance only. It is NaN for a single class.
func (s scores) StdErr() float64 {
	var means []float64
	for _, class := range s.classes {
		if len(class) > 0 {
			means = append(means, stat.Mean(class, nil))
		}
	}
	return stat.StdErr(stat.StdDev(means, nil), float64(len(means)))
}
