package train

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A [hyper.Conjugate] belief of two parts is two models of the responses, each with the posterior of [Exact]. Which of
// them it is has a posterior too. With noise of unknown variance s^2, of the prior inverse gamma (1, sigma_w^2), and
// theta ~ N(0, rho s^2 I), the marginal likelihood of n responses is, up to what both models share,
//
//	prod_t (1 + h_t)^(-1/2) (2 sigma_w^2 + A)^(-(n + 2)/2),   A = sum_t w_t (y_t - phi_t^T mu_t)^2 / (1 + h_t)
//
// where mu_t and h_t = rho w_t phi_t^T Q_t phi_t are those before datum t, and n is the sum of the weights (Bernardo and
// Smith, Bayesian theory, 1994, appendix A). The variance must be unknown: with a variance that is too small the model
// that follows noise wins.
//
// A is the least of the weighted squares of the misses plus theta^T theta / rho. So A is a quadratic function of the
// responses, and of (y - m) / s it is (A_yy - 2 m A_y1 + m^2 A_11) / s^2, with the sums for responses y and for ones.
// With a Discount gamma n, A and the sum of log(1 + h_t) count gamma times what they did before each datum, and the
// data that keep the prior's weight (see discount.go) add to A. The entries of a [State], float64, are
//
//	evidence.data   n, [runs]
//	evidence.sums   of each model sum_t log(1 + h_t), A_yy, A_y1 and A_11, [runs, 2, 4]
//	nu.3            the probability of the second model, [runs]

// evidenceSums are how many sums there are of a model.
const evidenceSums = 4

// noEvidence is what is known of the models of no data.
func (p problem) noEvidence(g *Graph, runs int) State {
	if !p.twoParts() {
		return State{}
	}
	return State{"evidence.data": Zeros(g, shapes.Make(dtypes.Float64, runs)),
		"evidence.sums": Zeros(g, shapes.Make(dtypes.Float64, runs, 2, evidenceSums))}
}

func (p problem) twoParts() bool { return len(p.Conjugate.Parts()) == 2 }

// learn moves the means of two parts by a datum phi with its gain [runs, sizes of both parts], whose response is y
// [runs, 1], and adds to the evidence what they missed. whole puts numbers into the datum's block.
func (w posterior) learn(state State, d datum, phi, gain, y *Node, whole func(*Node) *Node) {
	var left []*Node // 1 / (1 + h)
	for _, of := range w.parts() {
		left = append(left, OneMinus(ReduceAndKeep(Mul(of.In(phi), of.In(gain)), ReduceSum, 1)))
	}
	move := func(name string, y *Node) *Node {
		missed := w.missed(state[name], phi, y, whole)
		var moves []*Node
		for j, of := range w.parts() {
			moves = append(moves, Mul(of.In(gain), Slice(missed, AxisRange(), AxisRange(j, j+1))))
		}
		state[name] = Add(state[name], whole(Concatenate(moves, 1)))
		return missed
	}
	of, one := w.ofMeans(move, y)
	state["evidence.data"] = Add(state["evidence.data"], Squeeze(d.weighted(OnesLike(y)), 1))
	log := Neg(Log(Concatenate(left, 1)))
	weight := d.weighted(Concatenate(left, 1))
	state["evidence.sums"] = Add(state["evidence.sums"], ofModels(log, Mul(weight, Square(of)), Mul(weight, Mul(of, one)),
		Mul(weight, Square(one))))
}

// means are the names of what the state has of mu.
func (p problem) means() []string {
	if p.Standardize {
		return []string{"response.y", "response.one"}
	}
	return []string{"nu.0"}
}

// ofMeans calls f for the responses, with what was observed, and for ones. Without Standardize there are no ones, and
// they are 0.
func (w posterior) ofMeans(f func(name string, y *Node) *Node, y *Node) (of, one *Node) {
	if w.Standardize {
		return f("response.y", y), f("response.one", OnesLike(y))
	}
	of = f("nu.0", y)
	return of, ZerosLike(of)
}

// missed is what each part of theta misses of y, [runs, 1], at phi in a block: [runs, 2].
func (w posterior) missed(theta, phi, y *Node, whole func(*Node) *Node) *Node {
	products := Reshape(Mul(theta, whole(phi)), phi.Shape().Dim(0), -1, phi.Shape().Dim(1))
	products = ReduceSum(products, 1)
	var out []*Node
	for _, of := range w.parts() {
		out = append(out, Sub(y, ReduceAndKeep(of.In(products), ReduceSum, 1)))
	}
	return Concatenate(out, 1)
}

