package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// minibatches is the part of a solver that keeps data in a replay buffer, and draws data and indices for each step.
type minibatches struct{ problem }

func (m minibatches) memory(g *Graph, runs int) State {
	state := newReplay(g, runs, m.Capacity, m.Inputs, m.width())
	if m.Weighted {
		state["replay.w"] = ZerosLike(state["replay.y"])
	}
	return state
}

func (m minibatches) observe(state State, d datum, _ Rates) { d.insert(state) }

// draws holds what the SGD steps of a period need and that does not depend on nu. It is computed for all steps at once:
// fewer and larger operations run faster and compile faster.
type draws struct {
	data    Batch     // [runs, steps * Batch, ...]; without A if sums take A from the replay buffer
	at      *Node     // positions of the data in the replay buffer, [runs, steps * Batch]
	sets    index.Set // [runs, steps * indices, ...]; the same in each step when it holds every index
	count   int       // number of indices of a step
	picked  bool      // data.A is a^T z at the indices of each step, [runs, steps * Batch, indices]
	targets *Node     // for the own gradient, [runs, steps, indices, Batch]: see aim
	fixed   *Node     // the fixed part of the predictions, if the targets do not contain it; same shape
	prior   *Node     // what the prior adds to the parameters, [runs, steps * indices, N_theta], or nil
	weights *Node     // of the data for each index; same shape, or nil
}

// nodes returns the addresses of the nodes that were drawn.
func (d *draws) nodes() []**Node {
	return []**Node{
		&d.data.X, &d.data.Y, &d.data.A, &d.data.W, &d.at, &d.sets.Vector, &d.sets.ID, &d.targets, &d.fixed, &d.prior,
		&d.weights,
	}
}

// draw draws the minibatches with their perturbations, and the indices, for all steps.
func (m minibatches) draw(state State, s rng.Stream, size, actions *Node, _ Rates) draws {
	d := m.drawData(state, s, size, actions)
	d.sets, d.count = m.indexSets(s.Named("z"))
	if !m.Unperturbed {
		d.data.A = row.Take(state["replay.a"], d.at)
	}
	return d
}

// drawData draws the minibatches of all steps without their perturbations.
func (m minibatches) drawData(state State, s rng.Stream, size, actions *Node) (d draws) {
	d.data, d.at = minibatch(state, s.Named("batch"), size, m.Steps*m.Batch, actions)
	if m.Standardize {
		d.data.Y = state.standardised(d.data.Y)
	}
	return d
}

// indexSets draws the indices of all steps, and returns them with the number of indices of a step.
func (m minibatches) indexSets(s rng.Stream) (index.Set, int) {
	if m.Integrate == Analytic {
		all := m.every(s.Graph(), s.Runs())
		return all, all.Len()
	}
	n := m.drawn()
	switch m.IndexSet {
	case Frame:
		return index.Frame(m.z, s, m.Steps, n), n
	case Antithetic:
		half := Reshape(m.z.Sample(s, m.Steps*n/2).Dense(), s.Runs(), m.Steps, n/2, m.z.Dim())
		return index.Vectors(Reshape(Concatenate([]*Node{half, Neg(half)}, 2), s.Runs(), m.Steps*n, m.z.Dim())), n
	case Axes:
		return index.Axes(m.z, s.Graph(), s.Runs(), m.Steps), n
	}
	return m.z.Sample(s, m.Steps*n), n
}

// drawn returns the number of indices that a step draws.
func (p problem) drawn() int {
	switch p.IndexSet {
	case PerDatum:
		return p.Batch
	case Axes:
		return 2 * p.z.Dim()
	}
	return p.Indices
}

// indices returns the indices of step i.
func (d draws) indices(i loop.Index) index.Set {
	if d.count == 0 || d.sets.Every {
		return d.sets
	}
	return d.sets.Part(func(x *Node) *Node { return i.Rows(x, d.count) })
}

// step returns the minibatch of step i, which has n data.
func (b Batch) step(i loop.Index, n int) Batch {
	return Batch{X: i.Rows(b.X, n), Y: i.Rows(b.Y, n), A: i.Rows(b.A, n), W: i.Rows(b.W, n)}
}

// weight returns |D|/|D~|, [runs]. size is |D|, a float32 scalar.
func (m minibatches) weight(size *Node, r Rates) *Node {
	return Mul(OnesLike(r.Step), MulScalar(size, 1/float64(m.Batch)))
}

// split makes each step of a batch a run.
func (b Batch) split(steps int) Batch {
	return Batch{X: split(b.X, steps), Y: split(b.Y, steps), A: split(b.A, steps), W: split(b.W, steps)}
}

// split reshapes x [runs, steps * n, ...] to [runs * steps, n, ...]; nil stays nil.
func split(x *Node, steps int) *Node {
	if x == nil {
		return nil
	}
	dims := append([]int{}, x.Shape().Dimensions...)
	dims[0], dims[1] = dims[0]*steps, dims[1]/steps
	return Reshape(x, dims...)
}
