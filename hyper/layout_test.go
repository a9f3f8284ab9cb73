package hyper

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/base"
)

// layouts has one layout for each path through the code: one block, blocks of one row, even and uneven blocks, and
// their edge cases.
var layouts = []Layout{
	Dense(3, 4), PerParameter(3, 2), PerParameter(4, 1), {[]int{2, 2}, 3}, {[]int{1, 2, 1}, 2}, Dense(1, 3),
	PerParameter(1, 1),
	PerGroup(base.MLP{Layers: []int{2, 2, 1}}, 2),
}

// expand returns the full matrix [rows, IndexDim] with the given entries [rows, Width], by the definition of a layout.
func expand(l Layout, entries []float32) []float64 {
	out := make([]float64, l.Rows()*l.IndexDim())
	row := 0
	for b, size := range l.Sizes {
		for range size {
			for j := range l.Width {
				out[row*l.IndexDim()+b*l.Width+j] = float64(entries[row*l.Width+j])
			}
			row++
		}
	}
	return out
}

// Every operation within a layout equals the dense operation on the full matrices.
func TestLayoutsAgreeWithDenseMatrices(t *testing.T) {
	const runs, n = 2, 3
	testbackend.ForEach(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(1, 1))
		var args []any
		for _, l := range layouts {
			if err := l.Validate(); err != nil {
				t.Error(err)
			}
			args = append(args, random(r, runs, l.Rows(), l.Width), random(r, runs, n, l.IndexDim()),
				random(r, runs, n, l.Rows()), random(r, runs, l.Rows(), l.IndexDim()))
		}
		out := eval(t, name, func(in []*Node) (out []*Node) {
			for i, l := range layouts {
				c, z, e, full := in[4*i], in[4*i+1], in[4*i+2], in[4*i+3]
				dense := l.Expand(c)
				outer := MulScalar(Einsum("rnp,rnz->rpz", e, z), 1.0/n)
				first := func(x *Node) *Node { return Squeeze(Slice(x, AxisRange(), AxisElem(0)), 1) }
				v, z1 := first(e), first(z)
				out = append(out, dense,
					l.MulT(c, v), Einsum("rp,rpz->rz", v, dense),
					l.Spread(z1), l.Restrict(BroadcastToDims(InsertAxes(z1, 1), runs, l.Rows(), l.IndexDim())),
					l.Mul(c, z), Einsum("rnz,rpz->rnp", z, dense),
					l.Outer(e, z), l.Restrict(outer),
					l.Restrict(dense), c,
					Mul(full, l.Expand(OnesLike(c))), l.Expand(l.Restrict(full)))
			}
			return out
		}, args...)
		each := len(out) / len(layouts)
		for i, l := range layouts {
			entries := tensors.MustCopyFlatData[float32](args[4*i].(*tensors.Tensor))
			half := len(entries) / 2
			same(t, fmt.Sprint("Expand of ", l), out[each*i], append(expand(l, entries[:half]), expand(l, entries[half:])...), 0)
			for j, what := range []string{"MulT", "Spread", "Mul", "Outer", "Restrict of Expand", "Expand of Restrict"} {
				tolerance := single
				if j == 1 || j > 3 {
					tolerance = 0
				}
				same(t, fmt.Sprint(what, " of ", l), out[each*i+2*j+2], out[each*i+2*j+1], tolerance)
			}
		}
	})
}

func TestLayoutValidate(t *testing.T) {
	for _, l := range []Layout{{}, {[]int{1, 0}, 2}, {[]int{1}, 0}, {nil, 3}, PerParameter(1e11, 1),
		PerParameter(1e9, 9)} {
		if l.Validate() == nil {
			t.Errorf("invalid layout %v is accepted", l)
		}
	}
	if Dense(2, 2).Equal(PerParameter(2, 2)) || Dense(2, 2).Equal(Dense(2, 3)) || !Dense(1, 2).Equal(PerParameter(1, 2)) {
		t.Error("Equal gives a wrong answer")
	}
}

// Every parameter depends on the whole index.
func ExampleDense() {
	l := Dense(3, 2)
	fmt.Println(l.Rows(), "parameters, an index of", l.IndexDim())
	// Output: 3 parameters, an index of 2
}

// Section 4.1 with K = 3 arms and m = 2: z = (z_1, z_2, z_3), and arm k depends on z_k.
func ExamplePerParameter() {
	l := PerParameter(3, 2)
	fmt.Println(l.Rows(), "parameters, an index of", l.IndexDim())
	// Output: 3 parameters, an index of 6
}

// A network 2-3-1 has 3*(2+1) = 9 and 1*(3+1) = 4 parameters in its layers. Each layer has its own part of the index.
func ExamplePerGroup() {
	l := PerGroup(base.MLP{Layers: []int{2, 3, 1}}, 5)
	fmt.Println(l.Sizes, "parameters, an index of", l.IndexDim())
	// Output: [9 4] parameters, an index of 10
}
