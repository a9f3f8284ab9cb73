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

func call(t *testing.T, name string, fn func(*Node) *Node, seeds ...uint64) *tensors.Tensor {
	t.Helper()
	b := must.M1(backend.Open(name))
	return must.M1(CallOnce(b, fn, seeds))
}

// Words that are packed in pairs give the same numbers, to the bit, as words in parts.
func TestPackedWordsAreTheSame(t *testing.T) {
	const blocks = 4099
	testbackend.ForEach(t, func(t *testing.T, name string) {
		drawn := func(how func(s Stream, f func(*Node) *Node, blocks int) *Node) []float32 {
			return tensors.MustCopyFlatData[float32](call(t, name, func(seeds *Node) *Node {
				return how(New(seeds).Named("x").At(Const(seeds.Graph(), int32(7))).Step(3), normal, blocks)
			}, 1, 1<<63+5))
		}
		packed, parts := drawn(Stream.packed), drawn(Stream.inParts)
		if len(packed) != 2*4*blocks || !slices.Equal(packed, parts) {
			t.Errorf("%d packed numbers differ from %d numbers in parts", len(packed), len(parts))
		}
	})
}

// The known answers come from kat_vectors of the Random123 distribution, for philox4x32 with 10 rounds.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, kat := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want []uint32
	}{
		{[4]uint32{}, [2]uint32{}, []uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			got := call(t, name, func(in *Node) *Node {
				g := in.Graph()
				var c [4]*Node
				for i := range c {
					c[i] = Const(g, [][]uint32{{kat.ctr[i]}})
				}
				key := func(i int) *Node { return Const(g, [][]uint32{{kat.key[i]}}) }
				out := philox(c, schedule(key(0), key(1)))
				return Reshape(Concatenate(out[:], 0), 4)
			}, 1).Value().([]uint32)
			if !slices.Equal(got, kat.want) {
				t.Errorf("philox(%x, %x) = %x, want %x", kat.ctr, kat.key, got, kat.want)
			}
		})
	}
}

func TestMoments(t *testing.T) {
	const n = 200_000
	testbackend.ForEach(t, func(t *testing.T, name string) {
		x := call(t, name, func(s *Node) *Node { return New(s).Named("x").Normal(n) }, 7).Value().([][]float32)[0]
		var m [5]float64 // raw moments; a standard normal number has 1, 0, 1, 0, 3
		for _, v := range x {
			for k := range m {
				m[k] += math.Pow(float64(v), float64(k)) / n
			}
		}
		for k, want := range []float64{1, 0, 1, 0, 3} {
			if sd := []float64{0, 1, 1.42, 3.88, 9.8}[k]; math.Abs(m[k]-want) > 5*sd/math.Sqrt(n)+1e-9 {
				t.Errorf("moment %d = %.4f, want %v", k, m[k], want)
			}
		}
		// Neighbouring numbers and neighbouring blocks are not correlated.
		for _, lag := range []int{1, n / 4, n / 2} {
			c := 0.0
			for i := range n - lag {
				c += float64(x[i]) * float64(x[i+lag])
			}
			if c /= float64(n - lag); math.Abs(c) > 5/math.Sqrt(float64(n-lag)) {
				t.Errorf("the correlation at lag %d is %.4f, want 0", lag, c)
			}
		}
	})
}

func TestStreamsAreIndependentOfTheBatch(t *testing.T) {
	draw := func(s *Node) *Node {
		return New(s).Named("a").At(Const(s.Graph(), int32(3))).Step(2).Bits(9)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		batch := call(t, name, draw, 5, 1<<40, 6).Value().([][]uint32)
		for i, seed := range []uint64{5, 1 << 40, 6} {
			alone := call(t, name, draw, seed).Value().([][]uint32)[0]
			if !slices.Equal(alone, batch[i]) {
				t.Errorf("seed %d: got %x alone and %x in a batch", seed, alone, batch[i])
			}
		}
		if slices.Equal(batch[0], batch[2]) || slices.Equal(batch[0], batch[1]) {
			t.Error("two seeds gave the same numbers")
		}
	})
}

