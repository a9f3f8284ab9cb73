package hyper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OnHost is for all of them. In blocks it draws from the joint distribution of the inputs of each block, where those of
// one block are at most 256. Where there are more inputs than that in all blocks together, the numbers are of the
// distribution that Sample draws from, and not those that it draws.
func (b BayesianLinear) OnHost(p HostParams) HostSample {
	blocks, draw := b.knownBlocks(p), b.hostFunctions
	if b.blocks() > 1 {
		draw = b.hostValues
	}
	return func(s rng.Host, n int, x [][]float32, values []float32) bool { return draw(p, blocks, s, n, x, values) }
}

// Normals are the values of inputs of different blocks, one of each.
func (b BayesianLinear) Normals(p HostParams) HostNormals {
	if b.blocks() == 1 {
		return nil
	}
	blocks := b.knownBlocks(p)
	return func(x [][]float32) (mean, sd []float32, ok bool) {
		groups := b.byBlock(p, x)
		if len(groups) < len(x) {
			return nil, nil, false
		}
		mean, sd = make([]float32, len(x)), make([]float32, len(x))
		sideBySide(len(groups), len(x)*b.size()*b.size()/2, func(i int) {
			g := groups[i]
			m, factor := g.joint(blocks[g.block], p.Fixed["scale"][0])
			mean[g.at[0]], sd[g.at[0]] = m[0], factor[0]
		})
		return mean, sd, true
	}
}

// knownBlocks are Blocks, or those of Nu.
func (b BayesianLinear) knownBlocks(p HostParams) []HostBlock {
	if p.Blocks != nil {
		return p.Blocks
	}
	return b.flatBlocks(p)
}

// HostBlocks are the Blocks, and the numbers of theta in each.
func (b BayesianLinear) HostBlocks() (number, size int) { return b.blocks(), b.size() }

// flatBlock is a block of nu.
type flatBlock struct {
	mu []float32
	s  blas32.General
}

func (b BayesianLinear) flatBlocks(p HostParams) (out []HostBlock) {
	n := b.size()
	for i := range b.blocks() {
		s := blas32.General{Rows: n, Cols: n, Stride: n, Data: p.Nu[1][i*n*n : (i+1)*n*n]}
		out = append(out, flatBlock{p.Nu[0][i*n : (i+1)*n], s})
	}
	return out
}

func (f flatBlock) Moments(phi, root []float32) (mean float32) {
	blas32.Gemv(blas.Trans, 1, f.s, hostVector(phi), 0, hostVector(root))
	return dot.Product(phi, f.mu)
}

// hostFunctions draws functions of one block by their indices z.
func (b BayesianLinear) hostFunctions(p HostParams, blocks []HostBlock, s rng.Host, n int, x [][]float32,
	values []float32) bool {
	size := b.size()
	z, phi, root := make([]float32, n*size), make([]float32, size), make([]float32, size)
	s.Normal(z)
	columns, mean := make([]float32, size*len(x)), make([]float32, len(x))
	for i, row := range x {
		mean[i] = blocks[b.HostPhi(p, row, phi)].Moments(phi, root)
		for q, v := range root {
			columns[q*len(x)+i] = v * p.Fixed["scale"][0]
		}
	}
	for k := range n {
		own := values[k*len(x) : (k+1)*len(x)]
		copy(own, mean)
		for q, v := range z[k*size : (k+1)*size] {
			blas32.Axpy(v, hostVector(columns[q*len(x):(q+1)*len(x)]), hostVector(own))
		}
	}
	return true
}

// hostValues draws the values of inputs by a number for each: jointly those of one block, and independently of others.
func (b BayesianLinear) hostValues(p HostParams, blocks []HostBlock, s rng.Host, n int, x [][]float32,
	values []float32) bool {
	groups := b.byBlock(p, x)
	if slices.ContainsFunc(groups, func(g blockGroup) bool { return len(g.at) > mostJoint }) {
		return false
	}
	s.Normal(values)
	sideBySide(len(groups), len(x)*b.size()*b.size()/2, func(i int) {
		g := groups[i]
		mean, factor := g.joint(blocks[g.block], p.Fixed["scale"][0])
		for own := range slices.Chunk(values, len(x)) {
			g.correlate(mean, factor, own)
		}
	})
	return true
}

// HostPhi fills in phi(x), and returns the block of x.
func (b BayesianLinear) HostPhi(p HostParams, x, phi []float32) (block int) {
	block, x = b.hostSplit(x)
	b.hostProject(p, x, phi)
	return block
}

// hostSplit is the block of an input, and its d numbers.
func (b BayesianLinear) hostSplit(x []float32) (block int, numbers []float32) {
	switch {
	case b.Numbered:
		return int(x[0]), x[1:]
	case b.blocks() > 1:
		return b.hostBlock(x)
	}
	return 0, x
}

// hostProject fills in phi of d numbers.
func (b BayesianLinear) hostProject(p HostParams, x, phi []float32) {
	d := b.width()
	if b.Plain {
		copy(phi, x)
		return
	}
	if b.Waves == 0 {
		scale := float32(1 / math.Sqrt(float64(d+1)))
		for k, v := range x {
			phi[k] = v * scale
		}
		phi[d] = scale
		return
	}
	angles := phi[:b.Waves]
	copy(angles, p.Fixed["phases"])
	blas32.Gemv(blas.Trans, 1, blas32.General{Rows: d, Cols: b.Waves, Stride: b.Waves, Data: p.Fixed["waves"]},
		hostVector(x), 1,
		hostVector(angles))
	high := float32(math.Sqrt(2 / float64(b.Waves)))
	for k, a := range angles {
		angles[k] = high * float32(math.Cos(float64(a)))
	}
	low := float32(linearShare / math.Sqrt(float64(d)))
	for k, v := range x {
		phi[b.Waves+k] = v * low
	}
	phi[b.Waves+d] = linearShare
}

// hostBlock is the block of an input that is not 0, and its numbers.
func (b BayesianLinear) hostBlock(x []float32) (block int, numbers []float32) {
	d, largest := b.width(), float32(0)
	for k, v := range x {
		if v = max(v, -v); v > largest {
			largest, block = v, k/d
		}
	}
	return block, x[block*d : (block+1)*d]
}
