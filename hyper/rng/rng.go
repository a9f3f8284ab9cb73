// Package rng draws random numbers inside GoMLX graphs from counter-based, named streams.
//
// A number is a pure function of (seed of the run, name of the stream, period, step, position). There is no state to
// carry. A run's numbers do not depend on the other runs, on the number of periods that one call advances, or on a
// resume. The generator is Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
// Integers are the same on every backend; normal numbers agree up to the rounding of log and sqrt.
package rng

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Stream is a named source of random numbers for a batch of runs. The zero value is not usable; make a Stream with
// [New]. Streams are values: Named, At and Step return a new Stream and do not change the receiver.
type Stream struct {
	keys   [2]*Node // keys of all rounds of Philox, uint32 [runs, rounds]
	name   uint32
	period *Node // scalar uint32, or nil for 0
	step   *Node // scalar uint32, or nil for 0
}

// New returns the root stream of the runs with the given seeds, uint64 [runs].
func New(seeds *Node) Stream {
	seeds = InsertAxes(seeds, -1)
	high := BitwiseShiftRightLogicalScalar(seeds, uint64(32))
	return Stream{keys: schedule(ConvertDType(seeds, dtypes.Uint32), ConvertDType(high, dtypes.Uint32))}
}

// Named returns the sub-stream with the given name. Names nest: s.Named("a").Named("b") differs from
// s.Named("b").Named("a").
func (s Stream) Named(name string) Stream {
	s.name = named(s.name, name)
	return s
}

// At returns the stream at a period, which is an integer scalar node.
func (s Stream) At(period *Node) Stream {
	s.period = ConvertDType(period, dtypes.Uint32)
	return s
}

// Step returns the stream at the given step within a period.
func (s Stream) Step(step int) Stream {
	s.step = Const(s.Graph(), uint32(step))
	return s
}

// Runs returns the number of runs for which the stream draws.
func (s Stream) Runs() int { return s.keys[0].Shape().Dim(0) }

// draw returns f of independent random words, [runs, dims...]. Word w of Philox block b has position w*blocks + b.
func (s Stream) draw(f func(words *Node) *Node, dims ...int) *Node {
	n := shapes.Make(dtypes.Uint32, dims...).Size()
	blocks := (n + 3) / 4
	var all *Node
	// With fewer blocks, the additional kernels take longer than what they save.
	if blocks >= 4096 && backend.OnXLACPU(s.Graph().Backend()) {
		all = s.packed(f, blocks)
	} else {
		all = s.inParts(f, blocks)
	}
	if 4*blocks != n {
		all = Slice(all, AxisRange(), AxisRange(0, n))
	}
	return Reshape(all, append([]int{s.Runs()}, dims...)...)
}

// packed returns f of the words of the given number of blocks, in order, [runs, 4 * blocks]. XLA for CPUs makes a
// kernel for each array of words, and each kernel computes all rounds for all words. So two words share a number of 64
// bits, which halves the kernels. Without the first concatenation, XLA would compute the rounds again for each use of a
// pair.
func (s Stream) packed(f func(words *Node) *Node, blocks int) *Node {
	w := s.words(dtypes.Uint64, blocks)
	pack := func(low, high *Node) *Node { return BitwiseOr(low, BitwiseShiftLeftScalar(high, uint64(32))) }
	pairs := Concatenate([]*Node{pack(w[0], w[1]), pack(w[2], w[3])}, 1)
	part := func(words *Node) *Node { return Reshape(f(ConvertDType(words, dtypes.Uint32)), s.Runs(), 2, 1, blocks) }
	low, high := part(pairs), part(BitwiseShiftRightLogicalScalar(pairs, uint64(32)))
	return Reshape(Concatenate([]*Node{low, high}, 2), s.Runs(), 4*blocks)
}

