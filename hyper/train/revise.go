package train

import (
	"maps"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// Correction replaces the response of a datum that each run has observed.
type Correction struct {
	X, Actions *Node // the datum's input, as in [Trainer.Observe]
	Was, Y     *Node // the response that was observed, and the right response, [runs]
	Age        *Node // the number of data observed after the datum, int32 scalar
	Row        *Node // the datum's row in the replay buffer, int32 scalar; -1 if the buffer does not hold the datum
}

// Revise corrects the response of a datum. Rates, which include the Weight of the datum, must be the same as for
// [Trainer.Observe].
//
// For Exact and FullData, the belief after Revise is the belief that the right response would have given in the first
// place, up to rounding: such beliefs are linear in the responses. The mean and the variance of Standardize are
// corrected likewise. If training replays data, the replay buffer is corrected. The SGD steps that were made stay, and
// later steps see the right response. For a datum that the buffer has dropped, Revise changes only the mean and the
// variance.
func (t Trainer) Revise(state State, c Correction, r Rates) State {
	out := maps.Clone(state)
	if t.Standardize {
		weight := t.weightAt(c)
		if r.Weight != nil {
			weight = Mul(weight, double(r.Weight))
		}
		out.recount(c, weight)
	}
	t.solver().revise(out, c, r)
	return out
}

// weightAt returns the weight that the discount leaves to the datum, a float64 scalar.
func (c Config) weightAt(of Correction) *Node {
	one := ScalarOne(of.Y.Graph(), dtypes.Float64)
	if !c.discounts() {
		return one
	}
	return Exp(MulScalar(double(of.Age), math.Log(c.Discount)))
}

// recount corrects the mean and the variance of the responses, in which the datum has the given weight.
func (state State) recount(c Correction, weight *Node) {
	mean, was, y := state["response.mean"], double(c.Was), double(c.Y)
	n := Max(state["response.count"], Mul(weight, OnesLike(mean)))
	moved := Div(Mul(weight, Sub(y, was)), n)
	m2 := Add(state["response.m2"], Mul(weight, Sub(Square(Sub(y, mean)), Square(Sub(was, mean)))))
	state["response.m2"] = MaxScalar(Sub(m2, Mul(n, Square(moved))), 0)
	state["response.mean"] = Add(mean, moved)
}

// by returns the change of the response, float64 [runs, 1].
func (c Correction) by() *Node { return InsertAxes(Sub(double(c.Y), double(c.Was)), -1) }

// datum returns the datum with its right response.
func (c Correction) datum(r Rates) datum {
	return datum{x: c.X, actions: c.Actions, y: c.Y, w: r.Weight}
}

func (m minibatches) revise(state State, c Correction, _ Rates) {
	at, kept := MaxScalar(c.Row, 0), state["replay.y"]
	held := BroadcastToDims(GreaterOrEqual(c.Row, ScalarZero(c.Row.Graph(), c.Row.DType())), c.Y.Shape().Dimensions...)
	state["replay.y"] = row.Put(kept, Where(held, c.Y, row.At(kept, at)), at)
}

func (w allSums) revise(state State, c Correction, _ Rates) {
	phi := c.datum(Rates{}).features(w.Linear)
	state["data.y"] = Add(state["data.y"], Mul(InsertAxes(Sub(c.Y, c.Was), -1), phi))
}

// revise moves the mean of the functions by rho Q phi times the change of the response, with Q of all data.
func (w exact) revise(state State, c Correction, r Rates) {
	d := c.datum(r)
	phi := double(Squeeze(w.Linear.Project(d.input(), OnesLike(InsertAxes(d.y, -1, -1))), 2))
	rho := InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1)
	var q *Node
	if gram := state["exact.gram"]; gram != nil {
		q = Div(phi, AddScalar(Mul(rho, gram), 1))
	} else {
		q = squared(state["exact.root"], phi)
	}
	w.moves(state, Mul(Mul(d.weighted(rho), c.by()), q))
}

// squared returns S S^T phi for roots S [runs, n, n]: [runs, n].
func squared(s, phi *Node) *Node {
	f := ReduceSum(Mul(s, InsertAxes(phi, -1)), 1)
	return ReduceSum(Mul(s, InsertAxes(f, 1)), 2)
}

// revise does what exact.revise does, in the block of the datum. A discount reduces the weight of the datum.
func (w posterior) revise(state State, c Correction, r Rates) {
	d := c.datum(r)
	phi, block := w.Conjugate.Phi(params(state), d.input())
	phi = double(Squeeze(phi, 1))
	runs, blocks := phi.Shape().Dim(0), state["nu.1"].Shape().Dim(1)
	var all []*Node
	for j, of := range w.parts() {
		roots := Reshape(state[key("nu", 1+j)], runs, blocks, of.Size()*of.Size())
		own := Reshape(row.Take(roots, block), runs, of.Size(), of.Size())
		all = append(all, squared(own, of.In(phi)))
	}
	q := besides(all)
	rho := d.weighted(InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1))
	rho = Mul(rho, w.weightAt(c))
	if w.discounts() { // a block has the weights of its last visit
		t := w.turns(blocks, phi.Shape().Dim(1))
		waited := t.waitedBy(InsertAxes(AddScalar(t.turn(state), int32(t.data-1)), -1), block)
		rho = Mul(rho, Exp(MulScalar(double(waited), -math.Log(w.Discount))))
	}
	theta := Mul(Mul(rho, c.by()), q)
	is := InsertAxes(OneHot(Squeeze(block, 1), blocks, dtypes.Float64), -1)
	whole := func(x *Node) *Node { return Reshape(Mul(is, InsertAxes(x, 1)), runs, blocks*x.Shape().Dim(1)) }
	if w.twoParts() {
		w.correct(state, d.weighted(Mul(w.weightAt(c), OnesLike(rho))), rho, c, phi, q, whole)
	}
	w.moves(state, whole(theta))
	w.shares(state, r)
}

// moves adds theta, [runs, N_theta], to the mean of the minimiser. With Standardize, moves adds theta to response.y
// instead.
func (p problem) moves(state State, theta *Node) {
	if p.Standardize {
		state["response.y"] = Add(state["response.y"], theta)
		return
	}
	p.shift(state, theta)
}

// shift adds theta, [runs, N_theta], to the mean of the functions of an exact minimiser. For a hypermodel with one-hot
// indices, mu moves N_z times as far as each column of C: see exact.observe.
func (p problem) shift(state State, theta *Node) {
	switch {
	case p.Particles != nil:
		state["nu.0"] = Add(state["nu.0"], InsertAxes(theta, 1))
	case p.oneHot():
		column := MulScalar(theta, 1/float64(p.z.Dim()+1))
		state["nu.0"] = Add(state["nu.0"], Sub(theta, column))
		state["nu.1"] = Add(state["nu.1"], InsertAxes(column, -1))
	default:
		state["nu.0"] = Add(state["nu.0"], theta)
	}
}
