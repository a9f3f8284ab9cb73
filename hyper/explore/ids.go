package explore

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// IDS is sample-based variance-IDS (section 3.2): from the sampled functions it estimates the regret r_x of each action and the
// variance v_x of its reward over what the best action may be, and plays the probabilities pi that minimise the information
// ratio (pi.r)^2 / (pi.v). See [Information] and [MinimumRatio].
type IDS struct {
	N int // functions drawn for each decision; 0 is 100
	// OnlyCandidates restricts the choice to actions that are best for some sampled function, as the paper remarks in section 3.2
	// ("pi*_x = 0 if Z~_x is empty"). The minimiser itself does not: in section 5 it is actions that are surely not the best that tell most.
	OnlyCandidates bool
}

var _ Policy = IDS{}

// Samples is the number of functions drawn for each decision.
func (p IDS) Samples() int {
	if p.N == 0 {
		return 100
	}
	return p.N
}

// Decide draws an action from the minimiser of the information ratio.
func (p IDS) Decide(values *Node, now Moment) (probabilities, action *Node) {
	regret, variance := Information(values)
	if p.OnlyCandidates {
		// An action of more regret than any, which tells nothing, is in no minimiser.
		none := Equal(ReduceMax(bestOf(values), 1), ScalarZero(values.Graph(), values.DType()))
		worse := AddScalar(MulScalar(ReduceAndKeep(regret, ReduceMax, 1), 2), 1)
		regret = Where(none, BroadcastToShape(worse, regret.Shape()), regret)
		variance = Where(none, ZerosLike(variance), variance)
	}
	pi := MinimumRatio(regret, variance)
	return pi.Probabilities(values.Shape().Dim(2)), pi.Draw(Squeeze(now.Stream.Named("ids").Uniform(1), 1))
}

// bestOf tells which action is best for each function, ties going to the lowest: ones and zeros of the shape of values.
func bestOf(values *Node) *Node {
	return OneHot(ArgMax(values, 2, dtypes.Int32), values.Shape().Dim(2), values.DType())
}

// shares returns the shares of functions whose best action each is, [runs, actions]: exactly 1 where it is that of all.
func shares(values *Node) *Node {
	n := Scalar(values.Graph(), values.DType(), float64(values.Shape().Dim(1)))
	return Div(ReduceSum(bestOf(values), 1), n) // DivScalar multiplies by 1/n, which rounds
}

// Information returns what variance-IDS needs of the values [runs, functions, actions] of sampled functions, each [runs, actions]
// (section 3.2). regret is the mean of the best action's value less that of x: r_x. variance is the variance of the mean
// value of x among the functions that have the same best action: v_x. A function with several best actions counts for the lowest.
// regret is exactly 0 where an action is a best one of every function.
func Information(values *Node) (regret, variance *Node) {
	runs, n, actions := values.Shape().Dim(0), values.Shape().Dim(1), values.Shape().Dim(2)
	best := ArgMax(values, 2, dtypes.Int32)
	at := Reshape(Add(best, MulScalar(rows(best), int32(actions))), runs*n, 1)
	top := Reshape(Gather(Reshape(values, runs*n*actions, 1), at), runs, n, 1)

	// A group of functions is those with the same best action, numbered by the action, or where functions are fewer by the first of them.
	group, groups := best, actions
	if n < actions {
		same := ConvertDType(Equal(InsertAxes(best, 2), InsertAxes(best, 1)), dtypes.Float32)
		group, groups = ArgMax(same, 2, dtypes.Int32), n
	}
	counts := InsertAxes(ReduceSum(OneHot(group, groups, values.DType()), 1), -1)
	of := func(values *Node) (regret, variance *Node) {
		regret = ReduceMean(Sub(top, values), 1)
		mean := Sub(ReduceMean(top, 1), regret)
		moved := Square(Sub(Div(groupSums(values, group, groups), MaxScalar(counts, 1)), InsertAxes(mean, 1)))
		return regret, MulScalar(ReduceSum(Mul(counts, moved), 1), 1/float64(n))
	}
	// Many actions are looked at in parts that stay in the cache, one after the other: XLA would start them all, and need the memory of all,
	// if it did not have to add a number, always 0 as no variance is negative, that depends on the part before.
	width := max(partSize/(runs*n), (actions+maxParts-1)/maxParts)
	if width >= actions {
		return of(values)
	}
	zero := ScalarZero(values.Graph(), values.DType())
	wait := zero
	var regrets, variances []*Node
	for from := 0; from < actions; from += width {
		part := Slice(values, AxisRange(), AxisRange(), AxisRange(from, min(from+width, actions)))
		r, v := of(Add(part, wait))
		wait = ConvertDType(LessThan(ReduceAllMax(v), zero), values.DType())
		regrets, variances = append(regrets, r), append(variances, v)
	}
	return Concatenate(regrets, 1), Concatenate(variances, 1)
}