// inParts is packed for other backends, and for few blocks. On a GPU, XLA computes several arrays in one kernel; there
// are two arrays of two words, which compile faster than four. The Go backend computes each round once for all words.
func (s Stream) inParts(f func(words *Node) *Node, blocks int) *Node {
	var parts []*Node
	if s.onXLA() {
		words, first := s.words(dtypes.Uint32, 2, blocks), Equal(s.iota(1, 2, blocks), ScalarZero(s.Graph(), dtypes.Uint32))
		first = BroadcastToDims(first, s.Runs(), 2, blocks)
		parts = []*Node{Where(first, words[0], words[1]), Where(first, words[2], words[3])}
	} else {
		words := s.words(dtypes.Uint32, blocks)
		parts = words[:]
	}
	for i, words := range parts {
		parts[i] = Reshape(f(words), s.Runs(), -1)
	}
	return Concatenate(parts, 1)
}

func (s Stream) onXLA() bool { return s.Graph().Backend().Name() == "xla" }

// words returns the four Philox outputs of the first blocks, [runs, dims...] each, as uint32, or as uint64 with the
// same values. The last of dims is the number of blocks.
func (s Stream) words(dtype dtypes.DType, dims ...int) [4]*Node {
	g := s.Graph()
	zero := Const(g, uint32(0))
	c := [4]*Node{s.iota(len(dims), dims...), zero, zero, Const(g, s.name)}
	if s.step != nil {
		c[1] = s.step
	}
	if s.period != nil {
		c[2] = s.period
	}
	for i := range c {
		c[i] = ExpandLeftToRank(ConvertDType(c[i], dtype), 1+len(dims))
		c[i] = BroadcastToDims(c[i], append([]int{s.Runs()}, dims...)...)
	}
	return philox(c, s.keys)
}

// iota counts along an axis of [1, dims...]. XLA moves computations that are the same in each period out of a
// simulation's loop, which would create kernels and buffers for the first rounds. iota prevents this: it adds a zero
// that XLA does not recognise as zero, the last bit of an even number.
func (s Stream) iota(axis int, dims ...int) *Node {
	count := Iota(s.Graph(), shapes.Make(dtypes.Uint32, append([]int{1}, dims...)...), axis)
	if s.period == nil || !s.onXLA() {
		return count
	}
	return Add(count, BitwiseAnd(MulScalar(s.period, uint32(2)), Const(s.Graph(), uint32(1))))
}

const philoxRounds = 10

// schedule returns the keys of all rounds, uint32 [runs, rounds], from the keys of the first round, [runs, 1]. XLA
// computes all of them in one kernel; adding them up round by round would need a kernel for each round.
func schedule(key0, key1 *Node) [2]*Node {
	round := Iota(key0.Graph(), shapes.Make(dtypes.Uint32, 1, philoxRounds), 1)
	return [2]*Node{Add(key0, MulScalar(round, uint32(0x9E3779B9))), Add(key1, MulScalar(round, uint32(0xBB67AE85)))}
}

// philox is Philox-4x32-10 of counters c, which have the same shape. Their first axis is the runs.
func philox(c [4]*Node, keys [2]*Node) [4]*Node {
	const m0, m1 = uint64(0xD2511F53), uint64(0xCD9E8D57)
	for i := range philoxRounds {
		key := func(keys *Node) *Node { // [runs, 1, ...]
			k := ConvertDType(Slice(keys, AxisRange(), AxisElem(i)), c[0].DType())
			for k.Rank() < c[0].Rank() {
				k = InsertAxes(k, -1)
			}
			return k
		}
		hi0, lo0 := mulHiLo(c[0], m0)
		hi1, lo1 := mulHiLo(c[2], m1)
		c[1], c[3] = BitwiseXor(BitwiseXor(hi1, c[1]), key(keys[0])), BitwiseXor(BitwiseXor(hi0, c[3]), key(keys[1]))
		c = [4]*Node{c[1], lo1, c[3], lo0}
	}
	return c
}

