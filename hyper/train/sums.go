package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// allSums is the solver that computes the gradient on all data, with the expectation over z in closed form, from sums
// that each datum updates.
type allSums struct{ problem }

func newAllSums(p problem) solver { return allSums{p} }

func (w allSums) memory(g *Graph, runs int) State {
	n, width := w.Parametric.NumTheta(), w.z.Width()
	s := statistics{gram: w.Linear.NoData(g, runs), y: Zeros(g, shapes.Make(dtypes.Float32, runs, n))}
	if w.Particles != nil {
		s.at = Zeros(g, shapes.Make(dtypes.Float32, runs, width, n))
	} else {
		s.a = Zeros(g, shapes.Make(dtypes.Float32, runs, n, width))
	}
	state := State{}
	s.put(state)
	return state
}

func (w allSums) observe(state State, d datum, _ Rates) {
	collapsed := collapse
	if w.Particles != nil {
		collapsed = collapseOne
	}
	one := collapsed(w.Linear, Batch{X: d.input(), Y: InsertAxes(d.y, -1), A: d.a})
	sumsOf(state).add(one).put(state)
}

func (allSums) draw(State, rng.Stream, *Node, *Node, Rates) draws { return draws{} }

func (w allSums) gradient(state State, _ *draws, _ loop.Index, _ *Node, r Rates) []*Node {
	return w.exactGradient(sumsOf(state), params(state), OnesLike(r.Step), r)
}

// closedForm is the solver that computes the gradient on a minibatch, with the expectation over z in closed form.
type closedForm struct{ minibatches }

func newClosedForm(p problem) solver { return closedForm{minibatches{p}} }

func (w closedForm) draw(state State, s rng.Stream, size, actions *Node, _ Rates) draws {
	return w.drawData(state, s, size, actions)
}

func (w closedForm) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	return w.exactGradient(w.collapse(state, d, i), params(state), w.weight(size, r), r)
}

// collapse computes the sums of the minibatch of step i, with the perturbations from the replay buffer. For an ensemble
// of many particles it takes the perturbations in blocks of particles. The gathered numbers of a block then stay in the
// processor's cache until they are added up.
func (w closedForm) collapse(state State, d *draws, i loop.Index) statistics {
	a := state["replay.a"]
	data, at := d.data.step(i, w.Batch), i.Rows(d.at, w.Batch)
	runs, capacity, width := a.Shape().Dim(0), a.Shape().Dim(1), a.Shape().Dim(2)
	blocks := blocksOf(width, w.Batch)
	if blocks == 1 {
		data.A = row.Take(a, at)
		return collapse(w.Linear, data)
	}
	a = Reshape(a, runs, capacity*blocks, width/blocks)
	parts := make([]*Node, blocks)
	for j := range parts {
		parts[j] = w.Linear.Project(data.X, row.Take(a, AddScalar(MulScalar(at, blocks), j)))
	}
	y := Squeeze(w.Linear.Project(data.X, InsertAxes(data.Y, -1)), 2)
	return statistics{gram: w.Linear.Gram(data.X), y: y, a: Concatenate(parts, 2)}
}

// blocksOf returns the least number of equal blocks of columns that have at most 2^17 numbers each, with the given
// number of rows. A block of eight runs then has at most 4 MB. More than 32 blocks would make a large program: if no
// number of blocks up to 32 fits, blocksOf returns 1.
func blocksOf(columns, rows int) int {
	for n := 1; n <= min(columns, 32); n++ {
		if columns%n == 0 && columns/n*rows <= 1<<17 {
			return n
		}
	}
	return 1
}

// sums is the solver that computes the gradient on a minibatch at sampled indices, from sums of the minibatch.
type sums struct{ minibatches }

func newSums(p problem) solver { return sums{minibatches{p}} }

func (w sums) draw(state State, s rng.Stream, size, actions *Node, _ Rates) draws {
	d := w.drawData(state, s, size, actions)
	d.sets, d.count = w.indexSets(s.Named("z"))
	if d.picked = d.sets.ID != nil && !d.sets.Every; d.picked {
		d.data.A = gatherColumns(state["replay.a"], d.at, d.sets.ID, w.Steps)
	} else {
		d.data.A = row.Take(state["replay.a"], d.at)
	}
	return d
}

func (w sums) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	all := collapse(w.Linear, d.data.step(i, w.Batch))
	all.picked = d.picked
	return w.gradientAt(all, params(state), d.indices(i), w.weight(size, r), r)
}
