package base

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Predictions of a network whose parameters have these deviations have standard deviation 1 at standardised inputs: in
// plain Go, over 20,000 draws of parameters, inputs, and the length that a shared Gaussian index gives the parameters.
func TestDeviations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, b := range []MLP{
		{Layers: []int{5, 1}},
		{Layers: []int{3, 20, 1}},
		{Layers: []int{4, 6, 6, 6, 1}},
		{Layers: []int{4, 6, 6, 1}, Activation: ActivationIdentity},
		{Layers: []int{6, 10, 10, 1}, Activation: ActivationTanh},
	} {
		for _, shared := range []int{0, 6, 300} {
			d, sum := b.Deviations(shared), 0.0
			const draws = 20_000
			for range draws {
				length := 1.0
				if shared > 0 {
					length = 0
					for range shared {
						z := r.NormFloat64()
						length += z * z / float64(shared)
					}
				}
				theta, x := make([]float64, len(d)), make([]float64, b.Layers[0])
				for i := range theta {
					theta[i] = d[i] * math.Sqrt(length) * r.NormFloat64()
				}
				for i := range x {
					x[i] = r.NormFloat64()
				}
				sum += math.Pow(valueOf(b, theta, x), 2)
			}
			if sd := math.Sqrt(sum / draws); math.Abs(sd-1) > 0.06 {
				t.Errorf("%v, shared %d: standard deviation %.3f, want 1", b, shared, sd)
			}
		}
	}
}

// valueOf returns the network's prediction in plain Go.
func valueOf(b MLP, theta, x []float64) float64 {
	for l := range len(b.Layers) - 1 {
		in, out := b.Layers[l], b.Layers[l+1]
		y := append([]float64{}, theta[in*out:in*out+out]...)
		for o := range y {
			for i, v := range x {
				y[o] += theta[o*in+i] * v
			}
			switch {
			case l == len(b.Layers)-2 || b.Activation == ActivationIdentity:
			case b.Activation == ActivationTanh:
				y[o] = math.Tanh(y[o])
			default:
				y[o] = max(y[o], 0)
			}
		}
		theta, x = theta[in*out+out:], y
	}
	return x[0]
}

// Weights and biases of a layer with n inputs of mean square v have variance 1/(n v + 1): here 1/(3 + 1) and, after
// ReLU, 1/(6/2 + 1).
func ExampleMLP_Deviations() {
	net := MLP{Layers: []int{3, 6, 1}}
	d := net.Deviations(0)
	fmt.Println(d[0], d[net.Output()])
	// Output: 0.5 0.5
}