// ofModels are numbers of both models, [runs, 2] each, as evidence.sums has them.
func ofModels(log, yy, y1, one1 *Node) *Node { return Stack([]*Node{log, yy, y1, one1}, 2) }

// besides joins parts of the second axis; one alone is itself.
func besides(parts []*Node) *Node {
	if len(parts) == 1 {
		return parts[0]
	}
	return Concatenate(parts, 1)
}

// correct corrects the evidence of a datum phi, with Q phi in q, before the means move. Where the response moves by D,
// and the datum counts w, and w rho in its block, A_yy moves by
//
//	2 w D (y - phi^T mu) + w D^2 (1 - w rho phi^T Q phi)
//
// with y and mu before, and A_y1 by w D (1 - phi^T mu_1). weight is w, and rho is w rho, [runs, 1].
func (w posterior) correct(state State, weight, rho *Node, c Correction, phi, q *Node, whole func(*Node) *Node) {
	missed := func(name string, y *Node) *Node { return w.missed(state[name], phi, y, whole) }
	of, one := w.ofMeans(missed, InsertAxes(double(c.Was), -1))
	var left []*Node
	for _, part := range w.parts() {
		left = append(left, OneMinus(Mul(rho, ReduceAndKeep(Mul(part.In(phi), part.In(q)), ReduceSum, 1))))
	}
	by := c.by()
	yy := Mul(Mul(weight, by), Add(MulScalar(of, 2), Mul(by, Concatenate(left, 1))))
	zero := ZerosLike(yy)
	state["evidence.sums"] = Add(state["evidence.sums"], ofModels(zero, yy, Mul(Mul(weight, by), one), zero))
}

// shares gives the second model its probability.
func (w posterior) shares(state State, r Rates) {
	if !w.twoParts() {
		return
	}
	n, noise := InsertAxes(AddScalar(state["evidence.data"], 2), -1), InsertAxes(double(r.NoiseVar), -1)
	of := func(i int) *Node {
		return Squeeze(Slice(state["evidence.sums"], AxisRange(), AxisRange(), AxisRange(i, i+1)), 2)
	}
	misses := of(1)
	if w.Standardize {
		mean, sd := state.responses()
		mean, sd = InsertAxes(mean, -1), InsertAxes(sd, -1)
		misses = Add(Sub(misses, Mul(MulScalar(mean, 2), of(2))), Mul(Square(mean), of(3)))
		misses = Div(misses, Square(sd))
	}
	log := MulScalar(Add(of(0), Mul(n, Log(Add(MulScalar(noise, 2), MaxScalar(misses, 0))))), -0.5) // [runs, 2]
	odds := Sub(Slice(log, AxisRange(), AxisRange(1, 2)), Slice(log, AxisRange(), AxisRange(0, 1)))
	state["nu.3"] = Squeeze(Sigmoid(odds), 1)
}

// evidence is that of one run, in plain Go.
type evidence struct {
	data float64
	sums [2][evidenceSums]float64
}

// share is the probability of the second model, for responses with a mean and a standard deviation.
func (e evidence) share(noise, mean, sd float64) float64 {
	log := func(of [evidenceSums]float64) float64 {
		misses := max((of[1]-2*mean*of[2]+mean*mean*of[3])/(sd*sd), 0)
		return -(of[0] + (e.data+2)*math.Log(2*noise+misses)) / 2
	}
	return 1 / (1 + math.Exp(log(e.sums[0])-log(e.sums[1])))
}

// age makes the data before count gamma times what they did.
func (e *evidence) age(gamma float64) {
	e.data *= gamma
	for j := range e.sums {
		for i := range e.sums[j] {
			e.sums[j][i] *= gamma
		}
	}
}

// add adds to a part's sums what a datum, of a weight, misses with its response and with a one; left is 1 / (1 + h).
func (e *evidence) add(part int, weight, left, missed, missedOne float64) {
	of := &e.sums[part]
	of[1] += weight * left * missed * missed
	of[2] += weight * left * missed * missedOne
	of[3] += weight * left * missedOne * missedOne
}

// correct is posterior.correct for a part, with w, D, what the response and a one missed before, and 1 - rho w phi^T Q
// phi.
func (e *evidence) correct(part int, w, by, missed, missedOne, left float64) {
	of := &e.sums[part]
	of[1] += w * by * (2*missed + by*left)
	of[2] += w * by * missedOne
}