const (
	partSize = 500_000 // values, over all runs
	maxParts = 16      // each is compiled
)

// rows numbers the elements of x [runs, n].
func rows(x *Node) *Node {
	runs, n := x.Shape().Dim(0), x.Shape().Dim(1)
	return Reshape(Iota(x.Graph(), shapes.Make(dtypes.Int32, runs*n), 0), runs, n)
}

// groupSums returns the sums [runs, groups, actions] of the rows of values [runs, functions, actions] of each group
// (int32 [runs, functions]). A scatter goes row by row, so that a sum does not depend on the runs and actions beside
// it.
func groupSums(values, group *Node, groups int) *Node {
	if backend.OnGPU(values.Graph().Backend()) { // a scatter adds in no fixed order
		return groupProducts(values, group, groups)
	}
	runs, n, actions := values.Shape().Dim(0), values.Shape().Dim(1), values.Shape().Dim(2)
	offset := MulScalar(Iota(group.Graph(), shapes.Make(dtypes.Int32, runs, 1), 0), int32(groups))
	to := Reshape(Add(group, offset), runs*n, 1)
	into := Zeros(values.Graph(), shapes.Make(values.DType(), runs*groups, actions))
	return Reshape(ScatterSum(into, to, Reshape(values, runs*n, actions), false, false), runs, groups, actions)
}

// groupProducts is groupSums by a product with one-hot rows.
func groupProducts(values, group *Node, groups int) *Node {
	return Einsum("rng,rna->rga", OneHot(group, groups, values.DType()), values)
}

// Mixture is a probability vector over actions with at most two that are not zero, for each run.
type Mixture struct {
	First, Second *Node // int32 [runs]
	Weight        *Node // the probability of Second, [runs]; First has the rest
}

// Probabilities is the whole vector, [runs, actions].
func (m Mixture) Probabilities(actions int) *Node {
	weight := InsertAxes(m.Weight, -1)
	return Add(Mul(OneHot(m.First, actions, m.Weight.DType()), OneMinus(weight)), Mul(OneHot(m.Second, actions, m.Weight.DType()), weight))
}

// Draw draws an action, int32 [runs], by uniform numbers u in (0, 1), [runs].
func (m Mixture) Draw(u *Node) *Node { return Where(LessThan(u, m.Weight), m.Second, m.First) }

// rounds of the search of MinimumRatio; see there.
const rounds = 18

