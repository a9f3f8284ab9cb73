package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
)

// With a Config.Discount gamma a datum that is n data old counts gamma^n in the likelihood, and the prior keeps its
// weight: exponential forgetting with the prior as the alternative (Kulhavy and Zarrop 1993, "On a general concept of
// forgetting"), whose bandit is D-LinUCB (Russac, Vernade and Cappé 2019). Without new data on a block its belief goes
// back to the prior. Of the precision Lambda = Q^-1 and eta = Lambda mu
//
//	Lambda <- gamma Lambda + (1 - gamma) I + rho phi phi^T,   eta <- gamma eta + rho phi y
//
// gamma alone changes the root S to S / sqrt(gamma), and mu not at all. The term of I, of full rank, would cost
// O(size^3) a datum and block. It is instead added for a few coordinates j at a time, in turn, as data e_j with
// response 0, by Potter's update: O(size^2) for each. Nor does every datum visit every block, which would cost more than
// the datum does: each visits a few blocks, in turn, after as many data as leave leastData of a datum. A visit ages the
// block by all data since the last one. A datum on a block that has waited for a data counts gamma^-a times, and so has
// its very weight gamma^n at each visit. Between visits a block's data have up to 1 / leastData of their weights.
//
// A coordinate of the prior has a weight that is 1 after its turn and never below leastPrior before, once all had a
// turn. In the first turn it is below 2 - leastPrior. The entry of a [State] is
//
//	discount.turn   the number of data in this turn of all coordinates of all blocks, float64 [runs]

// leastPrior is the least weight of a coordinate of the prior, and leastData what the data of a block keep of their
// weights from visit to visit; but where gamma is below them.
const (
	leastPrior = 0.8
	leastData  = 0.98
)

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

// turns are how the blocks and the coordinates take turns: visit i is of atOnce blocks from i % wait * atOnce on, where
// there are some, and of each coordinates from i / wait * each on.
type turns struct {
	gamma        float64
	wait, atOnce int // the number of data from visit to visit of a block, and of the blocks that a datum visits
	data, each   int // the number of data in a turn of all coordinates, and of the coordinates that a visit adds
}

// turns are those of a number of blocks of a size.
func (c Config) turns(blocks, size int) turns {
	last := func(least float64) float64 { // the number of data that leave least
		return max(1, math.Floor(math.Log(least)/math.Log(c.Discount)+1e-9))
	}
	t := turns{gamma: c.Discount}
	t.atOnce = int(math.Ceil(float64(blocks) / last(leastData)))
	t.wait = (blocks + t.atOnce - 1) / t.atOnce
	t.each = int(math.Ceil(float64(size) / max(1, math.Floor(last(leastPrior)/float64(t.wait)))))
	t.data = (size + t.each - 1) / t.each * t.wait
	return t
}

// by is what a visit multiplies a root with, and weight that of a coordinate.
func (t turns) by() float64     { return 1 / math.Sqrt(math.Pow(t.gamma, float64(t.wait))) }
func (t turns) weight() float64 { return 1 - math.Pow(t.gamma, float64(t.data)) }

// waited is the number of data since the last visit to a block, of one that is number i of a turn.
func (t turns) waited(i, block int) int { return ((i-block/t.atOnce)%t.wait + t.wait) % t.wait }

// waitedBy is waited, of numbers i [runs, 1] and blocks [runs, ...], int32.
func (t turns) waitedBy(i, block *Node) *Node {
	off := Sub(i, DivScalar(block, int32(t.atOnce)))
	return ModScalar(AddScalar(off, int32(t.data)), int32(t.wait)) // data is a multiple of wait, and no less
}

// noTurn is what discounting remembers of no data.
func (c Config) noTurn(g *Graph, runs int) State {
	if !c.discounts() {
		return State{}
	}
	return State{"discount.turn": Zeros(g, shapes.Make(dtypes.Float64, runs))}
}

