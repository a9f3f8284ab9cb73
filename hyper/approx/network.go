package approx

import "gonum.org/v1/gonum/floats"

// Layer is an affine map with weights W, one row for each output, and biases B.
type Layer struct {
	W [][]float64
	B []float64
}

// Network is a ReLU network in double precision: affine maps with ReLU between them. Tests compare the predictions of a
// [hyper.Model] to its direct evaluation.
type Network struct{ Layers []Layer }

// Widths returns the widths of the layers from input to output.
func (n Network) Widths() []int {
	widths := []int{len(n.Layers[0].W[0])}
	for _, l := range n.Layers {
		widths = append(widths, len(l.B))
	}
	return widths
}

// Hidden returns the number of hidden layers.
func (n Network) Hidden() int { return len(n.Layers) - 1 }

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
		if i < n.Hidden() {
			h = make([]float64, len(l.B))
		}
		for o, row := range l.W {
			h[o] = l.B[o] + floats.Dot(row, z)
			if i < n.Hidden() {
				h[o] = max(h[o], 0)
			}
		}
		z = h
	}
}

// Evaluate returns the outputs for each row of z. It uses all cores.
func (n Network) Evaluate(z [][]float64) [][]float64 {
	return apply(n.At, z, len(n.Layers[n.Hidden()].B))
}

// then returns the composition of n and next. The last affine map of n and the first of next are merged.
func (n Network) then(next Network) Network {
	b := newBuilder(len(n.Layers[0].W[0]))
	out := b.follow(n, b.inputs())
	return b.network(b.follow(next, out))
}

// Capped returns n with its outputs limited to [-b, b] by a ReLU layer: v becomes ReLU(v + b) - ReLU(v - b) - b.
func (n Network) Capped(b float64) Network {
	w := newBuilder(len(n.Layers[0].W[0]))
	out := w.follow(n, w.inputs())
	capped := make([]form, len(out))
	for i, v := range out {
		capped[i] = w.unit(v.plus(b)).minus(w.unit(v.plus(-b))).plus(-b)
	}
	w.next()
	return w.network(capped)
}
