package train

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// With Config.Standardize the loss sees (y - m) / s in the place of a response y, where m is the mean and s the
// standard deviation of all responses so far. A belief then learns responses of any scale and offset. s is 1 if all
// responses are equal. The entries of a [State], float64, are
//
//	response.count, response.mean, response.m2   of the responses, by Welford (1962): s^2 = m2 / (count - 1); [runs]
//	response.y, response.one                     for Exact: see solution; [runs, N_theta]
//
// A replay buffer keeps the responses themselves. A minibatch standardises them by the current m and s.

// standardizes reports why responses cannot be standardised.
func (p problem) standardizes() error {
	switch {
	case !p.Standardize:
		return nil
	case p.Integrate == FullData:
		return faults.New("Standardize", "cannot change the responses that %s full-data has added up; "+
			"use exact, analytic or sampled", faults.Name("Integrate"))
	case !p.Loss.Quadratic():
		return faults.New("Standardize", "needs a quadratic loss: %T depends on the units of the responses; leave it off",
			p.Loss)
	}
	return nil
}

// noResponses returns the entries of a State before any response.
func (p problem) noResponses(g *Graph, runs int) State {
	state, dims := State{}, []int{runs}
	for _, name := range []string{"response.count", "response.mean", "response.m2"} {
		state[name] = Zeros(g, shapes.Make(dtypes.Float64, dims...))
	}
	if p.Integrate == Exact {
		zero := Zeros(g, shapes.Make(dtypes.Float64, runs, p.numTheta()))
		state["response.y"], state["response.one"] = zero, zero
	}
	return state
}

// count adds a response of each run, [runs]. A weight w [runs] counts it as w responses; nil means 1.
func (state State) count(y, w *Node) {
	off := Sub(double(y), state["response.mean"])
	n, by := AddScalar(state["response.count"], 1), off
	if w != nil {
		n, by = Add(state["response.count"], double(w)), Mul(double(w), off)
	}
	mean := Add(state["response.mean"], Div(by, n))
	state["response.m2"] = Add(state["response.m2"], Mul(by, Sub(double(y), mean)))
	state["response.count"], state["response.mean"] = n, mean
}

// tiny is a divisor in place of 0.
const tiny = 1e-300

// responses returns the mean and the standard deviation of the responses so far, float64 [runs].
func (state State) responses() (mean, sd *Node) {
	m2, n := state["response.m2"], state["response.count"]
	most := Max(AddScalar(n, -1), MinScalar(n, 1)) // n is below 1 if the first weights are
	sd = Sqrt(Div(m2, MaxScalar(most, tiny)))
	return state["response.mean"], Where(GreaterThan(sd, ZerosLike(sd)), sd, OnesLike(sd))
}

// standardised returns responses y, [runs, ...], as the loss sees them.
func (state State) standardised(y *Node) *Node {
	mean, sd := state.responses()
	return ConvertDType(Div(Sub(double(y), perRun(mean, y)), perRun(sd, y)), y.DType())
}

// Responses returns the mean responses for predictions f, [runs, ...], in the units of the responses.
func (t Trainer) Responses(state State, f *Node) *Node {
	f = t.loss().Link(f)
	if !t.Standardize {
		return f
	}
	mean, sd := state.responses()
	return ConvertDType(Add(Mul(double(f), perRun(sd, f)), perRun(mean, f)), f.DType())
}

// follow updates the entries that [Exact] keeps for the responses y, [runs, 1], by a datum phi with its gain: see
// solution.
func (state State) follow(phi, gain, y *Node) {
	move := func(name string, v *Node) {
		theta := state[name]
		state[name] = Add(theta, Mul(gain, Sub(v, ReduceAndKeep(Mul(phi, theta), ReduceSum, 1))))
	}
	move("response.y", y)
	move("response.one", OnesLike(y))
}

// solution returns the state with nu for the standardised responses. The minimiser is linear in the responses. nu of
// the state is the minimiser for responses 0, and theta moves from it by
//
//	(theta_y - m theta_1) / s
//
// where theta_y minimises the loss for the responses and theta_1 minimises it for responses of one. Both start from 0,
// without noise or prior functions.
func (p problem) solution(state State) State {
	mean, sd := state.responses()
	out := maps.Clone(state)
	p.shift(out, Div(Sub(state["response.y"], Mul(InsertAxes(mean, -1), state["response.one"])), InsertAxes(sd, -1)))
	return out
}
