package train

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Exact training is recursive least squares. For a base model linear in theta the minimiser of the loss of section 2.1
// has the closed form of [Oracle]: with rho = sigma_p^2 / sigma_w^2 and Q = (I + rho Phi^T Phi)^-1
//
//	mu = Q (mu0 + rho Phi^T y),   C = Q (C0 + rho Phi^T (s A - Phi DB)),   s = Rates.Perturbation
//
// with a Q of its own for each block of C's layout, and likewise for each particle of an ensemble. A datum phi changes
// Q by a matrix of rank one, and moves nu along the gain k by what the prediction of the datum misses its target:
//
//	k = rho Q phi / (1 + rho phi^T Q phi),   mu <- mu + k (y - phi^T mu)
//
// All is in float64. Where Phi^T Phi is diagonal, so is Q, and the counts of data are kept. Otherwise a root S of Q = S
// S^T is kept, by Potter's update (Battin 1964, "Astronautical Guidance"; Bierman 1977, "Factorization Methods for
// Discrete Sequential Estimation", section V.2): Q then stays symmetric and positive whatever the rounding and the
// scale of the features, and its numbers have twice the digits. The entries of a [State] are
//
//	nu.i           float64
//	exact.gram     Phi^T Phi where it is diagonal, float64 [runs, N_theta]
//	exact.root     S, float64 [runs, N_theta, N_theta]
//	exact.blocks   the roots of C's blocks on the diagonal, likewise, where a linear hypermodel's layout has more than one

// ExactFor reports why a model has no [Exact] minimiser. It has one if the base model is linear in its parameters
// (base.Tabular, base.Linear) and the hypermodel is an ensemble, with any prior; a linear hypermodel whose indices have
// mean 0 (Gaussian, on a sphere, per arm), with a prior of the same base model or none; or a dense linear hypermodel
// with one-hot indices.
func ExactFor(m hyper.Model) error {
	if _, ok := m.Base.(hyper.LinearBase); !ok {
		return fmt.Errorf("integrate exact needs a base model that is linear in its parameters, not %T; use sampled", m.Base)
	}
	if _, ok := m.Hyper.(hyper.Ensemble); ok {
		return nil
	}
	l, ok := m.Hyper.(hyper.Linear)
	if !ok {
		return fmt.Errorf("integrate exact needs a linear hypermodel or an ensemble, not %T; use sampled", m.Hyper)
	}
	mean, _ := m.Index().Moments()
	switch {
	case oneHot(m) && len(l.Sizes) > 1:
		return errors.New("integrate exact needs a dense layout where a linear hypermodel has one-hot indices; use sampled")
	case !oneHot(m) && mean != 0:
		return fmt.Errorf("integrate exact needs indices of mean 0, or one-hot ones, not %T; use sampled", m.Index())
	case !oneHot(m) && !m.LinearInTheta():
		return errors.New("integrate exact needs a prior with the model's own base model, or none; use sampled")
	}
	return nil
}

// GainSize is how many numbers [Exact] training keeps of the inputs of the data: N_theta for a tabular base model,
// N_theta^2 for others, and as many again where the layout of a linear hypermodel has blocks.
func GainSize(m hyper.Model) int {
	n := m.Hyper.NumTheta()
	if _, diagonal := m.Base.(base.Tabular); diagonal {
		return n
	}
	if l, ok := m.Hyper.(hyper.Linear); ok && len(l.Sizes) > 1 {
		return 2 * n * n
	}
	return n * n
}

// oneHot tells whether each index is a particle.
func oneHot(m hyper.Model) bool {
	_, ok := m.Index().(index.OneHot)
	return ok
}

// nothingSeen is the part of a state that knows the inputs of the data, before any.
func (t Trainer) nothingSeen(g *Graph, runs int) State {
	gram := double(t.Model.Base.(hyper.LinearBase).NoData(g, runs))
	if gram.Rank() == 2 {
		return State{"exact.gram": gram}
	}
	n := t.Model.Hyper.NumTheta()
	row, column := Iota(g, shapes.Make(dtypes.Int32, runs, n, n), 1), Iota(g, shapes.Make(dtypes.Int32, runs, n, n), 2)
	identity := double(Equal(row, column))
	state := State{"exact.root": identity}
	if l, ok := t.Model.Hyper.(hyper.Linear); ok && len(l.Sizes) > 1 {
		state["exact.blocks"] = identity
	}
	return state
}

