package bandit

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// inOrder returns the rows in their order in the table, int32 [runs, rows].
func inOrder(s rng.Stream, rows int) *Node {
	return Iota(s.Graph(), shapes.Make(dtypes.Int32, s.Runs(), rows), 1)
}

// shuffled draws the row of a period, int32 [runs, 1], and exchanges it with the row at the period's place in the
// order. This is one step of the shuffle of Fisher and Yates (Durstenfeld, "Algorithm 235: random permutation", 1964).
// One pass over the rows therefore makes a random order, with all orders equally likely, and the next pass makes a new
// one from it.
func shuffled(order *Node, s rng.Stream, period *Node) (drawn, next *Node) {
	runs, rows := order.Shape().Dim(0), order.Shape().Dim(1)
	turn := ModScalar(ConvertDType(period, dtypes.Int32), int32(rows))
	turns := BroadcastToDims(Reshape(turn, 1, 1), runs, 1)
	from := Add(turns, s.Intn(Sub(Const(s.Graph(), int32(rows)), turn), 1)) // turn to rows-1
	places := Concatenate([]*Node{turns, from}, 1)
	both := Reshape(row.Take(InsertAxes(order, -1), places), runs, 2)
	more := Sub(Reverse(both, 1), both) // the change of each of the two elements; 0 if both are the same element
	first := MulScalar(Iota(s.Graph(), places.Shape(), 0), int32(rows))
	flat := ScatterSum(Reshape(order, runs*rows), Reshape(Add(places, first), runs*2, 1), Reshape(more, runs*2),
		false, false)
	return Slice(both, AxisRange(), AxisRange(1, 2)), Reshape(flat, runs, rows)
}

func nothingSeen(s rng.Stream, width int) *Node {
	return Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), width))
}

// mostDeviations is the largest distance from the mean, in standard deviations, of a number that is standardised
// online.
const mostDeviations = 5

// online standardises the columns of numbers in a context x [runs, width] by their mean and variance [runs, width] over
// the rows so far, including x. It returns x with the new mean and variance (Welford, "Note on a method for calculating
// corrected sums of squares and products", 1962). A column that had only one value so far becomes 0.
//
// The columns of x are already standardised over the file, which a service could not do. This changes only the
// rounding, because the scale and offset of a column cancel out.
func online(x *Node, number []bool, mean, variance, period *Node) (scaled, nextMean, nextVariance *Node) {
	g := x.Graph()
	n := AddScalar(ConvertDType(period, dtypes.Float32), 1)
	before := Sub(x, mean)
	nextMean = Add(mean, Div(before, n))
	after := Sub(x, nextMean)
	nextVariance = Add(variance, Div(Sub(Mul(before, after), variance), n))
	varies := GreaterThan(nextVariance, ScalarZero(g, dtypes.Float32))
	scaled = Div(after, Sqrt(Where(varies, nextVariance, OnesLike(nextVariance))))
	scaled = Where(varies, ClipScalar(scaled, -mostDeviations, mostDeviations), ZerosLike(scaled))
	if slices.Contains(number, false) {
		is := ConstTensor(g, tensors.FromFlatDataAndDimensions(number, 1, len(number)))
		scaled = Where(BroadcastToShape(is, scaled.Shape()), scaled, x)
	}
	return scaled, nextMean, nextVariance
}
