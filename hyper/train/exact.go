package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Exact training is recursive least squares. For a base model linear in theta the minimiser of the loss of section 2.1
// has the closed form of [Oracle]: with rho = sigma_p^2 / sigma_w^2 and Q = (I + rho Phi^T Phi)^-1
//
//	mu = Q (mu0 + rho Phi^T y),   C = Q (C0 + rho Phi^T (s A - Phi DB)),   s = Rates.Perturbation
//
// where each block of C's layout has its own Q. Each particle of an ensemble has a minimiser of the same form. A datum
// phi changes Q by a matrix of rank one. The datum moves nu along the gain k, by the difference between the target and
// the prediction:
//
//	k = rho Q phi / (1 + rho phi^T Q phi),   mu <- mu + k (y - phi^T mu)
//
// All numbers are float64. If Phi^T Phi is diagonal, Q is diagonal too, and the state keeps the counts of data.
// Otherwise the state keeps a root S of Q = S S^T, by Potter's update ([root.Update]). Q then stays symmetric and
// positive whatever the rounding and the scale of the features, and has the precision of twice as many digits. The
// entries of a [State] are
//
//	nu.i           float64; with Config.Standardize see standard.go
//	exact.gram     Phi^T Phi if it is diagonal, with the weights of the data, float64 [runs, N_theta]
//	exact.root     S, float64 [runs, N_theta, N_theta]
//	exact.blocks   the roots of C's blocks, on the diagonal, of the same shape, if the layout has several blocks

// exact is the solver of [Exact] for beliefs that are not hyper.Conjugate.
type exact struct{ problem }

func newExact(p problem) solver { return exact{p} }

// exactFor reports why a belief has no minimiser that [Exact] can compute, and returns nil if the belief has one.
func exactFor(b hyper.Belief) error {
	p := newProblem(Config{Integrate: Exact}, b)
	switch {
	case p.Conjugate != nil:
		return nil
	case p.Linear == nil || p.Parametric == nil:
		return faults.New("Integrate", "exact needs a base model that is linear in its parameters; use sampled")
	case p.Particles != nil:
		return nil
	case p.Affine == nil:
		return faults.New("Integrate", "exact needs a linear hypermodel or an ensemble; use sampled")
	case p.oneHot() && len(p.Affine.Structure().Sizes) > 1:
		return faults.New("Integrate", "exact needs a dense layout where a linear hypermodel has one-hot indices; "+
			"use sampled")
	case !p.oneHot() && p.z.Moments().Mean != 0:
		return faults.New("Integrate", "exact needs indices of mean 0, or one-hot ones, not %T; use sampled", p.z)
	case !p.oneHot() && p.Additive != nil:
		return faults.New("Integrate", "exact needs a prior with the model's own base model, or none; use sampled")
	}
	return nil
}

// ExactSize returns the number of numbers that [Exact] training of the belief keeps about the inputs of the data, for
// each run: N_theta if Phi^T Phi is diagonal, otherwise N_theta^2, or 2 N_theta^2 if the layout of an affine belief has
// several blocks. It is 0 for a hyper.Conjugate belief, which keeps them in nu. The belief must have an exact
// minimiser.
func (t Trainer) ExactSize() int {
	p := t.problem()
	if p.Conjugate != nil {
		return 0 // nu holds what is known about the inputs
	}
	n := p.Parametric.NumTheta()
	if p.Linear.Diagonal() {
		return n
	}
	if p.blocks() {
		return 2 * n * n
	}
	return n * n
}

// blocks reports whether C has a layout of several blocks.
func (p problem) blocks() bool { return p.Affine != nil && len(p.Affine.Structure().Sizes) > 1 }

// oneHot reports whether each index stands for a particle.
func (p problem) oneHot() bool {
	_, ok := p.z.(index.Enumerable)
	return ok
}

// every returns the set of all indices, for a number of runs. The indices must be particles.
func (p problem) every(g *Graph, runs int) index.Set { return p.z.(index.Enumerable).All(g, runs) }

// memory returns what the state keeps about the inputs, before any data.
func (w exact) memory(g *Graph, runs int) State {
	gram := double(w.Linear.NoData(g, runs))
	if w.Linear.Diagonal() {
		return State{"exact.gram": gram}
	}
	n := w.Parametric.NumTheta()
	row, column := Iota(g, shapes.Make(dtypes.Int32, runs, n, n), 1), Iota(g, shapes.Make(dtypes.Int32, runs, n, n), 2)
	identity := double(Equal(row, column))
	state := State{"exact.root": identity}
	if w.blocks() {
		state["exact.blocks"] = identity
	}
	return state
}

func (exact) draw(State, rng.Stream, *Node, *Node, Rates) draws { return draws{} }

// gradient returns nil: Exact makes no steps.
func (exact) gradient(State, *draws, loop.Index, *Node, Rates) []*Node { return nil }

