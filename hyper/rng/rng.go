// Package rng draws random numbers inside GoMLX graphs from counter-based, named streams.
//
// A number is a pure function of (seed of the run, name of the stream, period, step, position): there is no state to
// carry, and a run's numbers do not depend on the runs beside it, on how many periods one call advances, or on a resume.
// The generator is Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Integers are
// the same on every backend; normals agree up to the rounding of log, sqrt, sin and cos.
package rng

import (
	"hash/fnv"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Stream is a named source of random numbers for a batch of runs. The zero value is not usable; make one with [New].
// Streams are values: Named, At and Step return a new one and leave the receiver as it is.
type Stream struct {
	key0, key1 *Node // [runs, 1] uint32
	name       uint32
	period     *Node // scalar uint32, or nil for 0
	step       *Node // scalar uint32, or nil for 0
}

// New returns the root stream of the runs with the given seeds, uint64 [runs].
func New(seeds *Node) Stream {
	seeds = InsertAxes(seeds, -1)
	return Stream{
		key0: ConvertDType(seeds, dtypes.Uint32),
		key1: ConvertDType(BitwiseShiftRightLogicalScalar(seeds, uint64(32)), dtypes.Uint32),
	}
}

// Named returns the sub-stream of that name. Names nest: s.Named("a").Named("b") differs from s.Named("b").Named("a").
func (s Stream) Named(name string) Stream {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(s.name), byte(s.name >> 8), byte(s.name >> 16), byte(s.name >> 24)})
	_, _ = h.Write([]byte(name))
	s.name = h.Sum32()
	return s
}

// At returns the stream at a period, an integer scalar node.
func (s Stream) At(period *Node) Stream {
	s.period = ConvertDType(period, dtypes.Uint32)
	return s
}

// Step returns the stream at the given step within a period.
func (s Stream) Step(step int) Stream {
	s.step = Const(s.key0.Graph(), uint32(step))
	return s
}

// Runs is the number of runs the stream draws for.
func (s Stream) Runs() int { return s.key0.Shape().Dim(0) }

// words returns four uint32 [runs, blocks] nodes: the Philox outputs of the counters 0..blocks-1.
func (s Stream) words(blocks int) [4]*Node {
	g := s.key0.Graph()
	zero := Const(g, uint32(0))
	c := [4]*Node{Iota(g, shapes.Make(dtypes.Uint32, 1, blocks), 1), zero, zero, Const(g, s.name)}
	if s.step != nil {
		c[1] = s.step
	}
	if s.period != nil {
		c[2] = s.period
	}
	for i := 1; i < 4; i++ {
		c[i] = BroadcastToDims(c[i], 1, blocks)
	}
	c[0] = BroadcastToDims(c[0], s.Runs(), blocks)
	for i := 1; i < 4; i++ {
		c[i] = BroadcastToDims(c[i], s.Runs(), blocks)
	}
	return philox(c, s.key0, s.key1)
}

// philox is Philox-4x32-10: counters c of one shape, keys that broadcast to it.
func philox(c [4]*Node, k0, k1 *Node) [4]*Node {
	const m0, m1 = uint64(0xD2511F53), uint64(0xCD9E8D57)
	const w0, w1 = uint32(0x9E3779B9), uint32(0xBB67AE85)
	for range 10 {
		hi0, lo0 := mulHiLo(c[0], m0)
		hi1, lo1 := mulHiLo(c[2], m1)
		c = [4]*Node{BitwiseXor(BitwiseXor(hi1, c[1]), k0), lo1, BitwiseXor(BitwiseXor(hi0, c[3]), k1), lo0}
		k0, k1 = AddScalar(k0, w0), AddScalar(k1, w1)
	}
	return c
}

// mulHiLo returns the high and low halves of the 64-bit products of x (uint32) and m.
func mulHiLo(x *Node, m uint64) (hi, lo *Node) {
	p := MulScalar(ConvertDType(x, dtypes.Uint64), m)
	return ConvertDType(BitwiseShiftRightLogicalScalar(p, uint64(32)), dtypes.Uint32), ConvertDType(p, dtypes.Uint32)
}

// Bits returns independent uniform 32-bit integers, uint32 [runs, dims...].
func (s Stream) Bits(dims ...int) *Node {
	n := size(dims)
	w := s.words((n + 3) / 4)
	return s.shaped(w[:], n, dims)
}

// Uniform returns numbers uniform on the open interval (0, 1), float32 [runs, dims...], with 24 random bits each.
func (s Stream) Uniform(dims ...int) *Node { return unit(s.Bits(dims...)) }

// Intn returns integers uniform on 0..bound-1, int32 [runs, dims...]; bound is a positive integer scalar node.
// The bias, at most bound/2^32, is that of taking the high word of a 32 x 32 bit product.
func (s Stream) Intn(bound *Node, dims ...int) *Node {
	wide := ConvertDType(s.Bits(dims...), dtypes.Uint64)
	p := Mul(wide, ConvertDType(bound, dtypes.Uint64))
	return ConvertDType(BitwiseShiftRightLogicalScalar(p, uint64(32)), dtypes.Int32)
}

// Normal returns standard normal numbers, float32 [runs, dims...], by Box-Muller with both outputs used. With 24-bit
// uniforms the largest possible magnitude is 5.9.
func (s Stream) Normal(dims ...int) *Node {
	n := size(dims)
	w := s.words((n + 3) / 4)
	a0, a1 := boxMuller(w[0], w[1])
	b0, b1 := boxMuller(w[2], w[3])
	return s.shaped([]*Node{a0, a1, b0, b1}, n, dims)
}

func boxMuller(u, v *Node) (*Node, *Node) {
	r := Sqrt(MulScalar(Log(unit(u)), -2.0))
	phi := MulScalar(unit(v), 2*math.Pi)
	return Mul(r, Cos(phi)), Mul(r, Sin(phi))
}

// Sphere returns vectors uniform on the unit sphere of the last axis, float32 [runs, dims...].
func (s Stream) Sphere(dims ...int) *Node {
	v := s.Normal(dims...)
	norm2 := ReduceAndKeep(Square(v), ReduceSum, -1)
	return Mul(v, Rsqrt(MaxScalar(norm2, 1e-30)))
}

// unit maps 32-bit words to the midpoints of 2^24 cells of (0, 1).
func unit(bits *Node) *Node {
	top := ConvertDType(ConvertDType(BitwiseShiftRightLogicalScalar(bits, uint32(8)), dtypes.Int32), dtypes.Float32)
	return MulScalar(AddScalar(top, 0.5), 1.0/(1<<24))
}

// shaped lays the words out one after the other and cuts them to [runs, dims...].
func (s Stream) shaped(words []*Node, n int, dims []int) *Node {
	flat := Concatenate(words, 1)
	if flat.Shape().Dim(1) != n {
		flat = Slice(flat, AxisRange(), AxisRange(0, n))
	}
	return Reshape(flat, append([]int{s.Runs()}, dims...)...)
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Graph is the graph that the stream's nodes belong to.
func (s Stream) Graph() *Graph { return s.key0.Graph() }
