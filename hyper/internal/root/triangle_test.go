package root

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func identity(n int) []float64 {
	s := make([]float64, n*n)
	for i := range n {
		s[i*n+i] = 1
	}
	return s
}

// square returns S S^T.
func square(n int, s []float64) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				out[i*n+j] += s[i*n+k] * s[j*n+k]
			}
		}
	}
	return out
}

func written(t *Triangle) []float64 {
	out := make([]float64, t.n*t.n)
	t.Write(out)
	return out
}

func farthest(x, y []float64) (most float64) {
	for i := range x {
		most = max(most, math.Abs(x[i]-y[i]))
	}
	return most
}

// A triangle that learns data has the same Q and the same gains as the root of the function Update, and remains
// triangular.
func TestTriangleIsUpdate(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 21} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		exec := must.M1(NewExec(must.M1(backend.Open(backend.Go)), func(s, phi, rho *Node) []*Node {
			next, gain := Update(s, phi, rho, Whole{})
			return []*Node{next, gain}
		}))
		s, own := identity(n), NewTriangle(n, identity(n))
		for range 30 {
			phi, rho := make([]float64, n), 0.1+50*r.Float64()
			for i := range phi {
				phi[i] = r.NormFloat64()
			}
			out := must.M1(exec.Call(tensors.FromFlatDataAndDimensions(s, 1, n, n),
				tensors.FromFlatDataAndDimensions(phi, 1, n), tensors.FromFlatDataAndDimensions([]float64{rho}, 1, 1)))
			s = tensors.MustCopyFlatData[float64](out[0])
			next, gain, ok := own.Update(phi, rho)
			own = next
			if off := farthest(gain, tensors.MustCopyFlatData[float64](out[1])); off > 1e-12 || !ok {
				t.Fatalf("n = %d: the gains differ by %g, want at most 1e-12", n, off)
			}
		}
		flat := written(own)
		if off := farthest(square(n, flat), square(n, s)); off > 1e-13 || !lower(n, flat) {
			t.Errorf("n = %d: Q differs by %g, want at most 1e-13 and a triangle", n, off)
		}
		if off := farthest(square(n, written(NewTriangle(n, s))), square(n, s)); off > 1e-13 {
			t.Errorf("n = %d: Q of a rotated root differs by %g, want at most 1e-13", n, off)
		}
		if !NewTriangle(n, flat).Equal(own) {
			t.Errorf("n = %d: the triangle that was read differs from the written one", n)
		}
	}
}

// Project returns S^T x, and Update does not change the triangle that it updates.
func TestProject(t *testing.T) {
	const n = 6
	r := rand.New(rand.NewPCG(2, 3))
	own, phi, x := NewTriangle(n, identity(n)), make([]float64, n), make([]float32, n)
	for range 5 {
		for i := range phi {
			phi[i], x[i] = r.NormFloat64(), float32(r.NormFloat64())
		}
		before := slices.Clone(own.rows)
		next, _, _ := own.Update(phi, 2)
		if !slices.Equal(before, own.rows) || next.Equal(own) {
			t.Fatal("Update changed its receiver, or nothing")
		}
		own = next
	}
	got, s := make([]float32, n), written(own)
	own.Project(x, got)
	for i := range n {
		want := 0.0
		for k := range n {
			want += s[k*n+i] * float64(x[k])
		}
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Errorf("number %d is %v, want %v", i, got[i], want)
		}
	}
}

// ForgetInto equals, to the bit, a scaling followed by an update for each of the coordinates, for different ranges of
// coordinates.
func TestForgetIsUpdates(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := 1; n < 40; n++ {
		own, phi := NewTriangle(n, identity(n)), make([]float64, n)
		for data := range 8 {
			from := r.IntN(n)
			to := from + 1 + r.IntN(n-from)
			next := Empty(n)
			gains, ok := own.ForgetInto(next, 1.1, from, to, 0.3)
			if !ok {
				t.Fatal("the update is not finite")
			}
			scaled := written(own)
			for i := range scaled {
				scaled[i] *= 1.1
			}
			want, e := NewTriangle(n, scaled), make([]float64, n)
			for i, gain := range gains {
				e[from+i] = 1
				var known []float64
				if want, known, ok = want.Update(e, 0.3); !ok || !slices.Equal(gain, known) {
					t.Fatalf("n = %d, %d data: coordinate %d has another gain", n, data, from+i)
				}
				e[from+i] = 0
			}
			if !next.Equal(want) || !slices.Equal(next.narrow, want.narrow) {
				t.Fatalf("n = %d, %d data: got another root", n, data)
			}
			for i := range phi {
				phi[i] = r.NormFloat64()
			}
			own, _, _ = next.Update(phi, 2)
		}
	}
	if _, ok := NewTriangle(1, []float64{1}).ForgetInto(Empty(1), 1e200, 0, 1, 1); ok {
		t.Error("the square of 1e200 is not finite")
	}
}

// An update that is not finite is reported.
func TestUpdateNotFinite(t *testing.T) {
	if _, _, ok := NewTriangle(2, identity(2)).Update([]float64{1e200, 1}, 1); ok {
		t.Error("the square of 1e200 is not finite")
	}
}

// BenchmarkTriangle measures the time of a datum and of a decision for a block of n parameters.
func BenchmarkTriangle(b *testing.B) {
	for _, n := range []int{221, 251, 985} {
		own, next := NewTriangle(n, identity(n)), Empty(n)
		phi, x, out := make([]float64, n), make([]float32, n), make([]float32, n)
		for i := range phi {
			phi[i], x[i] = 1/float64(n), 1/float32(n)
		}
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			for b.Loop() {
				own.UpdateInto(next, phi, 0.1)
				own, next = next, own
			}
		})
		b.Run(fmt.Sprintf("forget/%d", n), func(b *testing.B) { // a tenth of the coordinates
			i := 0
			for b.Loop() {
				own.ForgetInto(next, 1.001, i*n/10, (i+1)*n/10, 0.02)
				own, next, i = next, own, (i+1)%10
			}
		})
		b.Run(fmt.Sprintf("project/%d", n), func(b *testing.B) {
			for b.Loop() {
				own.Project(x, out)
			}
		})
	}
}

// Update does what UpdateInto does, and returns a new root.
func (t *Triangle) Update(phi []float64, rho float64) (next *Triangle, gain []float64, ok bool) {
	next = Empty(t.n)
	gain, ok = t.UpdateInto(next, phi, rho)
	return next, gain, ok
}
