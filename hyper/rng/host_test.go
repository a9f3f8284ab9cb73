package rng

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// A Host draws the same as a Stream with the same name for the same run: integers to the bit, normal numbers within one
// or two roundings.
func TestHost(t *testing.T) {
	seeds := []uint64{5, 1<<63 + 77}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		for _, n := range []int{1, 2, 7, 400, 1001} {
			out := must.M1(CallOnceN(b, func(in []*Node) []*Node {
				s := New(in[0]).At(in[1]).Named("act").Named("policy")
				return []*Node{s.Bits(n), s.Uniform(n), s.Intn(Const(in[0].Graph(), int32(10)), n), s.Step(3).Normal(n)}
			}, seeds, uint32(1<<31+9)))
			for i, seed := range seeds {
				h := NewHost(seed).At(1<<31 + 9).Named("act").Named("policy")
				bits, unit, whole, normal := make([]uint32, n), make([]float32, n), make([]int32, n), make([]float32, n)
				h.Bits(bits)
				h.Uniform(unit)
				h.Intn(10, whole)
				h.Step(3).Normal(normal)
				from, to := i*n, (i+1)*n
				if !slices.Equal(bits, tensors.MustCopyFlatData[uint32](out[0])[from:to]) ||
					!slices.Equal(unit, tensors.MustCopyFlatData[float32](out[1])[from:to]) ||
					!slices.Equal(whole, tensors.MustCopyFlatData[int32](out[2])[from:to]) {
					t.Fatalf("n = %d, run %d: the Host draws other numbers", n, i)
				}
				for k, want := range tensors.MustCopyFlatData[float32](out[3])[from:to] {
					if math.Abs(float64(normal[k]-want)) > 2e-6*(1+math.Abs(float64(want))) {
						t.Errorf("normal %d of %d: %v, want %v", k, n, normal[k], want)
					}
				}
			}
		}
	})
}

// NormalOf does not decrease, over all words for which it differs.
func TestNormalOfRises(t *testing.T) {
	last := NormalOf(0)
	for word := uint32(1); word < 1<<24; word++ {
		next := NormalOf(word << 8)
		if next < last {
			t.Fatalf("NormalOf gives %v for %d, less than %v for the word before", next, word<<8, last)
		}
		last = next
	}
	if NormalOf(1<<32-1) != last {
		t.Error("the last bits of a word matter")
	}
}

func BenchmarkHostNormal(b *testing.B) {
	out := make([]float32, 1000)
	for b.Loop() {
		NewHost(1).Normal(out)
	}
}
