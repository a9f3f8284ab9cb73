package base

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Deviations returns standard deviations of the network's parameters, in the order of the parameters. With them,
// predictions at standardised inputs (each with mean 0 and variance 1) have standard deviation 1 for every depth and
// width. The parameters must have mean 0, and must be independent given their common length.
//
// The parameters of a layer with n inputs of mean square v, weights and biases alike, have variance 1/(n v + 1). This
// is fan-in scaling that counts the bias as one more input. v is 1 for the network's inputs. After a unit of variance 1
// it is 1/2 for ReLU, 0.394 for tanh, and 1 for the identity. Every unit therefore has variance 1 before its
// activation.
//
// shared is the dimension of a Gaussian index z that all parameters share. Such parameters are all longer or all
// shorter, by the factor |z|. Predictions are products of layers, so they would have a larger variance; smaller
// deviations of the output layer correct this. shared is 0 for parameters that do not share a Gaussian index.
func (b MLP) Deviations(shared int) []float64 {
	var out []float64
	for i := range len(b.Layers) - 1 {
		sd := math.Sqrt(b.unitVariance(i))
		if i == len(b.Layers)-2 && shared > 0 {
			sd /= math.Sqrt(b.sharedVariance(shared))
		}
		for range b.Layers[i+1] * (b.Layers[i] + 1) {
			out = append(out, sd)
		}
	}
	return out
}

// Output returns the index of the first parameter of the output layer.
func (b MLP) Output() int {
	groups := b.Groups()
	at := 0
	for _, n := range groups[:len(groups)-1] {
		at += n
	}
	return at
}

// unitVariance returns the variance of a parameter of layer i.
func (b MLP) unitVariance(i int) float64 {
	square := 1.0
	if i > 0 {
		square = b.Activation.MeanSquare(1)
	}
	return 1 / (float64(b.Layers[i])*square + 1)
}

// MeanSquare returns the mean square of a unit's value, if the unit is Gaussian with mean 0 and the given variance
// before its activation.
func (a Activation) MeanSquare(variance float64) float64 {
	switch a {
	case ActivationIdentity:
		return variance
	case ActivationTanh:
		return mean(standardNormal, 1, func(z float64) float64 { return math.Pow(math.Tanh(math.Sqrt(variance)*z), 2) })
	}
	return variance / 2
}

// sharedVariance returns the variance of predictions if every parameter is multiplied by |z|/sqrt(dim), for Gaussian z.
func (b MLP) sharedVariance(dim int) float64 {
	k := float64(dim) / 2
	law := distuv.Gamma{Alpha: k, Beta: k} // law of |z|^2/dim; u is its logarithm
	density := func(u float64) float64 { return math.Exp(law.LogProb(math.Exp(u)) + u) }
	return mean(density, math.Sqrt(1/k), func(u float64) float64 {
		r := math.Exp(u)
		variance := r
		for i := 1; i < len(b.Layers)-1; i++ {
			w := b.unitVariance(i)
			variance = r * w * (float64(b.Layers[i])*b.Activation.MeanSquare(variance) + 1)
		}
		return variance
	})
}

func standardNormal(z float64) float64 { return math.Exp(-z * z / 2) }

// mean returns the mean of f under a density around 0, by the trapezoidal rule over ten times the scale on both sides.
// The density need not be normalised.
func mean(density func(float64) float64, scale float64, f func(float64) float64) float64 {
	const points = 100
	var sum, total float64
	for i := -points; i <= points; i++ {
		x := 10 * scale * float64(i) / points
		p := density(x)
		total += p
		sum += p * f(x)
	}
	return sum / total
}
