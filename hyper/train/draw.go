package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// draws is what the SGD steps of a period need and that does not depend on nu. It is made for all steps at once: fewer and
// larger operations run faster and compile faster.
type draws struct {
	data    Batch     // [runs, steps * Batch, ...]; without A where collapse takes it from the replay buffer
	at      *Node     // places of the data in the replay buffer, [runs, steps * Batch]
	sets    index.Set // [runs, steps * indices, ...]; the same in each step when it holds every index
	count   int       // indices of a step
	picked  bool      // data.A has a^T z for the indices of its step, [runs, steps * Batch, indices]: of one-hot z it is an entry of a
	targets *Node     // of base models that know their gradient: see targets; [runs, steps, indices, Batch]
}

// nodes are the places of what was drawn.
func (d *draws) nodes() []**Node {
	return []**Node{&d.data.X, &d.data.Y, &d.data.A, &d.at, &d.sets.Vector, &d.sets.ID, &d.targets}
}

// draw draws the minibatches and indices of all steps.
func (t Trainer) draw(state State, s rng.Stream, size, actions *Node, r Rates) draws {
	if t.Integrate == FullData {
		return draws{}
	}
	var d draws
	d.sets, d.count = t.indexSets(s.Named("z"))
	d.picked = d.sets.ID != nil && !d.sets.Every && t.Model.LinearInTheta() && !fewData(t.Model.Base, t.Batch)
	d.data, d.at = minibatch(state, s.Named("batch"), size, t.Steps*t.Batch, actions)
	switch {
	case d.picked:
		d.data.A = gatherColumns(state["replay.a"], d.at, d.sets.ID, t.Steps)
	case !t.collapses():
		d.data.A = gatherRows(state["replay.a"], d.at)
	}
	if _, ok := t.Model.Base.(hyper.DifferentiableBase); ok && !t.Model.LinearInTheta() {
		d.targets = t.targets(d, t.Params(state), r)
	}
	return d
}

// indexSets draws the indices of all steps; none are needed where the expectation is in closed form.
func (t Trainer) indexSets(s rng.Stream) (index.Set, int) {
	if t.Integrate == Analytic {
		if t.Model.LinearInTheta() {
			return index.Set{}, 0
		}
		all := t.Model.Index().(index.Enumerable).All(s.Graph(), s.Runs())
		return all, all.Len()
	}
	n, d := t.Indices, t.Model.Index()
	switch t.IndexSet {
	case Frame:
		return d.(index.Framed).Frame(s, t.Steps, n), n
	case Antithetic:
		half := Reshape(d.Sample(s, t.Steps*n/2).Dense(), s.Runs(), t.Steps, n/2, d.Dim())
		return index.Vectors(Reshape(Concatenate([]*Node{half, Neg(half)}, 2), s.Runs(), t.Steps*n, d.Dim())), n
	}
	return d.Sample(s, t.Steps*n), n
}

// indices are those of step i.
func (d draws) indices(i loop.Index) index.Set {
	if d.count == 0 || d.sets.Every {
		return d.sets
	}
	return d.sets.Part(func(x *Node) *Node { return i.Rows(x, d.count) })
}

// targets are what the differential model of each index is fitted to: y + sigma_w a^T z less the prediction of the prior's
// network, [runs, steps, indices, Batch].
func (t Trainer) targets(d draws, params hyper.Params, r Rates) *Node {
	// A step is a run of its own to a model: [runs * steps, ...].
	runs := d.data.Y.Shape().Dim(0)
	data := Batch{X: split(d.data.X, t.Steps), Y: split(d.data.Y, t.Steps), A: split(d.data.A, t.Steps)}
	z := d.sets.Split(t.Steps)
	noise := Reshape(BroadcastToDims(InsertAxes(r.Perturbation, -1), runs, t.Steps), runs*t.Steps)
	y := perturbed(t.Model, data, z, noise)
	if p := t.Model.Prior; p != nil && p.Base != nil {
		theta := t.Model.PriorTheta(params, d.sets)
		if d.sets.Every {
			theta = repeat(theta, t.Steps)
		}
		y = Sub(y, p.Base.Apply(split(theta, t.Steps), data.X))
	}
	return Reshape(y, runs, t.Steps, d.count, t.Batch)
}

// step is the minibatch of n data of step i.
func (b Batch) step(i loop.Index, n int) Batch {
	return Batch{X: i.Rows(b.X, n), Y: i.Rows(b.Y, n), A: i.Rows(b.A, n)}
}

// collapses says that the gradient is that of statistics which collapse computes.
func (t Trainer) collapses() bool { return t.Integrate == Analytic && t.Model.LinearInTheta() }

// collapse computes the statistics of the minibatch of step i, of which perturbations are still in the buffer. Those of an ensemble of many
// particles are taken block by block of particles: then what is gathered stays in the processor's cache until it is added up.
func (t Trainer) collapse(state State, d draws, i loop.Index) Statistics {
	b, a := t.Model.Base.(hyper.LinearBase), state["replay.a"]
	data, at := d.data.step(i, t.Batch), i.Rows(d.at, t.Batch)
	runs, capacity, width := a.Shape().Dim(0), a.Shape().Dim(1), a.Shape().Dim(2)
	blocks := blocksOf(width, t.Batch)
	if blocks == 1 {
		data.A = gatherRows(a, at)
		return Collapse(b, data)
	}
	a = Reshape(a, runs, capacity*blocks, width/blocks)
	sums := make([]*Node, blocks)
	for j := range sums {
		sums[j] = b.Project(data.X, gatherRows(a, AddScalar(MulScalar(at, blocks), j)))
	}
	return Statistics{Gram: b.Gram(data.X), Y: Squeeze(b.Project(data.X, InsertAxes(data.Y, -1)), 2), A: Concatenate(sums, 2)}
}

// blocksOf is the least number of equal blocks of so many columns that have at most 2^17 numbers each in so many rows: eight runs of them are 4 MB.
// More than 32 would make a large program: without such a number, it is 1.
func blocksOf(columns, rows int) int {
	for n := 1; n <= min(columns, 32); n++ {
		if columns%n == 0 && columns/n*rows <= 1<<17 {
			return n
		}
	}
	return 1
}

// split makes x [runs, steps * n, ...] into [runs * steps, n, ...].
func split(x *Node, steps int) *Node {
	dims := append([]int{}, x.Shape().Dimensions...)
	dims[0], dims[1] = dims[0]*steps, dims[1]/steps
	return Reshape(x, dims...)
}

// repeat makes x [runs, n, ...] into [runs, steps * n, ...].
func repeat(x *Node, steps int) *Node {
	copies := make([]*Node, steps)
	for i := range copies {
		copies[i] = x
	}
	return Concatenate(copies, 1)
}