// MinimumRatio returns the exact minimiser of the information ratio (pi.r)^2 / (pi.v) over all probability vectors pi, for r and v
// [runs, actions], not negative.
//
// Since R^2/V = max_t (2 t R - t^2 V), the least ratio is the maximum over t > 0 of the concave function phi(t) = min_x (2 t r_x - t^2 v_x):
// a search over one number, each step of which looks once at every action, instead of over all pairs. It keeps an action x that is the
// minimum left of the maximum, and an action y right of it. A step finds the least ratio of the two in closed form, and takes
// the action that is lowest at its t for x or y, according to the slope; when that is x or y, no pi is better. Every third step
// halves the interval that is known to hold t, in logarithms, so that no sequence of actions makes the search long. It ends where single
// precision does.
//
// An action without regret has ratio 0, also when its variance is 0: the one of most variance is played. When no action tells anything, all v
// being 0, the one of least regret is. Among equal minimisers, and equal actions, the choice is deterministic, and the lowest of
// actions alike.
func MinimumRatio(regret, variance *Node) Mixture {
	g := regret.Graph()
	huge := Scalar(g, regret.DType(), math.MaxFloat32)
	unit := func(x *Node) (scaled *Node) { // the minimiser does not depend on units
		largest := ReduceAndKeep(x, ReduceMax, 1)
		return Div(x, Where(GreaterThan(largest, ZerosLike(largest)), largest, OnesLike(largest)))
	}
	r, v := unit(regret), unit(variance)

	// Points are [runs, 1]. among returns the least r of actions given by a mask.
	among := func(mask *Node) *Node {
		return ReduceAndKeep(Where(mask, r, BroadcastToShape(huge, r.Shape())), ReduceMin, 1)
	}
	most := func(mask *Node) *Node {
		return ReduceAndKeep(Where(mask, v, BroadcastToShape(Scalar(g, v.DType(), -1), v.Shape())), ReduceMax, 1)
	}
	rx := ReduceAndKeep(r, ReduceMin, 1)
	vx := most(Equal(r, rx))
	vy := ReduceAndKeep(v, ReduceMax, 1)
	zero := ZerosLike(rx)
	pure := Or(Equal(rx, zero), Equal(vy, zero)) // no regret, or nothing to learn
	rx0, vx0 := rx, vx
	ry := among(Equal(v, vy))
	safe := func(x *Node) *Node { return MaxScalar(x, 1e-30) }
	low, high := rx, Div(Square(ry), safe(rx)) // t is R/V: V is at most 1, R at least rx, and R^2/V at most ry^2

	state := []*Node{rx, vx, ry, vy, low, high}
	state = loop.Repeat(rounds, state, []**Node{&r, &v, &huge}, func(i loop.Index, state []*Node) []*Node {
		rx, vx, ry, vy, low, high := state[0], state[1], state[2], state[3], state[4], state[5]
		dr, dv := Sub(ry, rx), Sub(vy, vx)
		cross := Where(GreaterThan(dv, ZerosLike(dv)), Div(MulScalar(dr, 2), safe(dv)), BroadcastToShape(huge, dv.Shape()))
		t := i.Nth(3, func() *Node { return Mul(Sqrt(low), Sqrt(high)) },
			func() *Node { return Max(Min(cross, Div(rx, safe(vx))), Div(ry, safe(vy))) })
		score := Sub(MulScalar(r, 2), Mul(t, v))
		least := ReduceAndKeep(score, ReduceMin, 1)
		atLeast := Equal(score, least)
		vw := most(atLeast)
		rw := among(And(atLeast, Equal(v, vw)))
		rising := GreaterThan(rw, Mul(t, vw))
		better := And(LessThan(least, Sub(MulScalar(rx, 2), Mul(t, vx))), LessThan(least, Sub(MulScalar(ry, 2), Mul(t, vy))))
		left, right := And(better, rising), And(better, LogicalNot(rising))
		rx, vx = Where(left, rw, rx), Where(left, vw, vx)
		ry, vy = Where(right, rw, ry), Where(right, vw, vy)
		low, high = Where(rising, Max(low, t), low), Where(rising, high, Min(high, t))
		return []*Node{rx, vx, ry, vy, low, high}
	})
	rx, vx, ry, vy = state[0], state[1], state[2], state[3]

	rx, vx = Where(pure, rx0, rx), Where(pure, vx0, vx)
	dr, dv := Sub(ry, rx), Sub(vy, vx)
	weight := Sub(Div(rx, safe(dr)), Div(MulScalar(vx, 2), safe(dv)))
	weight = Where(And(GreaterThan(dr, zero), GreaterThan(dv, zero)), ClipScalar(weight, 0, 1),
		Where(GreaterThan(dv, zero), OnesLike(dr), zero))
	weight = Where(pure, zero, weight)
	which := func(rw, vw *Node) *Node { // the lowest action at a point
		return ArgMax(ConvertDType(And(Equal(r, rw), Equal(v, vw)), dtypes.Float32), 1, dtypes.Int32)
	}
	return Mixture{First: which(rx, vx), Second: which(ry, vy), Weight: Squeeze(weight, 1)}
}
