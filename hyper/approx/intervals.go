package approx

import "context"

// intervals is the map of [Atoms] by z_1 alone. Each function has an interval of [0, 1], and the level of z_1 is in the
// interval of H(z). Its network has a steep ramp between consecutive functions, ReLU(s + 1/2) - ReLU(s - 1/2).
type intervals struct {
	atoms     Atoms
	reference Reference
	ends      []float64
}

// At writes H(z) to f.
func (h intervals) At(z, f []float64) {
	copy(f, h.atoms.Values[interval(h.ends, h.reference.level(z[0]))])
}

// Name returns "steps".
func (intervals) Name() string { return "steps" }

// Build returns the network. All ramps together have probability Delta/4 at level 0, and half of that at each further
// level. A ramp takes at most a quarter of the probability of each function next to it.
func (h intervals) Build(_ context.Context, t Task, level int) (Network, error) {
	half := t.Delta / float64(int(8)<<level) / float64(max(len(h.ends), 1))
	for _, p := range h.atoms.probabilities() {
		half = min(half, p/4)
	}
	b := newBuilder(t.K)
	z, out := b.inputs()[0], constants(h.atoms.Values[0])
	for j, end := range h.ends {
		from, to := t.Reference.at(end-half), t.Reference.at(end+half)
		s := z.plus(-(from + to) / 2).times(1 / (to - from))
		ramp := b.unit(s.plus(0.5)).minus(b.unit(s.plus(-0.5)))
		for i := range out {
			out[i] = out[i].and(ramp.times(h.atoms.Values[j+1][i] - h.atoms.Values[j][i]))
		}
	}
	if len(h.ends) == 0 {
		b.unit(form{}) // a layer needs at least one unit
	}
	b.next()
	return b.network(out), nil
}

// constants returns numbers as forms.
func constants(f []float64) []form {
	out := make([]form, len(f))
	for i, v := range f {
		out[i].constant = v
	}
	return out
}
