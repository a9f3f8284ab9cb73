package train

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// With a Config.Discount gamma, a datum that is n data old counts gamma^n in the likelihood, and the prior keeps its
// weight. This is exponential forgetting with the prior as the alternative (Kulhavy and Zarrop 1993, "On a general
// concept of forgetting"); the bandit algorithm with this forgetting is D-LinUCB (Russac, Vernade and Cappé 2019). The
// belief about a block without new data goes back to the prior. Each datum changes the precision Lambda = Q^-1 and eta
// = Lambda mu to
//
//	Lambda <- gamma Lambda + (1 - gamma) I + rho phi phi^T,   eta <- gamma eta + rho phi y
//
// The factor gamma alone changes the root S to S / sqrt(gamma), and does not change mu. The term (1 - gamma) I has full
// rank and would cost O(size^3) for each datum and block. The term is instead added for a few coordinates j at a time,
// in turn, as data e_j with response 0. Each of these data costs O(size^2) by Potter's update.
//
// A datum does not visit every block either: that would cost more than the datum itself. Each datum visits a few
// blocks, in turn. The next visit to a block comes while the block's data still have the share leastData of their
// weights. A visit ages the block by all data since the last visit. A datum on a block that was last visited a data ago
// enters with the weight gamma^-a. At each visit the datum's weight is therefore exactly gamma^n. Between visits the
// weights of a block's data are too large by a factor of at most 1 / leastData.
//
// A coordinate of the prior has the weight 1 after its turn. Before its next turn the weight is never below leastPrior,
// once all coordinates have had a turn. During the first turn the weight is below 2 - leastPrior. The entry of a
// [State] is
//
//	discount.turn   the number of data so far in this turn of all coordinates of all blocks, float64 [runs]

// leastPrior is the least weight of a coordinate of the prior. leastData is the least share of their weights that the
// data of a block keep from visit to visit. A gamma below these limits gives smaller weights.
const (
	leastPrior = 0.8
	leastData  = 0.98
)

// discounts reports whether old data count less than new data.
func (c Config) discounts() bool { return c.Discount != 0 && c.Discount != 1 }

// discounting reports a Discount that is out of range, or that the belief or the integration does not support.
func (p problem) discounting() error {
	switch {
	case !p.discounts():
		return nil
	case !(p.Discount > 0.5 && p.Discount < 1):
		return faults.New("Discount", "must be above 0.5 and at most 1, got %v", p.Discount)
	case p.Integrate != Exact || p.Conjugate == nil:
		return faults.New("Discount", "needs a conjugate belief, as hyper.BayesianLinear, and %s exact; for other "+
			"beliefs keep a window of the data", faults.Name("Integrate"))
	}
	return nil
}

// turns says which blocks and coordinates each visit takes. Visit i takes atOnce blocks, or the blocks that are left,
// from block i % wait * atOnce on. In each block it takes the coordinates from i / wait * each on.
type turns struct {
	gamma        float64
	wait, atOnce int // number of data from visit to visit of a block; number of blocks that a datum visits
	data, each   int // number of data in a turn of all coordinates; number of coordinates that a visit adds
}

// turns returns the turns for a number of blocks of a given size.
func (c Config) turns(blocks, size int) turns {
	last := func(least float64) float64 { // the number of data after which the share least of a weight is left
		return max(1, math.Floor(math.Log(least)/math.Log(c.Discount)+1e-9))
	}
	t := turns{gamma: c.Discount}
	t.atOnce = int(math.Ceil(float64(blocks) / last(leastData)))
	t.wait = (blocks + t.atOnce - 1) / t.atOnce
	t.each = int(math.Ceil(float64(size) / max(1, math.Floor(last(leastPrior)/float64(t.wait)))))
	t.data = (size + t.each - 1) / t.each * t.wait
	return t
}

// by returns the factor by which a visit multiplies a root. weight returns the weight of a coordinate that a visit
// adds.
func (t turns) by() float64     { return 1 / math.Sqrt(math.Pow(t.gamma, float64(t.wait))) }
func (t turns) weight() float64 { return 1 - math.Pow(t.gamma, float64(t.data)) }

// waited returns the number of data since the last visit to a block, for datum number i of a turn.
func (t turns) waited(i, block int) int { return ((i-block/t.atOnce)%t.wait + t.wait) % t.wait }

// waitedBy is waited for numbers i [runs, 1] and blocks [runs, ...], int32.
func (t turns) waitedBy(i, block *Node) *Node {
	off := Sub(i, DivScalar(block, int32(t.atOnce)))
	return ModScalar(AddScalar(off, int32(t.data)), int32(t.wait)) // data is a positive multiple of wait
}

// noTurn returns the entry of a State before any data. It is empty without a Discount.
func (c Config) noTurn(g *Graph, runs int) State {
	if !c.discounts() {
		return State{}
	}
	return State{"discount.turn": Zeros(g, shapes.Make(dtypes.Float64, runs))}
}

// turn returns the number of the next datum in its turn, int32 [runs]. Files from earlier methods of forgetting may
// hold a larger number, so the remainder is taken.
func (t turns) turn(state State) *Node {
	return ModScalar(ConvertDType(state["discount.turn"], dtypes.Int32), int32(t.data))
}

// forget makes a visit: it ages the data of some blocks, and adds some coordinates of the prior to them. It returns the
// factor for the weight of a datum on the given block, [runs, 1].
func (w posterior) forget(state State, block *Node, r Rates) (times *Node) {
	parts := w.parts()
	runs, blocks, size := state["nu.1"].Shape().Dim(0), state["nu.1"].Shape().Dim(1), parts[len(parts)-1].To
	t := w.turns(blocks, size)
	g, turn := state["nu.1"].Graph(), InsertAxes(t.turn(state), -1) // [runs, 1]
	first := MulScalar(ModScalar(turn, int32(t.wait)), int32(t.atOnce))
	places := Iota(g, shapes.Make(dtypes.Int32, runs, t.atOnce), 1)
	visited := MinScalar(Add(first, places), int32(blocks-1)) // if fewer blocks are left, the last block repeats
	take := func(x *Node) *Node {                             // an entry's visited blocks, [runs * atOnce, ...]
		flat := Reshape(x, runs, blocks, x.Shape().Size()/(runs*blocks))
		return Reshape(row.Take(flat, visited), runs*t.atOnce, flat.Shape().Dim(2))
	}
	place := Sub(Iota(g, shapes.Make(dtypes.Int32, runs, blocks), 1), first) // each block's position
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
	// counts is the weight of a coordinate in the evidence, for each visited block. A last block that repeats counts
	// once.
	counts := MulScalar(InsertAxes(Div(double(r.NoiseVar), double(r.PriorVar)), -1), t.weight())
	counts = Mul(counts, ConvertDType(LessThan(Add(first, places), MulScalar(OnesLike(first), int32(blocks))), dtypes.Float64))
	coordinate := MulScalar(DivScalar(turn, int32(t.wait)), int32(t.each))
	for i := range t.each { // for coordinates beyond size, e is a vector of zeros, which changes nothing
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

// toPrior moves the means of blocks by the data e with response 0, unit vectors [runs * blocks, size], with the gains
// of the parts. counts is the weight of such a datum in the evidence, for each block, [runs, blocks].
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

// age multiplies the weight of the earlier responses by gamma.
func (state State) age(gamma float64) {
	for _, name := range []string{"response.count", "response.m2"} {
		state[name] = MulScalar(state[name], gamma)
	}
}
