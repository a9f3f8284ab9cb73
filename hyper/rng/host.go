package rng

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// Host is the [Stream] of one run in plain Go. It draws the same integers as the Stream, and the same other numbers up
// to the rounding of logarithms and roots. It needs no graph. Like a Stream, it is a value.
type Host struct {
	keys         [philoxRounds][2]uint32
	name         uint32
	period, step uint32
}

// NewHost returns the root stream of the run with the given seed.
func NewHost(seed uint64) Host {
	h := Host{}
	for i := range h.keys {
		h.keys[i] = [2]uint32{uint32(seed) + uint32(i)*0x9E3779B9, uint32(seed>>32) + uint32(i)*0xBB67AE85}
	}
	return h
}

// Named returns the sub-stream with the given name.
func (h Host) Named(name string) Host {
	h.name = named(h.name, name)
	return h
}

// named returns the number of the sub-stream with a name, from the number of its parent stream.
func named(parent uint32, name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, parent))
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}

// At returns the stream at a period.
func (h Host) At(period uint32) Host {
	h.period = period
	return h
}

// Step returns the stream at a step within a period.
func (h Host) Step(step uint32) Host {
	h.step = step
	return h
}

// block returns the four words of a Philox block.
func (h Host) block(number uint32) (out [4]uint32) {
	c := [4]uint32{number, h.step, h.period, h.name}
	for _, key := range h.keys {
		p0, p1 := uint64(c[0])*0xD2511F53, uint64(c[2])*0xCD9E8D57
		c = [4]uint32{uint32(p1>>32) ^ c[1] ^ key[0], uint32(p1), uint32(p0>>32) ^ c[3] ^ key[1], uint32(p0)}
	}
	return c
}

// draw calls put with each of n words and its position: word w of block b has position w*blocks + b.
func (h Host) draw(n int, put func(at int, word uint32)) {
	blocks := (n + 3) / 4
	for b := range blocks {
		for w, word := range h.block(uint32(b)) {
			if at := w*blocks + b; at < n {
				put(at, word)
			}
		}
	}
}

// Bits fills out with independent uniform 32-bit integers.
func (h Host) Bits(out []uint32) { h.draw(len(out), func(at int, word uint32) { out[at] = word }) }

// Uniform fills out with numbers uniform on the open interval (0, 1).
func (h Host) Uniform(out []float32) {
	h.draw(len(out), func(at int, word uint32) {
		out[at] = min((cell(word)+1)*0.5, 1-1.0/(1<<24))
	})
}

// Intn fills out with integers uniform on 0..bound-1; bound must be positive.
func (h Host) Intn(bound int, out []int32) {
	h.draw(len(out), func(at int, word uint32) { out[at] = int32(uint64(word) * uint64(bound) >> 32) })
}

// Normal fills out with standard normal numbers.
func (h Host) Normal(out []float32) {
	h.draw(len(out), func(at int, word uint32) { out[at] = NormalOf(word) })
}

// NormalOf returns the number that Normal makes from a word of Bits. It does not decrease as the word increases.
func NormalOf(word uint32) float32 { return hostErfInv(cell(word)) * math.Sqrt2 }

// cell maps a word to (-1, 1) in the same way as symmetric.
func cell(word uint32) float32 { return float32(int32(word>>8)*2+(1-1<<24)) * (1.0 / (1 << 24)) }

// hostErfInv is ErfInv in plain Go.
func hostErfInv(x float32) float32 {
	w := float32(-math.Log(float64((1 - x) * (1 + x))))
	if w < 5 {
		return hostHorner(w-2.5, &central) * x
	}
	return hostHorner(float32(math.Sqrt(float64(w)))-3, &tail) * x
}

func hostHorner(w float32, coefficients *[9]float32) float32 {
	p := coefficients[0]
	for _, c := range coefficients[1:] {
		p = p*w + c
	}
	return p
}
