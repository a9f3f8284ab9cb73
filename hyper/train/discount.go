package train

import (
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
)

// With a Config.Discount gamma a datum that is n data old counts gamma^n in the likelihood, and the prior keeps its
// weight: exponential forgetting with the prior as the alternative (Kulhavy and Zarrop 1993, "On a general concept of
// forgetting"), whose bandit is D-LinUCB (Russac, Vernade and Cappé 2019). Without new data on a block its belief goes
// back to the prior. Of the precision Lambda = Q^-1 and eta = Lambda mu
//
//	Lambda <- gamma Lambda + (1 - gamma) I + rho phi phi^T,   eta <- gamma eta + rho phi y
//
// gamma alone changes the root S to S / sqrt(gamma), and mu not at all. The term of I, of full rank, would cost
// O(size^3) a datum. It is instead added for a few coordinates j at a time, in turn, as data e_j with response 0 and
// weight 1 - gamma^turn, by Potter's update: O(size^2) for each. So data have the very weights gamma^n, and each
// coordinate of the prior a weight that is 1 after its turn and never below leastPrior before, once all had a turn. In
// the first turn it is below 2 - leastPrior. The entry of a [State] is
//
//	discount.turn   the next coordinate, float64 [runs]

// leastPrior is the least weight of a coordinate of the prior.
const leastPrior = 0.9

// discounts tells whether old data count less.
func (c Config) discounts() bool { return c.Discount != 0 && c.Discount != 1 }

// discounting reports a Discount that cannot be.
func (p problem) discounting() error {
	switch {
	case !p.discounts():
		return nil
	case !(p.Discount > 0.5 && p.Discount < 1):
		return fmt.Errorf("Discount must be above 0.5 and at most 1, got %v", p.Discount)
	case p.Integrate != Exact || p.Conjugate == nil:
		return errors.New("Discount needs a belief that is its own posterior, as hyper.BayesianLinear, and Integrate " +
			"exact; of others keep a window of the data")
	}
	return nil
}

// turns are how many data a turn of all coordinates takes, and how many coordinates there are in each, of so many.
func (c Config) turns(size int) (data, each int) {
	most := max(1, math.Floor(math.Log(leastPrior)/math.Log(c.Discount)))
	each = int(math.Ceil(float64(size) / most))
	return (size + each - 1) / each, each
}

// noTurn is what discounting remembers of no data.
func (c Config) noTurn(g *Graph, runs int) State {
	if !c.discounts() {
		return State{}
	}
	return State{"discount.turn": Zeros(g, shapes.Make(dtypes.Float64, runs))}
}

// forget makes the data before count gamma times what they did.
func (w posterior) forget(state State) {
	roots := state["nu.1"]
	runs, blocks, size := roots.Shape().Dim(0), roots.Shape().Dim(1), roots.Shape().Dim(2)
	data, each := w.turns(size)
	s := Reshape(MulScalar(roots, 1/math.Sqrt(w.Discount)), runs*blocks, size, size)
	g, turn := roots.Graph(), state["discount.turn"]
	weight := AddScalar(Zeros(g, shapes.Make(dtypes.Float64, runs*blocks, 1)), 1-math.Pow(w.Discount, float64(data)))
	means := []string{"nu.0"}
	if w.Standardize {
		means = []string{"response.y", "response.one"}
	}
	for range each { // a turn that is longer than size ends with vectors of zeros, which change nothing
		e := OneHot(ConvertDType(turn, dtypes.Int32), data*each, dtypes.Float64)
		e = Slice(e, AxisRange(), AxisRange(0, size))
		e = Reshape(BroadcastToDims(InsertAxes(e, 1), runs, blocks, size), runs*blocks, size)
		var gain *Node
		s, gain = potter(s, e, weight, hyper.Dense(size, 1))
		for _, name := range means {
			mu := Reshape(state[name], runs*blocks, size)
			mu = Sub(mu, Mul(gain, ReduceAndKeep(Mul(e, mu), ReduceSum, 1)))
			state[name] = Reshape(mu, runs, blocks*size)
		}
		turn = AddScalar(turn, 1)
		turn = Where(LessThan(turn, MulScalar(OnesLike(turn), data*each)), turn, ZerosLike(turn))
	}
	state["nu.1"], state["discount.turn"] = Reshape(s, runs, blocks, size, size), turn
}

// forget is the posterior before a datum, with all data counting gamma times what they did, in new blocks: see
// posterior.forget. ok is false where it would not be finite.
func (p HostPosterior) forget() (next HostPosterior, ok bool) {
	next = p
	next.count, next.m2 = p.count*p.discount, p.m2*p.discount
	next.blocks = make([]*hostBlock, len(p.blocks))
	_, n := p.belief.HostBlocks()
	data, each := Config{Discount: p.discount}.turns(n)
	weight, e := 1-math.Pow(p.discount, float64(data)), make([]float64, n)
	for i, last := range p.blocks {
		own := &hostBlock{root: p.spareRoot(n), mu: last.mu, y: last.y, one: last.one, learned: true}
		last.root.ScaleInto(own.root, 1/math.Sqrt(p.discount))
		for turn := int(p.turn); turn < min(int(p.turn)+each, n); turn++ { // turns are whole numbers of each
			e[turn] = 1
			gain, ok := own.root.UpdateInto(own.root, e, weight)
			if !ok {
				return next, false
			}
			own.move(e, gain, 0, 0)
			e[turn] = 0
		}
		next.blocks[i] = own
	}
	if next.turn += float64(each); next.turn >= float64(data*each) {
		next.turn = 0
	}
	return next, true
}

// age makes the responses before count gamma times what they did.
func (state State) age(gamma float64) {
	for _, name := range []string{"response.count", "response.m2"} {
		state[name] = MulScalar(state[name], gamma)
	}
}