// mulHiLo returns the high and low halves of the 64-bit products of x and m, in the type of x. x is uint32, or uint64
// below 2^32. A CPU computes uint64 faster, because it need not convert them.
func mulHiLo(x *Node, m uint64) (hi, lo *Node) {
	p := MulScalar(ConvertDType(x, dtypes.Uint64), m)
	high := BitwiseShiftRightLogicalScalar(p, uint64(32))
	if x.DType() == dtypes.Uint64 {
		return high, BitwiseAnd(p, Const(p.Graph(), uint64(math.MaxUint32)))
	}
	return ConvertDType(high, dtypes.Uint32), ConvertDType(p, dtypes.Uint32)
}

// Bits returns independent uniform 32-bit integers, uint32 [runs, dims...].
func (s Stream) Bits(dims ...int) *Node {
	return s.draw(func(words *Node) *Node { return words }, dims...)
}

// Signs returns 1 or -1, equally likely, float32 [runs, dims...].
func (s Stream) Signs(dims ...int) *Node {
	bit := BitwiseShiftRightLogicalScalar(s.Bits(dims...), uint32(31))
	return AddScalar(MulScalar(ConvertDType(bit, dtypes.Float32), 2), -1)
}

// Uniform returns numbers uniform on the open interval (0, 1), float32 [runs, dims...], with 24 random bits each.
func (s Stream) Uniform(dims ...int) *Node {
	return s.draw(unit, dims...)
}

// Intn returns integers uniform on 0..bound-1, int32 [runs, dims...]. bound is a positive integer node: a scalar, or
// one number for each run, [runs]. Intn takes the high word of a 32 x 32 bit product, so its bias is at most
// bound/2^32.
func (s Stream) Intn(bound *Node, dims ...int) *Node {
	wide := ConvertDType(bound, dtypes.Uint64)
	return s.draw(func(words *Node) *Node {
		for wide.Rank() > 0 && wide.Rank() < words.Rank() {
			wide = InsertAxes(wide, -1)
		}
		p := Mul(ConvertDType(words, dtypes.Uint64), wide)
		return ConvertDType(BitwiseShiftRightLogicalScalar(p, uint64(32)), dtypes.Int32)
	}, dims...)
}

// Normal returns standard normal numbers, float32 [runs, dims...], by the inverse of the distribution function. Unlike
// Box-Muller this needs no sine, which compilers do not vectorise. With 24-bit uniform numbers, the largest possible
// magnitude is 5.4.
func (s Stream) Normal(dims ...int) *Node {
	return s.draw(normal, dims...)
}

func normal(words *Node) *Node { return MulScalar(ErfInv(symmetric(words)), math.Sqrt2) }

// Sphere returns vectors that are uniform on the unit sphere of the last axis, float32 [runs, dims...].
func (s Stream) Sphere(dims ...int) *Node {
	v := s.Normal(dims...)
	norm2 := ReduceAndKeep(Square(v), ReduceSum, -1)
	return Mul(v, Rsqrt(MaxScalar(norm2, 1e-30)))
}

// symmetric maps 32-bit words to the midpoints of 2^24 cells of (-1, 1). Single precision represents all midpoints
// exactly.
func symmetric(bits *Node) *Node {
	cell := ConvertDType(BitwiseShiftRightLogicalScalar(bits, uint32(8)), dtypes.Int32)
	odd := AddScalar(MulScalar(cell, int32(2)), int32(1-1<<24))
	return MulScalar(ConvertDType(odd, dtypes.Float32), 1.0/(1<<24))
}

// unit maps 32-bit words to (0, 1). The minimum is needed because the sum rounds the topmost cell up to 1, which is not
// in the interval.
func unit(bits *Node) *Node {
	return MinScalar(MulScalar(AddScalar(symmetric(bits), 1), 0.5), 1-1.0/(1<<24))
}

// Graph returns the graph of the stream's nodes.
func (s Stream) Graph() *Graph { return s.keys[0].Graph() }
