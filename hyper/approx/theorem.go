package approx

import (
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
)

// Theorem is the network f_theta: X -> R of the theorems, with the linear hypermodel g_nu(z) = [z, nu] up to the order
// of the parameters: K biases of theta are z, and all other parameters are constant. The layers of f are, from its
// input x:
//
//  1. x and a unit that is always 1;
//  2. InputZ: units with weight 0 from x and bias z_i. ReLU would cut off z_i < 0, which the paper does not mention.
//     For Gaussian z the unit that is always 1 therefore has the constant weight M, so that ReLU(M + z_i) = M + z_i
//     wherever the network is not 0;
//  3. the layers of H~ on z, units that pass x on, and for Gaussian z the value b(z) of the Box;
//  4. the cap, ReLU(y + B b) - ReLU(y - B b) - B b, and the distances of x from the points;
//  5. the one-hot encoding of x;
//  6. the sum over x' of ReLU(4B 1(x'=x) + H~(z)[x'] - 2B), minus 2B at the output.
//
// The appendix prints H~(z)[x] inside the last sum. The component must be the one of the term, x': H~ has an output for
// each point, and the network knows which output belongs to x only by the one-hot encoding. On X both formulas are
// equal. All terms but x' = x are 0, because |H~| <= B < 2B, and in that term the components are the same.
type Theorem struct {
	Points    []float64
	Bound     float64
	Reference Reference
	Box       *Box    // nil for uniform z
	Inner     Network // H~, before the cap
	Net       Network // f, with 0 in the place of z
	First     int     // index of the first component of z in theta
}

// NewTheorem returns the theorem's network for a network H~ near a transport map to a measure. For uniform z, box is
// nil.
func NewTheorem(m Measure, r Reference, inner Network, box *Box) *Theorem {
	t := &Theorem{Points: m.Points, Bound: m.Bound, Reference: r, Box: box, Inner: inner}
	w := newBuilder(1)
	x, z := t.inputs(w)
	t.First = 2*2 + 2*(1+len(z)) + 1 // after layer 1, the weights of layer 2, and the bias of x's unit
	x, y, b := t.inner(w, x, z)
	y, near := t.encode(w, x, t.capped(w, y, b))
	t.Net = w.network([]form{t.clamped(w, y, near)})
	return t
}

// inputs adds layers 1 and 2.
func (t *Theorem) inputs(w *builder) (x form, z []form) {
	one := w.unit(form{constant: 1})
	x = w.carry(w.inputs()[0], t.Points[0])
	w.next()
	x = w.carry(x, t.Points[0])
	for range t.Points {
		z = append(z, w.unit(one.times(t.shift())).plus(-t.shift()))
	}
	w.next()
	return x, z
}

// shift returns M.
func (t *Theorem) shift() float64 {
	if t.Box == nil {
		return 0
	}
	return t.Box.reach()
}

// inner adds the layers of H~, and returns x, y = H~(z) before the cap, and b(z), which is 1 for uniform z. If H~ has
// fewer layers than b, z is passed on first.
func (t *Theorem) inner(w *builder, x form, z []form) (form, []form, form) {
	layers, b := t.Inner.hidden(), form{constant: 1}
	if t.Box != nil {
		layers = max(layers, 2)
	}
	wait := layers - t.Inner.hidden()
	for i := range layers {
		x = w.carry(x, t.Points[0])
		switch {
		case t.Box == nil:
		case i == 0:
			b = t.Box.outside(w, z)
		case i == 1:
			b = t.Box.inside(w, b)
		default:
			b = w.carry(b, 0)
		}
		if i < wait {
			z = w.carryAll(z, -t.shift())
		} else {
			z = w.layer(t.Inner.Layers[i-wait], z)
		}
		w.next()
	}
	return x, forms(t.Inner.Layers[t.Inner.hidden()], z), b
}

