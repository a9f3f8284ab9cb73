package explore

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// Mixture is a probability vector over actions for each run, with at most two probabilities that are not zero.
type Mixture struct {
	First, Second *Node // int32 [runs]
	Weight        *Node // probability of Second, [runs]; First has the rest
}

// Probabilities returns the whole vector, [runs, actions].
func (m Mixture) Probabilities(actions int) *Node {
	weight := InsertAxes(m.Weight, -1)
	first, second := OneHot(m.First, actions, weight.DType()), OneHot(m.Second, actions, weight.DType())
	return Add(Mul(first, OneMinus(weight)), Mul(second, weight))
}

// Draw draws an action, int32 [runs], with the uniform random numbers u in (0, 1), [runs].
func (m Mixture) Draw(u *Node) *Node { return Where(LessThan(u, m.Weight), m.Second, m.First) }

// rounds is the number of steps of the search of MinimumRatio.
const rounds = 18

// MinimumRatio returns the exact minimiser of the information ratio (pi.r)^2 / (pi.v) over all probability vectors pi.
// r and v are [runs, actions] and must not be negative.
//
// Because R^2/V = max_t (2 t R - t^2 V), the least ratio is the maximum over t > 0 of the concave function phi(t) =
// min_x (2 t r_x - t^2 v_x). MinimumRatio therefore searches over one number, instead of over all pairs of actions, and
// each step uses every action once. The search keeps an action x that attains the minimum to the left of the maximum,
// and an action y that attains it to the right. A step computes the least ratio of mixtures of x and y in closed form,
// and takes the action that is lowest at the t of this ratio as the new x or y, depending on the slope. If that action
// is x or y, no pi is better. Every third step halves the interval that contains t, on a logarithmic scale, so that the
// search is short for all sequences of actions. The number of steps suffices for single precision.
//
// An action without regret has ratio 0, even if its variance is 0; among such actions, the one with the largest
// variance is played. If all v are 0, the action with the least regret is played. The choice among equal minimisers is
// deterministic; a tie between actions goes to the lowest action number.
//
// On a GPU, MinimumRatio compares all pairs of up to 1024 actions instead. This takes fewer kernels than the search, and
// most of the search's time on a GPU is the time to launch them.
func MinimumRatio(regret, variance *Node) Mixture {
	onGPU := backend.OnGPU(regret.Graph().Backend())
	return minimumRatio(regret, variance, onGPU && regret.Shape().Dim(1) <= 1024)
}

// minimumRatio is [MinimumRatio] by all pairs of actions, or by the search.
func minimumRatio(regret, variance *Node, pairs bool) Mixture {
	s := &search{huge: Scalar(regret.Graph(), regret.DType(), math.MaxFloat32)}
	s.r, s.v = unit(regret), unit(variance)
	x, y, pure, low, high := s.start()
	x0 := x
	if pairs {
		x, y = s.pair()
	} else {
		state := loop.Repeat(rounds, []*Node{x.r, x.v, y.r, y.v, low, high}, []**Node{&s.r, &s.v, &s.huge}, s.round)
		x, y = point{state[0], state[1]}, point{state[2], state[3]}
	}
	x = point{Where(pure, x0.r, x.r), Where(pure, x0.v, x.v)}
	weight := Where(pure, ZerosLike(x0.r), weigh(x, y))
	return Mixture{First: s.at(x), Second: s.at(y), Weight: Squeeze(weight, 1)}
}

// pair returns the pair of actions whose mixture has the least ratio, from the ratios of all pairs.
func (s *search) pair() (x, y point) {
	runs, n := s.r.Shape().Dim(0), s.r.Shape().Dim(1)
	all := func(axis int) point {
		spread := func(v *Node) *Node { return BroadcastToDims(InsertAxes(v, axis), runs, n, n) }
		return point{spread(s.r), spread(s.v)}
	}
	x, y = all(2), all(1)
	weight := weigh(x, y)
	regret := Add(x.r, Mul(weight, Sub(y.r, x.r)))
	variance := Add(x.v, Mul(weight, Sub(y.v, x.v)))
	known := GreaterThan(variance, ZerosLike(variance))
	ratio := Where(known, Div(regret, Sqrt(variance)), BroadcastToShape(s.huge, regret.Shape()))
	best := ArgMin(Reshape(ratio, runs, n*n), 1, dtypes.Int32)
	first := Div(best, Scalar(best.Graph(), dtypes.Int32, n))
	second := Sub(best, MulScalar(first, n))
	of := func(action *Node) point {
		at := func(v *Node) *Node { return row.Of(InsertAxes(v, -1), action) }
		return point{at(s.r), at(s.v)}
	}
	return of(first), of(second)
}