func TestNamesPeriodsAndStepsDiffer(t *testing.T) {
	variants := []func(Stream) Stream{
		func(s Stream) Stream { return s },
		func(s Stream) Stream { return s.Named("a") },
		func(s Stream) Stream { return s.Named("b") },
		func(s Stream) Stream { return s.Named("a").Named("b") },
		func(s Stream) Stream { return s.Named("b").Named("a") },
		func(s Stream) Stream { return s.Named("a").Step(1) },
		func(s Stream) Stream { return s.Named("a").At(Const(s.Graph(), int32(1))) },
	}
	seen := map[uint32]int{}
	for i, v := range variants {
		x := call(t, backend.Go, func(s *Node) *Node { return v(New(s)).Bits(1) }, 1).Value().([][]uint32)[0][0]
		if j, dup := seen[x]; dup {
			t.Errorf("variants %d and %d draw the same numbers", i, j)
		}
		seen[x] = i
	}
}

func TestIntnIsUniform(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		const n, bound = 60_000, 6
		x := call(t, name, func(s *Node) *Node { return New(s).Intn(Const(s.Graph(), int32(bound)), n) },
			3).Value().([][]int32)[0]
		var count [bound]float64
		for _, v := range x {
			count[v]++ // panics if v is out of range
		}
		chi2 := 0.0
		for _, c := range count {
			chi2 += (c - n/bound) * (c - n/bound) / (n / bound)
		}
		if chi2 > 25.7 { // 99.99% quantile of chi-squared with 5 degrees of freedom
			t.Errorf("got chi-squared %.1f with counts %v, want at most 25.7", chi2, count)
		}
	})
}

// With a bound for each run, each run has its own bound.
func TestIntnOfEachRun(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		of := func(bound any) [][]int32 {
			return call(t, name, func(s *Node) *Node { return New(s).Intn(Const(s.Graph(), bound), 5) }, 3,
				4).Value().([][]int32)
		}
		both, few, many := of([]int32{6, 9000}), of(int32(6)), of(int32(9000))
		if !slices.Equal(both[0], few[0]) || !slices.Equal(both[1], many[1]) {
			t.Errorf("%v of bounds 6 and 9000, want %v and %v", both, few[0], many[1])
		}
	})
}

func BenchmarkNormal(b *testing.B) {
	for _, name := range []string{backend.Go, backend.XLACPU} {
		b.Run(name, func(b *testing.B) {
			be, err := backend.Open(name)
			if err != nil {
				b.Skip(err)
			}
			const n = 480_000
			exec := MustNewExec(be, func(s *Node) *Node { return ReduceSum(New(s).Normal(n), 1) })
			for b.Loop() {
				must.M1(exec.Call1([]uint64{uint64(b.N)}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/normal")
		})
	}
}

// The extreme words stay within the open intervals, in which the quantile of the normal distribution is finite.
func TestExtremeWords(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		got := call(t, name, func(in *Node) *Node {
			words := Const(in.Graph(), []uint32{0, 0xffffffff})
			return Stack([]*Node{unit(words), symmetric(words), ErfInv(symmetric(words))}, 0)
		}, 1).Value().([][]float32)
		if u := got[0]; !(u[0] > 0 && u[1] < 1) {
			t.Errorf("uniforms %v, want them in (0, 1)", u)
		}
		if x := got[1]; !(x[0] > -1 && x[1] < 1 && x[0] == -x[1]) {
			t.Errorf("symmetric numbers %v, want them in (-1, 1)", x)
		}
		// erfinv(1 - 2^-24) = 3.8325 (at which erfc is 2^-24, by bisection in double precision): 5.42 standard
		// deviations, divided by sqrt 2
		if z := got[2]; math.Abs(float64(z[1])-3.8325) > 2e-3 || z[0] != -z[1] {
			t.Errorf("erfinv %v, want +-3.8325", z)
		}
	})
}

// The backends draw the same words, whatever their number, although each lays them out differently. This is also true
// in a period above 2^31, for which twice the period overflows.
func TestBackendsDrawTheSame(t *testing.T) {
	draw := func(s *Node) *Node {
		at := New(s).Named("a").At(Const(s.Graph(), uint32(0x80000001))).Step(2)
		var all []*Node
		for n := 1; n <= 9; n++ {
			all = append(all, at.Bits(n))
		}
		return Concatenate(all, 1)
	}
	want := call(t, backend.Go, draw, 5, 1<<40).Value().([][]uint32)
	if got := want[0][:3]; got[0] != got[1] || got[1] == got[2] { // of one number, and the first two of two
		t.Errorf("numbers %x do not begin with the same words", got)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for i, got := range call(t, name, draw, 5, 1<<40).Value().([][]uint32) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("run %d: got %x, and %x on the Go backend", i, got, want[i])
			}
		}
	})
}
