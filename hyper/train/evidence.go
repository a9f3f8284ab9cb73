package train

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A [hyper.Conjugate] belief with two parts holds two models of the responses. Each model has the posterior of [Exact],
// and the choice between the two models has a posterior too. In each model the noise has an unknown variance s^2 with
// the prior inverse gamma (1, sigma_w^2), and theta ~ N(0, rho s^2 I). The marginal likelihood of n responses is then,
// up to a factor that both models share,
//
//	prod_t (1 + h_t)^(-1/2) (2 sigma_w^2 + A)^(-(n + 2)/2),   A = sum_t w_t (y_t - phi_t^T mu_t)^2 / (1 + h_t)
//
// where mu_t and h_t = rho w_t phi_t^T Q_t phi_t are the values before datum t, and n is the sum of the weights
// (Bernardo and Smith, Bayesian theory, 1994, appendix A). The variance must be unknown: if the variance were known and
// too small, the model that follows the noise would win.
//
// A is the minimum over theta of sum_t w_t (y_t - phi_t^T theta)^2 + theta^T theta / rho. A is therefore a quadratic
// function of the responses: for the responses (y - m) / s it is (A_yy - 2 m A_y1 + m^2 A_11) / s^2, with the sums
// A_yy, A_y1 and A_11 for the responses y and for responses of one. With a Discount gamma, n, A and the sum of log(1 +
// h_t) are multiplied by gamma before each datum, and the data that keep the prior's weight (see discount.go) add to A.
// The entries of a [State], float64, are
//
//	evidence.data   n, [runs]
//	evidence.sums   for each model sum_t log(1 + h_t), A_yy, A_y1 and A_11, [runs, 2, 4]
//	nu.3            the probability of the second model, [runs]

// evidenceSums is the number of sums for each model.
const evidenceSums = 4

// leastLeft is the smallest 1 / (1 + h) of a datum. Rounding makes it 0 or less for h above 1e16, which the first datum
// of a feature has that is a time in seconds, for example.
const leastLeft = 1e-16

// noEvidence returns the evidence before any data. It is empty for beliefs with one part.
func (p problem) noEvidence(g *Graph, runs int) State {
	if !p.twoParts() {
		return State{}
	}
	return State{"evidence.data": Zeros(g, shapes.Make(dtypes.Float64, runs)),
		"evidence.sums": Zeros(g, shapes.Make(dtypes.Float64, runs, 2, evidenceSums))}
}

func (p problem) twoParts() bool { return len(p.Conjugate.Parts()) == 2 }

// learn moves the means of both parts by a datum phi with its gain and response, and adds the prediction errors of the
// old means to the evidence. phi and gain are [runs, sizes of both parts], and the response y is [runs, 1]. whole
// places the numbers of the datum's block among the numbers of all blocks, which are otherwise 0.
func (w posterior) learn(state State, d datum, phi, gain, y *Node, whole func(*Node) *Node) {
	var left []*Node // 1 / (1 + h)
	for _, of := range w.parts() {
		left = append(left, MaxScalar(OneMinus(ReduceAndKeep(Mul(of.In(phi), of.In(gain)), ReduceSum, 1)), leastLeft))
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

// means returns the names of the state's entries for mu.
func (p problem) means() []string {
	if p.Standardize {
		return []string{"response.y", "response.one"}
	}
	return []string{"nu.0"}
}

// ofMeans calls f twice: for the entry that learns the responses, with the response y, and for the entry that learns
// responses of one, with ones. Without Standardize there is no second entry, and one is 0.
func (w posterior) ofMeans(f func(name string, y *Node) *Node, y *Node) (of, one *Node) {
	if w.Standardize {
		return f("response.y", y), f("response.one", OnesLike(y))
	}
	of = f("nu.0", y)
	return of, ZerosLike(of)
}

// missed returns the difference between y, [runs, 1], and the prediction of each part of theta at phi: [runs, 2]. whole
// is as in learn.
func (w posterior) missed(theta, phi, y *Node, whole func(*Node) *Node) *Node {
	products := Reshape(Mul(theta, whole(phi)), phi.Shape().Dim(0), -1, phi.Shape().Dim(1))
	products = ReduceSum(products, 1)
	var out []*Node
	for _, of := range w.parts() {
		out = append(out, Sub(y, ReduceAndKeep(of.In(products), ReduceSum, 1)))
	}
	return Concatenate(out, 1)
}

// ofModels stacks the sums of both models, [runs, 2] each, in the order of evidence.sums.
func ofModels(log, yy, y1, one1 *Node) *Node { return Stack([]*Node{log, yy, y1, one1}, 2) }

// besides concatenates parts along the second axis. A single part is returned as it is.
func besides(parts []*Node) *Node {
	if len(parts) == 1 {
		return parts[0]
	}
	return Concatenate(parts, 1)
}

// correct updates the evidence when the response of a datum phi is corrected. It must be called before the means move.
// q is Q phi. If the response changes by D, and the datum has the weight w in the sums and w rho in its block, A_yy
// changes by
//
//	2 w D (y - phi^T mu) + w D^2 (1 - w rho phi^T Q phi)
//
// and A_y1 changes by w D (1 - phi^T mu_1), where y, mu and mu_1 are the values before the correction. The argument
// weight is w, and the argument rho is w rho, both [runs, 1].
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

// shares sets nu.3, the probability of the second model, for beliefs with two parts.
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

// evidence holds evidence.data and evidence.sums of one run in plain Go.
type evidence struct {
	data float64
	sums [2][evidenceSums]float64
}

// share returns the probability of the second model, for responses with the given mean and standard deviation. noise is
// sigma_w^2.
func (e evidence) share(noise, mean, sd float64) float64 {
	log := func(of [evidenceSums]float64) float64 {
		misses := max((of[1]-2*mean*of[2]+mean*mean*of[3])/(sd*sd), 0)
		return -(of[0] + (e.data+2)*math.Log(2*noise+misses)) / 2
	}
	return 1 / (1 + math.Exp(log(e.sums[0])-log(e.sums[1])))
}

// age multiplies the evidence of all earlier data by gamma.
func (e *evidence) age(gamma float64) {
	e.data *= gamma
	for j := range e.sums {
		for i := range e.sums[j] {
			e.sums[j][i] *= gamma
		}
	}
}

// add adds a datum of the given weight to a part's sums. missed is the difference between the response and the part's
// prediction, missedOne is the same for a response of one, and left is 1 / (1 + h).
func (e *evidence) add(part int, weight, left, missed, missedOne float64) {
	of := &e.sums[part]
	of[1] += weight * left * missed * missed
	of[2] += weight * left * missed * missedOne
	of[3] += weight * left * missedOne * missedOne
}

// correct is posterior.correct for one part: w is the weight, by is D, missed and missedOne are the prediction errors
// for the response and for a response of one before the correction, and left is 1 - rho w phi^T Q phi.
func (e *evidence) correct(part int, w, by, missed, missedOne, left float64) {
	of := &e.sums[part]
	of[1] += w * by * (2*missed + by*left)
	of[2] += w * by * missedOne
}
