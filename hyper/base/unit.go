package base

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Deviations returns standard deviations of the network's parameters, in their order, under which its predictions have
// standard deviation 1 over standardised inputs (mean 0 and variance 1 of each), whatever depth and width: for
// parameters of mean 0 that are independent given their common length.
//
// The parameters of a layer with n inputs of mean square v, weights and biases alike, have variance 1/(n v + 1): fan-in
// scaling that counts the bias as one more input. v is 1 for the network's inputs, and behind a unit of variance 1 it
// is 1/2 after ReLU, 0.394 after tanh, and 1 after the identity. So every unit has variance 1 before its activation.
//
// shared is the dimension of a Gaussian index z that all parameters share: they are then longer or shorter together, by
// |z|, and predictions, as products of layers, would be wider; those of the output layer make up for it. 0 is for
// parameters that share no Gaussian index.
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

// Output is where the parameters of the output layer begin.
func (b MLP) Output() int {
	groups := b.Groups()
	at := 0
	for _, n := range groups[:len(groups)-1] {
		at += n
	}
	return at
}

// unitVariance is the variance of a parameter of layer i.
func (b MLP) unitVariance(i int) float64 {
	square := 1.0
	if i > 0 {
		square = b.Activation.MeanSquare(1)
	}
	return 1 / (float64(b.Layers[i])*square + 1)
}

// MeanSquare is that of a unit's value, when it is Gaussian with mean 0 and the given variance before its activation.
func (a Activation) MeanSquare(variance float64) float64 {
	switch a {
	case ActivationIdentity:
		return variance
	case ActivationTanh:
		return mean(standardNormal, 1, func(z float64) float64 { return math.Pow(math.Tanh(math.Sqrt(variance)*z), 2) })
	}
	return variance / 2
}

// sharedVariance is the variance of predictions when every parameter is multiplied by |z|/sqrt(dim), for Gaussian z.
func (b MLP) sharedVariance(dim int) float64 {
	k := float64(dim) / 2
	law := distuv.Gamma{Alpha: k, Beta: k} // of |z|^2/dim, by its logarithm u
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

// mean of f under a density around 0, by the trapezoidal rule over ten times its scale on both sides; the density need
// not be normalised.
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