// observe moves nu to the minimiser after the datum.
func (w exact) observe(state State, d datum, r Rates) {
	x, y := d.input(), InsertAxes(double(d.y), -1)
	phi := double(Squeeze(w.Linear.Project(x, OnesLike(InsertAxes(d.y, -1, -1))), 2)) // [runs, N_theta]
	// target is what theta(z) - mu should predict, as a linear function of z: [runs, N_z]
	target := Mul(InsertAxes(double(r.Perturbation), -1), w.noiseOf(d.a, phi))
	if fixed := w.priorAt(params(state), phi, x); fixed != nil {
		target = Sub(target, fixed)
	}
	rho := InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1)
	gain, gainC := w.gains(state, phi, rho, d)
	if w.Standardize {
		state.follow(phi, gain, y)
		y = ZerosLike(y)
	}
	nu := list(state, "nu")
	if w.Particles != nil { // [runs, N, N_theta]
		missed := Sub(Add(y, target), ReduceSum(Mul(nu[0], InsertAxes(phi, 1)), 2))
		state["nu.0"] = Add(nu[0], Mul(InsertAxes(missed, -1), InsertAxes(gain, 1)))
		return
	}
	l := w.Affine.Structure()
	missed := Sub(y, ReduceAndKeep(Mul(phi, nu[0]), ReduceSum, 1))
	missedC := Sub(target, l.MulT(nu[1], phi))
	if w.oneHot() {
		// The loss sees only mu + c_i, which moves along the gain by the prediction error of particle i. There are many
		// ways to share the move between mu and the columns of C. We take the shortest move, which SGD also takes.
		missedC = Add(missedC, missed)
		missed = MulScalar(ReduceAndKeep(missedC, ReduceSum, 1), 1/float64(l.Width+1))
		missedC = Sub(missedC, missed)
	}
	state["nu.0"] = Add(nu[0], Mul(gain, missed))
	state["nu.1"] = Add(nu[1], Mul(InsertAxes(gainC, -1), l.Spread(missedC)))
}

// noiseOf returns the whole vector A_t of a datum, [runs, N_z].
func (w exact) noiseOf(a, phi *Node) *Node {
	a = double(a)
	if w.z.Moments().Blocks > 0 { // a is one block of A_t
		return Reshape(Mul(InsertAxes(phi, -1), a), phi.Shape().Dim(0), w.z.Dim())
	}
	return Squeeze(a, 1)
}

// priorAt returns what the prior adds to a datum's prediction, as a linear function of the index: [runs, N_z]. nil is
// 0.
func (w exact) priorAt(at hyper.Params, phi, x *Node) *Node {
	inside := w.priorInside(at, phi)
	if w.Additive == nil {
		return inside
	}
	all := w.every(phi.Graph(), phi.Shape().Dim(0))
	apart := double(Squeeze(w.Additive.FixedPart(at, all, x, 1), 2))
	if inside == nil {
		return apart
	}
	return Add(inside, apart)
}

// priorInside is priorAt for the part of the prior that is in the parameters theta.
func (w exact) priorInside(at hyper.Params, phi *Node) *Node {
	if w.Particles == nil {
		db, l := w.Affine.PriorMatrix(at)
		if db == nil {
			return nil
		}
		return l.MulT(double(db), phi)
	}
	theta := w.addedByPrior(ZerosLike(at.Nu[0]), at, w.every(phi.Graph(), phi.Shape().Dim(0)))
	if theta == nil {
		return nil
	}
	return ReduceSum(Mul(double(theta), InsertAxes(phi, 1)), 2)
}

// gains adds the datum to what the state knows about Q. It returns the gain k for mu, or for particles, and the gain
// for C, each [runs, N_theta].
func (w exact) gains(state State, phi, rho *Node, d datum) (mu, c *Node) {
	if gram := state["exact.gram"]; gram != nil {
		gram = Add(gram, d.weighted(Square(phi)))
		state["exact.gram"] = gram
		k := Div(Mul(d.weighted(rho), phi), AddScalar(Mul(rho, gram), 1))
		return k, k
	}
	rho = d.weighted(rho)
	state["exact.root"], mu = potter(state["exact.root"], phi, rho, hyper.Dense(phi.Shape().Dim(1), 1))
	if state["exact.blocks"] == nil {
		return mu, mu
	}
	state["exact.blocks"], c = potter(state["exact.blocks"], phi, rho, w.Affine.Structure())
	return mu, c
}

// potter adds a datum phi [runs, n] to the root S [runs, n, n] of Q, and returns the next root and the gain: see
// [root.Update]. Q is block diagonal with the blocks of the layout.
func potter(s, phi, rho *Node, l hyper.Layout) (next, gain *Node) {
	return root.Update(s, phi, rho, diagonalBlocks{l})
}

// diagonalBlocks gives [root.Update] the blocks of a layout on the diagonal.
type diagonalBlocks struct{ layout hyper.Layout }

func (b diagonalBlocks) Norm2(f *Node) *Node {
	blocks := hyper.Layout{Sizes: b.layout.Sizes, Width: 1}
	return Squeeze(blocks.Spread(blocks.MulT(InsertAxes(f, -1), f)), 2)
}

func (b diagonalBlocks) Restrict(m *Node) *Node {
	if len(b.layout.Sizes) == 1 {
		return m
	}
	return Where(sameBlock(b.layout, m), m, ZerosLike(m))
}

// sameBlock returns which entries of x [runs, rows, rows] lie in the blocks on the diagonal.
func sameBlock(l hyper.Layout, x *Node) *Node {
	var block []int32
	for b, size := range l.Sizes {
		for range size {
			block = append(block, int32(b))
		}
	}
	of := Const(x.Graph(), block)
	dims := x.Shape().Dimensions
	return Equal(BroadcastToDims(InsertAxes(of, 0, -1), dims...), BroadcastToDims(InsertAxes(of, 0, 0), dims...))
}

func double(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }
