package approx

import "context"

// Steps builds the map by intervals of z_1. Between consecutive functions it has a steep ramp, ReLU(s + 1/2) - ReLU(s -
// 1/2).
type Steps struct{}

// Name returns "steps".
func (Steps) Name() string { return "steps" }

// Suits accepts a map by intervals.
func (c Steps) Suits(h Map, _ int) error {
	if _, ok := h.(intervals); ok {
		return nil
	}
	return unsuited(c, "maps by intervals of the first component of z", h)
}

// Build returns the network. All ramps together have probability Delta/4 at level 0, and half of that at each further
// level. A ramp takes at most a quarter of the probability of each function next to it.
func (Steps) Build(_ context.Context, t Task, level int) (Network, error) {
	h := t.Map.(intervals)
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
