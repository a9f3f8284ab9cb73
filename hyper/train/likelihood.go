package train

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Likelihood is a [Loss] that is minus the logarithm of a distribution of responses, up to a term that does not depend
// on the prediction. It gives the distribution of a response with a given mean.
type Likelihood interface {
	Loss
	// LogDensity returns the logarithm of the density, or of the probability, of a response y, given the mean response
	// and the standard deviation of the noise.
	LogDensity(y, mean, sd float64) float64
	// Below returns the probability of a response less than y, and the probability of a response equal to y.
	Below(y, mean, sd float64) (less, equal float64)
	// Draw returns the response for a number u that is uniform on (0, 1).
	Draw(u, mean, sd float64) float64
}

var (
	_ Likelihood = Gaussian{}
	_ Likelihood = LogisticLoss{}
)

// LogDensity returns the log-density of N(mean, sd^2) at y.
func (Gaussian) LogDensity(y, mean, sd float64) float64 {
	return distuv.Normal{Mu: mean, Sigma: sd}.LogProb(y)
}

// Below returns the distribution function of N(mean, sd^2) at y, and 0.
func (Gaussian) Below(y, mean, sd float64) (less, equal float64) {
	return distuv.Normal{Mu: mean, Sigma: sd}.CDF(y), 0
}

// Draw returns the quantile u of N(mean, sd^2).
func (Gaussian) Draw(u, mean, sd float64) float64 {
	return distuv.Normal{Mu: mean, Sigma: sd}.Quantile(u)
}

// LogDensity returns the log-probability of y, where 1 has the probability mean. A share y counts as y of a 1 and 1 - y
// of a 0.
func (LogisticLoss) LogDensity(y, mean, _ float64) float64 {
	const least = 1e-12 // single precision rounds probabilities to 0 and 1
	return y*math.Log(max(mean, least)) + (1-y)*math.Log(max(1-mean, least))
}

// Below returns the probabilities of a response below y and of a response equal to y. Responses are 0 or 1, and 1 has
// the probability mean.
func (LogisticLoss) Below(y, mean, _ float64) (less, equal float64) {
	switch y {
	case 0:
		return 0, 1 - mean
	case 1:
		return 1 - mean, mean
	}
	return 1 - mean, 0
}

// Draw returns 1 if u is below mean, and 0 otherwise.
func (LogisticLoss) Draw(u, mean, _ float64) float64 {
	if u < mean {
		return 1
	}
	return 0
}
