package train

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Likelihood is a [Loss] that is minus the logarithm of a distribution of responses, up to what does not depend on the
// prediction. It says what responses a mean response makes likely.
type Likelihood interface {
	Loss
	// LogDensity is the logarithm of the density, or of the probability, of a response y, given the mean response and
	// the standard deviation of the noise.
	LogDensity(y, mean, sd float64) float64
	// Below are the probabilities of a response less than y, and equal to it.
	Below(y, mean, sd float64) (less, equal float64)
	// Draw returns a response, by a number u uniform on (0, 1).
	Draw(u, mean, sd float64) float64
}

var (
	_ Likelihood = Gaussian{}
	_ Likelihood = LogisticLoss{}
)

// LogDensity is that of N(mean, sd^2).
func (Gaussian) LogDensity(y, mean, sd float64) float64 {
	return distuv.Normal{Mu: mean, Sigma: sd}.LogProb(y)
}

// Below is the distribution function of N(mean, sd^2).
func (Gaussian) Below(y, mean, sd float64) (less, equal float64) {
	return distuv.Normal{Mu: mean, Sigma: sd}.CDF(y), 0
}

// Draw is the quantile of N(mean, sd^2).
func (Gaussian) Draw(u, mean, sd float64) float64 {
	return distuv.Normal{Mu: mean, Sigma: sd}.Quantile(u)
}

// LogDensity is that of 1 with probability mean. A share counts as so much of a 1 and the rest of a 0.
func (LogisticLoss) LogDensity(y, mean, _ float64) float64 {
	const least = 1e-12 // single precision rounds probabilities to 0 and 1
	return y*math.Log(max(mean, least)) + (1-y)*math.Log(max(1-mean, least))
}

// Below is of 1 with probability mean.
func (LogisticLoss) Below(y, mean, _ float64) (less, equal float64) {
	switch y {
	case 0:
		return 0, 1 - mean
	case 1:
		return 1 - mean, mean
	}
	return 1 - mean, 0
}

// Draw is 1 with probability mean.
func (LogisticLoss) Draw(u, mean, _ float64) float64 {
	if u < mean {
		return 1
	}
	return 0
}