// unit divides x by the largest number of each run. The minimiser does not depend on units.
func unit(x *Node) *Node {
	largest := ReduceAndKeep(x, ReduceMax, 1)
	return Div(x, Where(GreaterThan(largest, ZerosLike(largest)), largest, OnesLike(largest)))
}

// safe returns x, or a tiny positive number if x is smaller, for use as a divisor.
func safe(x *Node) *Node { return MaxScalar(x, 1e-30) }

// point is the regret and the variance of an action of each run, each [runs, 1].
type point struct{ r, v *Node }

// score returns (2 t r - t^2 v) / t.
func (p point) score(t *Node) *Node { return Sub(MulScalar(p.r, 2), Mul(t, p.v)) }

// search is the search for the two actions of the minimiser.
type search struct {
	r, v *Node // of all actions, [runs, actions]; at most 1
	huge *Node // a scalar above all r and t
}

// least returns the least r of the actions that a mask selects.
func (s *search) least(mask *Node) *Node {
	return ReduceAndKeep(Where(mask, s.r, BroadcastToShape(s.huge, s.r.Shape())), ReduceMin, 1)
}

// most returns the largest v of the actions that a mask selects.
func (s *search) most(mask *Node) *Node {
	none := BroadcastToShape(Scalar(s.v.Graph(), s.v.DType(), -1), s.v.Shape())
	return ReduceAndKeep(Where(mask, s.v, none), ReduceMax, 1)
}

// at returns the lowest action at a point, int32 [runs].
func (s *search) at(p point) *Node {
	return ArgMax(ConvertDType(And(Equal(s.r, p.r), Equal(s.v, p.v)), dtypes.Float32), 1, dtypes.Int32)
}

// start returns the action x with the least regret, the action y with the largest variance, whether x alone is the
// minimiser, and an interval that contains t. Because t is R/V, V is at most 1, R is at least r_x, and R^2/V is at most
// that ratio of y, the interval is from r_x to r_y^2 / r_x.
func (s *search) start() (x, y point, pure, low, high *Node) {
	x.r = ReduceAndKeep(s.r, ReduceMin, 1)
	x.v = s.most(Equal(s.r, x.r))
	y.v = ReduceAndKeep(s.v, ReduceMax, 1)
	zero := ZerosLike(x.r)
	pure = Or(Equal(x.r, zero), Equal(y.v, zero)) // no regret, or no information
	y.r = s.least(Equal(s.v, y.v))
	return x, y, pure, x.r, Div(Square(y.r), safe(x.r))
}

// round is a step of the search. The state has x, y and the interval of t.
func (s *search) round(i loop.Index, state []*Node) []*Node {
	x, y, low, high := point{state[0], state[1]}, point{state[2], state[3]}, state[4], state[5]
	t := s.next(i, x, y, low, high)
	score := point{s.r, s.v}.score(t)
	least := ReduceAndKeep(score, ReduceMin, 1)
	atLeast := Equal(score, least)
	w := point{v: s.most(atLeast)}
	w.r = s.least(And(atLeast, Equal(s.v, w.v)))
	rising := GreaterThan(w.r, Mul(t, w.v))
	better := And(LessThan(least, x.score(t)), LessThan(least, y.score(t)))
	left, right := And(better, rising), And(better, LogicalNot(rising))
	return []*Node{
		Where(left, w.r, x.r), Where(left, w.v, x.v), Where(right, w.r, y.r), Where(right, w.v, y.v),
		Where(rising, Max(low, t), low), Where(rising, high, Min(high, t)),
	}
}

// next returns the t of the next step: the t of the least ratio of mixtures of x and y, or, in every third step, the
// middle of the interval.
func (s *search) next(i loop.Index, x, y point, low, high *Node) *Node {
	dr, dv := Sub(y.r, x.r), Sub(y.v, x.v)
	never := BroadcastToShape(s.huge, dv.Shape())
	cross := Where(GreaterThan(dv, ZerosLike(dv)), Div(MulScalar(dr, 2), safe(dv)), never)
	return i.Nth(3, func() *Node { return Mul(Sqrt(low), Sqrt(high)) },
		func() *Node { return Max(Min(cross, Div(x.r, safe(x.v))), Div(y.r, safe(y.v))) })
}

// weigh returns the probability of y in the mixture of x and y with the least ratio.
func weigh(x, y point) *Node {
	dr, dv := Sub(y.r, x.r), Sub(y.v, x.v)
	zero := ZerosLike(dr)
	weight := Sub(Div(x.r, safe(dr)), Div(MulScalar(x.v, 2), safe(dv)))
	return Where(And(GreaterThan(dr, zero), GreaterThan(dv, zero)), ClipScalar(weight, 0, 1),
		Where(GreaterThan(dv, zero), OnesLike(dr), zero))
}
