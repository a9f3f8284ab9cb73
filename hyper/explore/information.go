package explore

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// Information returns the regret r and the variance v that variance-IDS computes from the values [runs, functions,
// actions] of sampled functions (section 3.2), each [runs, actions]. r_x is the mean, over functions, of the value of
// the best action minus the value of x. It is exactly 0 if x is a best action of every function. v_x is the variance of
// the mean value of x among the functions that have the same best action. A function with several best actions counts
// for the best action with the lowest number.
//
// On a CPU, Information processes many actions in parts that fit into the cache, one part after the other. XLA would
// start all parts at once, and need memory for all of them. Therefore each part adds a number that depends on the part
// before it. This number is always 0, because no variance is negative.
func Information(values *Node) (regret, variance *Node) {
	runs, n, actions := values.Shape().Dim(0), values.Shape().Dim(1), values.Shape().Dim(2)
	same := alike(values)
	width := max(partSize/(runs*n), (actions+maxParts-1)/maxParts)
	if width >= actions || backend.OnGPU(values.Graph().Backend()) {
		return same.information(values)
	}
	zero := ScalarZero(values.Graph(), values.DType())
	wait := zero
	var regrets, variances []*Node
	for from := 0; from < actions; from += width {
		part := Slice(values, AxisRange(), AxisRange(), AxisRange(from, min(from+width, actions)))
		r, v := same.information(Add(part, wait))
		wait = ConvertDType(LessThan(ReduceAllMax(v), zero), values.DType())
		regrets, variances = append(regrets, r), append(variances, v)
	}
	return Concatenate(regrets, 1), Concatenate(variances, 1)
}

const (
	partSize = 500_000 // number of values of a part, over all runs
	maxParts = 16      // largest number of parts, because each part is compiled
)

// groups holds the sampled functions in groups with the same best action.
type groups struct {
	top    *Node // the value of each function's best action, [runs, functions, 1]
	group  *Node // the group of each function, int32 [runs, functions]
	counts *Node // number of functions of each group, [runs, groups, 1]
}

// alike groups functions by their values [runs, functions, actions]. The number of a group is its best action, or, if
// there are fewer functions than actions, the number of the first of its functions.
func alike(values *Node) groups {
	runs, n, actions := values.Shape().Dim(0), values.Shape().Dim(1), values.Shape().Dim(2)
	best := ArgMax(values, 2, dtypes.Int32)
	at := Reshape(Add(best, MulScalar(rows(best), int32(actions))), runs*n, 1)
	top := Reshape(Gather(Reshape(values, runs*n*actions, 1), at), runs, n, 1)
	group, number := best, actions
	if n < actions {
		same := ConvertDType(Equal(InsertAxes(best, 2), InsertAxes(best, 1)), dtypes.Float32)
		group, number = ArgMax(same, 2, dtypes.Int32), n
	}
	counts := InsertAxes(ReduceSum(OneHot(group, number, values.DType()), 1), -1)
	return groups{top, group, counts}
}

// information is [Information] for some of the actions.
func (g groups) information(values *Node) (regret, variance *Node) {
	n, number := values.Shape().Dim(1), g.counts.Shape().Dim(1)
	regret = ReduceMean(Sub(g.top, values), 1)
	mean := Sub(ReduceMean(g.top, 1), regret)
	moved := Square(Sub(Div(row.Sum(values, g.group, number), MaxScalar(g.counts, 1)), InsertAxes(mean, 1)))
	return regret, MulScalar(ReduceSum(Mul(g.counts, moved), 1), 1/float64(n))
}

// rows returns the row number of each element of x [runs, n].
func rows(x *Node) *Node {
	runs, n := x.Shape().Dim(0), x.Shape().Dim(1)
	return Reshape(Iota(x.Graph(), shapes.Make(dtypes.Int32, runs*n), 0), runs, n)
}
