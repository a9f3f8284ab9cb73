package approx

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// Kuhn interpolates H by a piecewise linear function on the Kuhn (Freudenthal) triangulation of a grid. The network
// represents the interpolation exactly, as the sum over the grid's nodes a of H(z_a) ReLU(1 + min(0, u_1, ..., u_K) -
// max(0, u_1, ..., u_K)), where u = v - a and v is z in units of the grid. v_i is a piecewise linear function of z_i,
// because the grid of each component is fine where H bends. Kuhn needs a unit for each node, and so is for few points.
type Kuhn struct {
	Cells int // number of cells in each direction at level 0; 0 is 16, 12, 5 for one, two and three points
}

// Name returns "kuhn".
func (Kuhn) Name() string { return "kuhn" }

// Suits accepts at most three points.
func (c Kuhn) Suits(_ Map, k int) error {
	if k > 3 {
		return fmt.Errorf("construction kuhn supports K <= 3 points, because it has a unit for each node of a grid "+
			"in K dimensions, got %d; use trained", k)
	}
	return nil
}

// Build returns the network. Each level has about 1.5 times as many cells in each direction as the previous level.
func (c Kuhn) Build(_ context.Context, t Task, level int) (Network, error) {
	cells := c.Cells
	if cells == 0 {
		cells = []int{16, 12, 5}[t.K-1]
	}
	for range level {
		cells += (cells + 1) / 2
	}
	knots := make([][]float64, t.K)
	for i := range knots {
		knots[i] = t.knots(i, cells)
	}
	b := newBuilder(t.K)
	v := b.gridUnits(b.inputs(), knots)
	b.next()
	nodes := combin.Cartesian(slices.Repeat([]int{cells + 1}, t.K))
	spans := b.spans(v, nodes)
	out := make([]form, t.K)
	values := make([][]float64, len(nodes))
	each(len(nodes), func(n int) { values[n] = t.value(knots, nodes[n]) })
	for n, span := range spans {
		hat := b.unit(span.times(-1).plus(1))
		for i, value := range values[n] {
			out[i] = out[i].and(hat.times(value))
		}
	}
	b.next()
	return b.network(out), nil
}

// value returns H at a node.
func (t Task) value(knots [][]float64, node []int) []float64 {
	z, f := make([]float64, t.K), make([]float64, t.K)
	for i, a := range node {
		z[i] = knots[i][a]
	}
	t.Map.At(z, f)
	return f
}

// gridUnits adds the units whose sums are v_i: piecewise linear functions with values 0, 1, 2, ... at the knots, and
// constant beyond.
func (b *builder) gridUnits(z []form, knots [][]float64) []form {
	v := make([]form, len(z))
	for i := range z {
		slope := func(from, to float64) float64 { return 1 / (to - from) }
		v[i] = bent(knots[i], slope, func(knot float64) form { return b.unit(z[i].plus(-knot)) })
	}
	return v
}

// bent returns a sum of ramps. A ramp is 0 up to its knot, and has slope 1 beyond. The sum has the given slope between
// two knots, and slope 0 after the last.
func bent(knots []float64, slope func(from, to float64) float64, ramp func(knot float64) form) (sum form) {
	before := 0.0
	for j, knot := range knots {
		next := 0.0
		if j+1 < len(knots) {
			next = slope(knot, knots[j+1])
		}
		sum = sum.and(ramp(knot).times(next - before))
		before = next
	}
	return sum
}

// spans returns max(0, u) - min(0, u) at each node, u = v - node, for up to three directions.
func (b *builder) spans(v []form, nodes [][]int) []form {
	shared := units{b: b, made: map[pair]form{}}
	out := make([]form, len(nodes))
	if len(v) < 3 { // the largest of up to three numbers minus the least is half the sum of all distances
		for n, a := range nodes {
			for i := range v {
				out[n] = out[n].and(shared.distance(v, a, -1, i).times(0.5))
				for j := range i {
					out[n] = out[n].and(shared.distance(v, a, j, i).times(0.5))
				}
			}
			if len(v) == 1 {
				out[n] = out[n].times(2)
			}
		}
		b.next()
		return out
	}
	return shared.spans3(v, nodes)
}

// spans3 is spans in three directions. It uses max(0, u_1, u_2, u_3) = c + ReLU(a - c) for a = max(0, u_1) and c =
// max(u_2, u_3), and the same for min.
func (s units) spans3(v []form, nodes [][]int) []form {
	type halves struct{ up, down, over form }
	parts := make([]halves, len(nodes))
	for n, a := range nodes {
		parts[n] = halves{s.above(v, a, 0, -1), s.above(v, a, -1, 0), s.above(v, a, 1, 2)}
	}
	v = s.b.carryAll(v, 0)
	s.b.next()
	out := make([]form, len(nodes))
	for n, a := range nodes {
		p, u2, u3 := parts[n], v[1].plus(-float64(a[1])), v[2].plus(-float64(a[2]))
		largest, least := u3.and(p.over), u2.minus(p.over) // of u_2 and u_3
		out[n] = s.b.unit(p.up.minus(largest)).and(s.b.unit(least.and(p.down)))
	}
	rest := make([]form, len(nodes)) // largest - least = u_3 - u_2 + 2 ReLU(u_2 - u_3)
	again := units{b: s.b, made: map[pair]form{}}
	w := s.b.carryAll(v, 0)
	for n, a := range nodes {
		rest[n] = again.carried(a, parts[n].over).times(2).and(w[2]).minus(w[1]).plus(float64(a[1] - a[2]))
	}
	s.b.next()
	for n := range out {
		out[n] = out[n].and(rest[n])
	}
	return out
}

// units holds ReLUs of differences that several nodes use.
type units struct {
	b    *builder
	made map[pair]form
}

// pair is a difference u_i - u_j. It depends on the nodes only by the difference of their numbers. The index -1 stands
// for 0.
type pair struct{ i, j, shift int }

// above returns ReLU(u_i - u_j).
func (s units) above(v []form, node []int, i, j int) form {
	var d form
	shift := 0
	if i >= 0 {
		d, shift = d.and(v[i]), shift+node[i]
	}
	if j >= 0 {
		d, shift = d.minus(v[j]), shift-node[j]
	}
	key := pair{i, j, shift}
	if _, ok := s.made[key]; !ok {
		s.made[key] = s.b.unit(d.plus(float64(-shift)))
	}
	return s.made[key]
}

// carried passes ReLU(u_2 - u_3) on, with one unit for all nodes that have the same difference.
func (s units) carried(node []int, v form) form {
	key := pair{1, 2, node[1] - node[2]}
	if _, ok := s.made[key]; !ok {
		s.made[key] = s.b.carry(v, 0)
	}
	return s.made[key]
}

// distance returns |u_i - u_j|.
func (s units) distance(v []form, node []int, i, j int) form {
	return s.above(v, node, i, j).and(s.above(v, node, j, i))
}