// turn is the number of a datum in its turn, int32 [runs]. Files of earlier ways to forget may have other numbers.
func (t turns) turn(state State) *Node {
	return ModScalar(ConvertDType(state["discount.turn"], dtypes.Int32), int32(t.data))
}

// forget makes a visit: it ages the data of some blocks. It returns how often a datum on a block counts, [runs, 1].
func (w posterior) forget(state State, block *Node, r Rates) (times *Node) {
	parts := w.parts()
	runs, blocks, size := state["nu.1"].Shape().Dim(0), state["nu.1"].Shape().Dim(1), parts[len(parts)-1].To
	t := w.turns(blocks, size)
	g, turn := state["nu.1"].Graph(), InsertAxes(t.turn(state), -1) // [runs, 1]
	first := MulScalar(ModScalar(turn, int32(t.wait)), int32(t.atOnce))
	places := Iota(g, shapes.Make(dtypes.Int32, runs, t.atOnce), 1)
	visited := MinScalar(Add(first, places), int32(blocks-1)) // a last visit of fewer blocks sees its last one again
	take := func(x *Node) *Node {                             // the blocks that are visited, [runs * atOnce, ...]
		flat := Reshape(x, runs, blocks, x.Shape().Size()/(runs*blocks))
		return Reshape(row.Take(flat, visited), runs*t.atOnce, flat.Shape().Dim(2))
	}
	place := Sub(Iota(g, shapes.Make(dtypes.Int32, runs, blocks), 1), first) // of each block in the visit
	is := And(GreaterOrEqual(place, ZerosLike(place)), LessThan(place, MulScalar(OnesLike(place), int32(t.atOnce))))
	place = MaxScalar(MinScalar(place, int32(t.atOnce-1)), int32(0))
	put := func(name string, x *Node) {
		old := Reshape(state[name], runs, blocks, x.Shape().Dim(1))
		next := row.Take(Reshape(x, runs, t.atOnce, x.Shape().Dim(1)), place)
		next = Where(BroadcastToShape(InsertAxes(is, -1), old.Shape()), next, old)
		state[name] = Reshape(next, state[name].Shape().Dimensions...)
	}
	var roots []*Node
	for j, of := range parts {
		s := MulScalar(take(state[key("nu", 1+j)]), t.by())
		roots = append(roots, Reshape(s, runs*t.atOnce, of.Size(), of.Size()))
	}
	weight := AddScalar(Zeros(g, shapes.Make(dtypes.Float64, runs*t.atOnce, 1)), t.weight())
	means := State{}
	for _, name := range w.means() {
		means[name] = take(state[name])
	}
	if w.twoParts() {
		for _, name := range []string{"evidence.data", "evidence.sums"} {
			state[name] = MulScalar(state[name], t.gamma)
		}
	}
	// that of a coordinate in the evidence, of the blocks that are visited: a last one that is seen again counts once
	counts := MulScalar(InsertAxes(Div(double(r.NoiseVar), double(r.PriorVar)), -1), t.weight())
	counts = Mul(counts, ConvertDType(LessThan(Add(first, places), MulScalar(OnesLike(first), int32(blocks))), dtypes.Float64))
	coordinate := MulScalar(DivScalar(turn, int32(t.wait)), int32(t.each))
	for i := range t.each { // a turn that is longer than size ends with vectors of zeros, which change nothing
		e := OneHot(AddScalar(coordinate, int32(i)), max(size, t.data/t.wait*t.each), dtypes.Float64)
		e = Slice(e, AxisRange(), AxisRange(), AxisRange(0, size))
		e = Reshape(BroadcastToDims(e, runs, t.atOnce, size), runs*t.atOnce, size)
		var gains []*Node
		for j, of := range parts {
			var gain *Node
			roots[j], gain = potter(roots[j], of.In(e), weight, hyper.Dense(of.Size(), 1))
			gains = append(gains, gain)
		}
		w.toPrior(state, means, e, gains, counts)
	}
	for j, of := range parts {
		put(key("nu", 1+j), Reshape(roots[j], runs*t.atOnce, of.Size()*of.Size()))
	}
	for _, name := range w.means() {
		put(name, means[name])
	}
	times = Exp(MulScalar(double(t.waitedBy(turn, block)), -math.Log(t.gamma)))
	state["discount.turn"] = double(Squeeze(ModScalar(AddScalar(turn, int32(1)), int32(t.data)), 1))
	return times
}

