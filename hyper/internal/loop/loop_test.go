package loop

import (
	"reflect"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// descend makes four steps of gradient descent on |x w - y|^2, each on two rows, with a longer step in every second
// round. Sums and constants are made before, in and after the rounds.
func descend(repeat func(int, []*Node, []**Node, func(Index, []*Node) []*Node) []*Node, x, y *Node) *Node {
	rate := Reciprocal(AddScalar(ReduceAllSum(Square(x)), 2))
	var none *Node
	w := ReduceAndKeep(x, ReduceMean, 1) // [runs, 1, features]
	w = repeat(4, []*Node{w}, []**Node{&x, &y, &rate, &none}, func(i Index, state []*Node) []*Node {
		rows, w := i.Rows(x, 2), state[0]
		misfit := Sub(ReduceAndKeep(Mul(rows, w), ReduceSum, 2), i.Rows(y, 2))
		step := Mul(rate, ReduceAndKeep(Mul(misfit, rows), ReduceSum, 1))
		return []*Node{Sub(w, i.Nth(2, func() *Node { return MulScalar(step, 3) }, func() *Node { return step }))}
	})[0]
	sum, mean := ReduceAndKeep(w, ReduceSum, 2), ReduceAndKeep(x, ReduceMean, 1)
	return Concatenate([]*Node{w, MulScalar(sum, 3), MulScalar(mean, 7)}, -1)
}

var (
	inputs    = [][][]float32{{{1, 2}, {3, -1}, {0.5, 2}, {1, 1}, {-2, 1}, {0.25, 3}, {1, -1}, {2, 0.5}}}
	responses = [][][]float32{{{1}, {2}, {-1}, {0.5}, {3}, {1}, {0.75}, {-2}}}
)

// A loop computes the same as rounds that are built one after the other: on XLA the same bits.
func TestRepeatIsUnroll(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		out := must.M1(CallOnceN(b, func(in []*Node) []*Node {
			return []*Node{descend(Repeat, in[0], in[1]), descend(Unroll, in[0], in[1])}
		}, inputs, responses))
		if loop, rounds := out[0].Value(), out[1].Value(); !reflect.DeepEqual(loop, rounds) {
			t.Errorf("a loop gives %v, want %v as from separate rounds", loop, rounds)
		}
		// By hand, in double precision: w after four steps, three times its sum, and seven times the mean of x.
		want := byHand()
		for i, got := range out[0].Value().([][][]float32)[0][0] {
			if d := float64(got) - want[i]; d > 1e-5 || d < -1e-5 {
				t.Errorf("number %d is %v, want %v", i, got, want[i])
			}
		}
	})
}

func byHand() []float64 {
	var squares float64
	mean := make([]float64, 2)
	for _, row := range inputs[0] {
		for j, v := range row {
			squares += float64(v) * float64(v)
			mean[j] += float64(v) / 8
		}
	}
	w := slices.Clone(mean)
	for i := range 4 {
		step := make([]float64, 2)
		for k := 2 * i; k < 2*i+2; k++ {
			row := inputs[0][k]
			misfit := float64(row[0])*w[0] + float64(row[1])*w[1] - float64(responses[0][k][0])
			for j := range step {
				step[j] += misfit * float64(row[j]) / (squares + 2)
			}
		}
		for j := range w {
			w[j] -= step[j] * []float64{1, 3}[i%2]
		}
	}
	return []float64{w[0], w[1], 3 * (w[0] + w[1]), 7 * mean[0], 7 * mean[1]}
}

// Loops can be inside loops, like the SGD steps of a period. GoMLX's NewClosure alone does not allow this.
func TestNestedLoops(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		out := must.M1(CallOnce(b, func(x, y *Node) *Node {
			state := []*Node{descend(Repeat, x, y)}
			return Repeat(3, state, []**Node{&x, &y}, func(_ Index, state []*Node) []*Node {
				again := Repeat(2, []*Node{state[0]}, []**Node{&x, &y}, func(_ Index, state []*Node) []*Node {
					return []*Node{AddScalar(state[0], 1)}
				})[0]
				return []*Node{Add(again, descend(Repeat, x, y))}
			})[0]
		}, inputs, responses))
		once := byHand()
		for i, got := range out.Value().([][][]float32)[0][0] {
			// Each of three rounds adds 2 and the first number: the result is four times the number, plus 6.
			if d := float64(got) - (4*once[i] + 6); d > 1e-4 || d < -1e-4 {
				t.Errorf("number %d is %v, want %v", i, got, 4*once[i]+6)
			}
		}
	})
}

// The pinned versions of GoMLX and go-xla have the fields that nested loops need. With other versions, rounds would
// silently be built one after the other. A program does not grow with its rounds.
func TestLoopsDoNotGrow(t *testing.T) {
	if backend.Check(backend.XLACPU) != nil {
		t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
	}
	b := must.M1(backend.Open(backend.XLACPU))
	size := func(rounds int) int {
		g := NewGraph(b, "rounds")
		defer g.Finalize()
		x := Const(g, []float32{1, 2})
		Repeat(rounds, []*Node{x}, nil, func(_ Index, state []*Node) []*Node {
			return []*Node{Add(state[0], ReduceAllSum(state[0]))}
		})
		return len(g.Nodes())
	}
	if few, many := size(2), size(100); few != many {
		t.Errorf("2 rounds have %d operations and 100 have %d, want equal numbers: see nests", few, many)
	}
}
