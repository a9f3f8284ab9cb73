package approx

import "slices"

// builder builds a Network layer by layer. A quantity is a form: an affine function of the units of the last complete
// layer, or of the inputs if there is none. unit adds a unit to the next layer, and next completes that layer.
type builder struct {
	layers []Layer
	width  int // number of units of the last complete layer
	fresh  []form
}

// form is an affine function: a constant, and a sum of weights times units.
type form struct {
	terms    []term
	constant float64
}

type term struct {
	unit   int
	weight float64
}

func newBuilder(inputs int) *builder { return &builder{width: inputs} }

// inputs returns the inputs as forms, for use before the first layer.
func (b *builder) inputs() []form {
	out := make([]form, b.width)
	for i := range out {
		out[i] = form{terms: []term{{i, 1}}}
	}
	return out
}

// unit adds ReLU(v) to the next layer. The result is a form over that layer, for use after next.
func (b *builder) unit(v form) form {
	b.fresh = append(b.fresh, v)
	return form{terms: []term{{len(b.fresh) - 1, 1}}}
}

// carry passes a quantity on to the next layer with one unit. The quantity must be at least low.
func (b *builder) carry(v form, low float64) form { return b.unit(v.plus(-low)).plus(low) }

// carryAll passes several quantities on. They must be at least low.
func (b *builder) carryAll(vs []form, low float64) []form {
	out := make([]form, len(vs))
	for i, v := range vs {
		out[i] = b.carry(v, low)
	}
	return out
}

// next completes the current layer.
func (b *builder) next() {
	b.layers = append(b.layers, b.affine(b.fresh))
	b.width, b.fresh = len(b.fresh), nil
}

// network returns the network with the given outputs.
func (b *builder) network(out []form) Network {
	return Network{Layers: append(slices.Clone(b.layers), b.affine(out))}
}

// affine returns the affine map from the last complete layer to the forms.
func (b *builder) affine(out []form) Layer {
	l := Layer{W: rows(len(out), b.width), B: make([]float64, len(out))}
	for o, v := range out {
		l.B[o] = v.constant
		for _, t := range v.terms {
			l.W[o][t.unit] += t.weight
		}
	}
	return l
}

// follow adds the hidden layers of a network whose inputs are the given forms, and returns its outputs.
func (b *builder) follow(n Network, in []form) []form {
	for _, l := range n.Layers[:n.hidden()] {
		in = b.layer(l, in)
		b.next()
	}
	return forms(n.Layers[n.hidden()], in)
}

// layer adds the units of a layer, applied to the given forms, to the next layer.
func (b *builder) layer(l Layer, in []form) []form {
	out := forms(l, in)
	for i, v := range out {
		out[i] = b.unit(v)
	}
	return out
}

// forms returns the outputs of an affine map of forms.
func forms(l Layer, in []form) []form {
	out := make([]form, len(l.B))
	for o, row := range l.W {
		out[o] = combine(row, in).plus(l.B[o])
	}
	return out
}

// combine returns the sum of weights times forms.
func combine(weights []float64, in []form) (sum form) {
	for i, w := range weights {
		if w != 0 {
			sum.terms = append(sum.terms, in[i].times(w).terms...)
			sum.constant += w * in[i].constant
		}
	}
	return sum
}

// plus returns v + c.
func (v form) plus(c float64) form { return form{v.terms, v.constant + c} }

// times returns c v.
func (v form) times(c float64) form {
	out := form{make([]term, len(v.terms)), c * v.constant}
	for i, t := range v.terms {
		out.terms[i] = term{t.unit, c * t.weight}
	}
	return out
}

// and returns v + w.
func (v form) and(w form) form {
	return form{append(slices.Clone(v.terms), w.terms...), v.constant + w.constant}
}

// minus returns v - w.
func (v form) minus(w form) form { return v.and(w.times(-1)) }
