package backend

import (
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Many matrix products side by side, each large enough that GoMLX's Go backend divides it, end: the backend's pool of
// workers could fill up with products that all waited for workers.
func TestProductsSideBySideEnd(t *testing.T) {
	b := must.M1(Open(Go))
	exec := must.M1(NewExec(b, func(x *Node) *Node {
		sum := ScalarZero(x.Graph(), x.DType())
		for i := range 32 {
			y := AddScalar(x, i)
			sum = Add(sum, ReduceAllSum(Einsum("rnk,rbk->rnb", y, AddScalar(y, 1))))
		}
		return sum
	}))
	done := make(chan error, 1)
	go func() {
		x, err := CallOnce(b, func(g *Graph) *Node { return Ones(g, shapes.Make(dtypes.Float32, 100, 20, 20)) })
		for i := 0; i < 20 && err == nil; i++ {
			_, err = exec.Call(x)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the products did not end within 30 s")
	}
}