// toPrior moves the means of blocks by data e_j, response 0, [runs * blocks, size], with the gains of the parts. counts
// are what such a datum of each block counts in the evidence, [runs, blocks].
func (w posterior) toPrior(state, means State, e *Node, gains []*Node, counts *Node) {
	move := func(name string, _ *Node) *Node {
		var moved, missed []*Node
		for j, of := range w.parts() {
			own := of.In(means[name])
			off := ReduceAndKeep(Mul(of.In(e), own), ReduceSum, 1)
			moved, missed = append(moved, Sub(own, Mul(gains[j], off))), append(missed, off)
		}
		means[name] = besides(moved)
		return besides(missed)
	}
	y, one := w.ofMeans(move, e)
	if !w.twoParts() {
		return
	}
	var left []*Node
	for j, of := range w.parts() {
		left = append(left, OneMinus(ReduceAndKeep(Mul(of.In(e), gains[j]), ReduceSum, 1)))
	}
	kept := Mul(Concatenate(left, 1), Reshape(counts, e.Shape().Dim(0), 1))
	each := ofModels(ZerosLike(kept), Mul(kept, Square(y)), Mul(kept, Mul(y, one)), Mul(kept, Square(one)))
	each = ReduceSum(Reshape(each, counts.Shape().Dim(0), -1, 2, evidenceSums), 1)
	state["evidence.sums"] = Add(state["evidence.sums"], each)
}

// turns are how this posterior's blocks and coordinates take turns, and the number of the next datum in its turn: see
// turns.turn.
func (p HostPosterior) turns() (t turns, turn int) {
	t = Config{Discount: p.discount}.turns(len(p.blocks), p.size())
	return t, max(int(math.Mod(p.turn, float64(t.data))), 0)
}

// forget is the posterior before a datum on a block, after the visit of some blocks, which are new: see
// posterior.forget. ok is false where it would not be finite.
func (p HostPosterior) forget(block int) (next HostPosterior, times float64, ok bool) {
	t, turn := p.turns()
	next = p
	next.count, next.m2 = p.count*p.discount, p.m2*p.discount
	next.blocks = slices.Clone(p.blocks)
	next.evidence.age(p.discount)
	first, from := turn%t.wait*t.atOnce, turn/t.wait*t.each
	for i := first; i < min(first+t.atOnce, len(p.blocks)); i++ {
		last := p.blocks[i]
		own := p.newBlock(last)
		own.mu, own.y, own.one = slices.Clone(last.mu), slices.Clone(last.y), slices.Clone(last.one)
		for j, of := range p.parts {
			some := span.Span{From: max(from, of.From), To: min(from+t.each, of.To)}
			some.To = max(some.To, some.From)
			gains, ok := last.roots[j].ForgetInto(own.roots[j], t.by(), some.From-of.From, some.To-of.From, t.weight())
			if !ok {
				return next, 0, false
			}
			for k, gain := range gains {
				missed, missedOne := own.toPrior(of, some.From+k, gain)
				next.evidence.add(j, t.weight()/p.rho, 1-gain[some.From+k-of.From], missed, missedOne)
			}
		}
		next.blocks[i] = own
	}
	next.turn = float64((turn + 1) % t.data)
	return next, math.Pow(p.discount, -float64(t.waited(turn, block))), true
}

// age makes the responses before count gamma times what they did.
func (state State) age(gamma float64) {
	for _, name := range []string{"response.count", "response.m2"} {
		state[name] = MulScalar(state[name], gamma)
	}
}
