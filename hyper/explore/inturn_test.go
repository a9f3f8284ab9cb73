package explore

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// Every run takes its available actions one after the other.
func TestInTurn(t *testing.T) {
	there := [][]bool{{true, true, true}, {false, true, true}, {false, false, true}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for period, want := range [][]int32{{0, 1, 2}, {1, 2, 2}, {2, 1, 2}, {0, 2, 2}} {
			out := must.M1(CallOnceN(must.M1(backend.Open(name)), func(in []*Node) []*Node {
				return []*Node{InTurn(in[0], 3, in[1]), InTurn(in[0], 3, nil)}
			}, int32(period), there))
			some, all := tensors.MustCopyFlatData[int32](out[0]), tensors.MustCopyFlatData[int32](out[1])
			if !slices.Equal(some, want) || !slices.Equal(all, want[:1]) {
				t.Errorf("period %d: %v and %v, want %v", period, some, all, want)
			}
		}
	})
}