// fold adds a datum of each run to the state, with its input x [runs, 1, features], response y [runs] and perturbation
// a [runs, 1, width].
func (t Trainer) fold(state State, x, y, a *Node, r Rates) {
	b := t.Model.Base.(hyper.LinearBase)
	phi := double(Squeeze(b.Project(x, OnesLike(InsertAxes(y, -1, -1))), 2)) // [runs, N_theta]
	y = InsertAxes(double(y), -1)
	target := Mul(InsertAxes(double(r.Perturbation), -1), t.noise(a, phi)) // of theta(z) - mu, as a linear function of z: [runs, N_z]
	if t.Model.Prior != nil {
		target = Sub(target, t.priorAt(state, phi, x))
	}
	rho := InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1)
	gain, gainC := t.gains(state, phi, rho)
	nu := list(state, "nu")
	l, ok := t.Model.Hyper.(hyper.Linear)
	if !ok { // an ensemble, [runs, N, N_theta]
		missed := Sub(Add(y, target), ReduceSum(Mul(nu[0], InsertAxes(phi, 1)), 2))
		state["nu.0"] = Add(nu[0], Mul(InsertAxes(missed, -1), InsertAxes(gain, 1)))
		return
	}
	missed := Sub(y, ReduceAndKeep(Mul(phi, nu[0]), ReduceSum, 1))
	missedC := Sub(target, l.MulT(nu[1], phi))
	if oneHot(t.Model) {
		// The loss sees mu + c_i alone, which moves along the gain by what particle i misses. Of all ways to share the
		// moves between mu and the columns of C we take the shortest, which is SGD's.
		missedC = Add(missedC, missed)
		missed = MulScalar(ReduceAndKeep(missedC, ReduceSum, 1), 1/float64(l.Width+1))
		missedC = Sub(missedC, missed)
	}
	state["nu.0"] = Add(nu[0], Mul(gain, missed))
	state["nu.1"] = Add(nu[1], Mul(InsertAxes(gainC, -1), l.Spread(missedC)))
}

// noise is the whole vector A_t of a datum, [runs, N_z].
func (t Trainer) noise(a, phi *Node) *Node {
	a = double(a)
	if d, ok := t.Model.Index().(index.PerArm); ok { // a is its block
		return Reshape(Mul(InsertAxes(phi, -1), a), phi.Shape().Dim(0), d.Dim())
	}
	return Squeeze(a, 1)
}

// priorAt is what the prior adds to a datum's prediction, as a linear function of the index: [runs, N_z].
func (t Trainer) priorAt(state State, phi, x *Node) *Node {
	m, p := t.Model, t.Params(state)
	switch {
	case !m.LinearInTheta(): // indices are one-hot
		theta := m.PriorTheta(p, index.OneHot{N: m.Index().Dim()}.All(phi.Graph(), phi.Shape().Dim(0)))
		return double(Squeeze(m.Prior.Base.Apply(theta, x), 2))
	case p.PriorTheta != nil:
		return ReduceSum(Mul(double(p.PriorTheta), InsertAxes(phi, 1)), 2)
	}
	return m.Prior.Layout.MulT(double(p.Prior), phi)
}

// gains are k for mu, or for particles, and for C, each [runs, N_theta]; it adds the datum to what the state knows of
// Q.
func (t Trainer) gains(state State, phi, rho *Node) (mu, c *Node) {
	if gram := state["exact.gram"]; gram != nil {
		gram = Add(gram, Square(phi))
		state["exact.gram"] = gram
		k := Div(Mul(rho, phi), AddScalar(Mul(rho, gram), 1))
		return k, k
	}
	state["exact.root"], mu = potter(state["exact.root"], phi, rho, hyper.Dense(phi.Shape().Dim(1), 1))
	if state["exact.blocks"] == nil {
		return mu, mu
	}
	state["exact.blocks"], c = potter(state["exact.blocks"], phi, rho, t.Model.Hyper.(hyper.Linear).Layout)
	return mu, c
}

// potter adds a datum phi [runs, n] to the root S [runs, n, n] of Q, which is block diagonal with the blocks of a
// layout, and returns the gain. For each block, with f = S^T phi and a = 1 / (1 + rho f^T f),
//
//	k = rho a S f,   S <- S - rho a / (1 + sqrt(a)) (S f) f^T
//
// Sums, not products of matrices, which XLA might order by the number of runs.
func potter(s, phi, rho *Node, l hyper.Layout) (root, gain *Node) {
	blocks := hyper.Layout{Sizes: l.Sizes, Width: 1}
	f := ReduceSum(Mul(s, InsertAxes(phi, -1)), 1)
	norm2 := Squeeze(blocks.Spread(blocks.MulT(InsertAxes(f, -1), f)), 2)
	a := Reciprocal(AddScalar(Mul(rho, norm2), 1))
	sf := Mul(Mul(rho, a), ReduceSum(Mul(s, InsertAxes(f, 1)), 2))
	change := Mul(InsertAxes(Div(sf, AddScalar(Sqrt(a), 1)), -1), InsertAxes(f, 1))
	if len(l.Sizes) > 1 {
		change = Where(sameBlock(l, change), change, ZerosLike(change))
	}
	return Sub(s, change), sf
}

// sameBlock tells which entries of x [runs, rows, rows] lie in the blocks on the diagonal.
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
