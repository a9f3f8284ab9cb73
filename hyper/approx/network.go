package approx

import "gonum.org/v1/gonum/floats"

// Layer is an affine map with weights W, one row for each output, and biases B.
type Layer struct {
	W [][]float64
	B []float64
}

// Network is a ReLU network in double precision: affine maps with ReLU between them.
type Network struct{ Layers []Layer }

// Widths returns the widths of the layers from input to output.
func (n Network) Widths() []int {
	widths := []int{len(n.Layers[0].W[0])}
	for _, l := range n.Layers {
		widths = append(widths, len(l.B))
	}
	return widths
}

// hidden returns the number of hidden layers.
func (n Network) hidden() int { return len(n.Layers) - 1 }

// Size returns the number of weights and biases.
func (n Network) Size() int {
	size := 0
	for _, l := range n.Layers {
		size += len(l.B) * (len(l.W[0]) + 1)
	}
	return size
}

// At writes the outputs for the inputs z to f.
func (n Network) At(z, f []float64) {
	for i, l := range n.Layers {
		h := f
		if i < n.hidden() {
			h = make([]float64, len(l.B))
		}
		for o, row := range l.W {
			h[o] = l.B[o] + floats.Dot(row, z)
			if i < n.hidden() {
				h[o] = max(h[o], 0)
			}
		}
		z = h
	}
}