// capped adds the units of the cap, and returns the capped y. The layer is not complete yet.
func (t *Theorem) capped(w *builder, y []form, b form) []form {
	out := make([]form, len(y))
	edge := b.times(t.Bound)
	after := form{constant: t.Bound}
	if t.Box != nil {
		after = w.carry(b, 0).times(t.Bound)
	}
	for i, v := range y {
		out[i] = w.unit(v.and(edge)).minus(w.unit(v.minus(edge))).minus(after)
	}
	return out
}

// encode completes that layer with the distances of x from the points, and adds the layer of the one-hot encoding. Each
// of its units is 1 in a neighbourhood of its point and 0 in a neighbourhood of all other points, so that rounding has
// no effect.
func (t *Theorem) encode(w *builder, x form, y []form) (carried, near []form) {
	far := make([]form, len(y))
	for i, at := range t.Points {
		d := x.plus(-at).times(2 / t.gap(i))
		far[i] = w.unit(d.plus(-0.25)).and(w.unit(d.times(-1).plus(-0.25)))
	}
	w.next()
	for i := range y {
		near = append(near, w.unit(far[i].times(-1).plus(1)))
	}
	carried = w.carryAll(y, -t.Bound)
	w.next()
	return carried, near
}

// gap returns the distance of a point from the nearest other point, or 1 if there is no other.
func (t *Theorem) gap(i int) float64 {
	gap := math.Inf(1)
	for j, x := range t.Points {
		if j != i {
			gap = min(gap, math.Abs(x-t.Points[i]))
		}
	}
	if len(t.Points) == 1 {
		return 1
	}
	return gap
}

// clamped adds layer 6, and returns h~(x, z).
func (t *Theorem) clamped(w *builder, y, near []form) form {
	clamp := 4 * t.Bound
	sum := form{constant: -clamp / 2}
	for i, v := range y {
		sum = sum.and(w.unit(near[i].times(clamp).and(v).plus(-clamp / 2)))
	}
	w.next()
	return sum
}

// near writes the capped H~(z) to f; for Gaussian z it is 0 outside the box. It does not use the theorem's network.
func (t *Theorem) near(z, f []float64) {
	t.Inner.At(z, f)
	b := t.Bound
	if t.Box != nil {
		b *= t.Box.at(z)
	}
	clip(f, b)
}

// At writes h~(x, z) for all x in X to f. It evaluates the theorem's network directly, in double precision.
func (t *Theorem) At(z, f []float64) {
	net := Network{Layers: slices.Clone(t.Net.Layers)}
	net.Layers[1].B = slices.Concat(net.Layers[1].B[:1], z)
	for i, x := range t.Points {
		net.At([]float64{x}, f[i:i+1])
	}
}

// Model returns f and g_nu as a base model and a linear hypermodel C z + mu. K rows of C have a single one, and zeros
// otherwise; mu is 0 in these rows. The rows are consecutive. Therefore, in a layout with a block of parameters for
// each component of z, C has one column.
func (t *Theorem) Model() hyper.Model {
	k, n := len(t.Points), t.Net.Size()
	sizes := slices.Repeat([]int{1}, k)
	sizes[0] += t.First
	sizes[k-1] += n - t.First - k
	return hyper.Model{
		Base:  base.MLP{Layers: t.Net.Widths()},
		Hyper: hyper.Linear{Layout: hyper.Layout{Sizes: sizes, Width: 1}, P: t.Reference.index(k)},
	}
}

// Nu returns nu in the form of [hyper.Linear] for one run: mu, with the constants, and the entries of C, N_theta
// numbers each.
func (t *Theorem) Nu() (mu, c []float64) {
	for _, l := range t.Net.Layers {
		for _, row := range l.W {
			mu = append(mu, row...)
		}
		mu = append(mu, l.B...)
	}
	c = make([]float64, len(mu))
	for i := range t.Points {
		c[t.First+i] = 1
	}
	return mu, c
}
