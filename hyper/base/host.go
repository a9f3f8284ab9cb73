package base

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// OnHost returns Apply in plain Go at inputs x, for one theta: the function fills out with theta^T phi(x).
func (b Linear) OnHost(x [][]float32) func(theta, out []float32) {
	return func(theta, out []float32) {
		for i, row := range x {
			sum := float32(0)
			for k, v := range row {
				sum += theta[k] * v
			}
			if b.Intercept {
				sum += theta[b.Features]
			}
			out[i] = sum
		}
	}
}

// OnHost returns Apply in plain Go at arms x, or at all arms if x is nil: the function fills out with theta at the
// arms.
func (b Tabular) OnHost(x [][]float32) func(theta, out []float32) {
	return func(theta, out []float32) {
		if x == nil {
			copy(out, theta)
			return
		}
		for i, row := range x {
			out[i] = theta[int(row[0])]
		}
	}
}

// OnHost returns Apply in plain Go at inputs x, for one theta. The function is not safe for concurrent use. The values
// of a layer are feature-major, as in Apply, so that each weight needs one vector addition.
func (b MLP) OnHost(x [][]float32) func(theta, out []float32) {
	n, widest := len(x), 0
	for _, w := range b.Layers {
		widest = max(widest, w)
	}
	inputs := make([]float32, b.Layers[0]*n)
	for i, row := range x {
		for k, v := range row {
			inputs[k*n+i] = v
		}
	}
	buffers := [2][]float32{make([]float32, widest*n), make([]float32, widest*n)}
	return func(theta, out []float32) {
		from := inputs
		for l := range len(b.Layers) - 1 {
			in, to := b.Layers[l], b.Layers[l+1]
			weights, biases := theta[:in*to], theta[in*to:in*to+to]
			theta = theta[in*to+to:]
			last := l == len(b.Layers)-2
			into := buffers[l%2][:to*n]
			if last {
				into = out
			}
			for o := range to {
				row := into[o*n : (o+1)*n]
				for i := range row {
					row[i] = biases[o]
				}
				for k, w := range weights[o*in : (o+1)*in] {
					blas32.Axpy(w, vector(from[k*n:(k+1)*n]), vector(row))
				}
				if !last {
					b.activateHost(row)
				}
			}
			from = into
		}
	}
}

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }

func (b MLP) activateHost(x []float32) {
	switch b.Activation {
	case ActivationTanh:
		for i, v := range x {
			x[i] = float32(math.Tanh(float64(v)))
		}
	case ActivationIdentity:
	default:
		for i, v := range x {
			x[i] = max(v, 0)
		}
	}
}
