package hyper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OnHost supports every BayesianLinear. With several blocks, the HostSample draws the values of each block's inputs
// from their joint distribution, and returns false if a block has more than 256 inputs. If all blocks together have
// more than 256 inputs, the values have the distribution of the values that Sample draws, but are not the same numbers.
func (b BayesianLinear) OnHost(p HostParams) HostSample {
	blocks, draw := b.knownBlocks(p), b.hostFunctions
	if b.blocks() > 1 {
		draw = b.hostValues
	}
	return func(s rng.Host, n int, x [][]float32, values []float32) bool { return draw(p, blocks, s, n, x, values) }
}

// Normals returns the distribution of the values of inputs that belong to different blocks. Two inputs of one block are
// not independent: ok is then false. With a single block Normals returns nil.
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
			m, factor := b.hostJoint(p, blocks, g)
			mean[g.at[0]], sd[g.at[0]] = m[0], factor[0]
		})
		return mean, sd, true
	}
}

// knownBlocks returns p.Blocks, or the blocks of p.Nu if p.Blocks is nil.
func (b BayesianLinear) knownBlocks(p HostParams) []HostBlock {
	if p.Blocks != nil {
		return p.Blocks
	}
	return b.flatBlocks(p)
}

// HostBlocks returns the number of blocks.
func (b BayesianLinear) HostBlocks() int { return b.blocks() }

// flatBlock is a block of nu, as a list of its parts.
type flatBlock []flatPart

type flatPart struct {
	mu []float32
	s  blas32.General
}

func (b BayesianLinear) flatBlocks(p HostParams) (out []HostBlock) {
	for i := range b.blocks() {
		mu, own := p.Nu[0][i*b.whole():], flatBlock{}
		for j, of := range b.spans() {
			n := of.Size()
			s := blas32.General{Rows: n, Cols: n, Stride: n, Data: p.Nu[1+j][i*n*n : (i+1)*n*n]}
			own = append(own, flatPart{mu[of.From:of.To], s})
		}
		out = append(out, own)
	}
	return out
}

func (f flatBlock) Moments(part int, phi, root []float32) (mean float32) {
	own := f[part]
	blas32.Gemv(blas.Trans, 1, own.s, hostVector(phi), 0, hostVector(root))
	return dot.Product(phi, own.mu)
}

// hostJoint returns the means, and a root of the covariances, of the values of one block's inputs; see
// blockGroup.joint.
func (b BayesianLinear) hostJoint(p HostParams, blocks []HostBlock, g blockGroup) (mean, factor []float32) {
	return g.joint(p.Fixed["scale"][0], b.deviations(), func(phi, root []float32) float32 {
		return b.hostMoments(p, blocks[g.block], phi, root)
	})
}

// hostMoments returns the mean of f at phi and writes a row of the root of the covariances, without the factor sigma_p,
// to root. The length of root is deviations. See moments. A regression with the weight 0 in float32 is not read.
func (b BayesianLinear) hostMoments(p HostParams, of HostBlock, phi, root []float32) (mean float32) {
	if !b.Line {
		return of.Moments(0, phi, root)
	}
	n, last, share := b.size(), b.whole(), p.share()
	part := func(j int, weight float32, phi, root []float32) (mean float32) {
		if weight == 0 { // what follows multiplies by the weight; most of a decision is reading S
			clear(root)
			return 0
		}
		mean = of.Moments(j, phi, root)
		blas32.Scal(sqrt(weight), hostVector(root))
		return mean
	}
	cosines, line := part(0, 1-share, phi[:n], root[:n]), part(1, share, phi[n:], root[n:last])
	root[last] = 0
	if sigma := p.Fixed["scale"][0]; sigma != 0 {
		root[last] = sqrt(share*(1-share)) * (line - cosines) / sigma
	}
	return (1-share)*cosines + share*line
}

// share returns the probability of the line.
func (p HostParams) share() float32 {
	if p.Blocks == nil {
		return p.Nu[3][0]
	}
	return p.Share
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// hostFunctions draws the functions of a belief with one block by drawing their indices z.
func (b BayesianLinear) hostFunctions(p HostParams, blocks []HostBlock, s rng.Host, n int, x [][]float32,
	values []float32) bool {
	size := b.deviations()
	z, phi, root := make([]float32, n*size), make([]float32, b.whole()), make([]float32, size)
	s.Normal(z)
	columns, mean := make([]float32, size*len(x)), make([]float32, len(x))
	for i, row := range x {
		mean[i] = b.hostMoments(p, blocks[b.HostPhi(p, row, phi)], phi, root)
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

// hostValues draws one normal number for each value. It draws the values of one block jointly, and the values of
// different blocks independently.
func (b BayesianLinear) hostValues(p HostParams, blocks []HostBlock, s rng.Host, n int, x [][]float32,
	values []float32) bool {
	groups := b.byBlock(p, x)
	if slices.ContainsFunc(groups, func(g blockGroup) bool { return len(g.at) > mostJoint }) {
		return false
	}
	s.Normal(values)
	sideBySide(len(groups), len(x)*b.size()*b.size()/2, func(i int) {
		g := groups[i]
		mean, factor := b.hostJoint(p, blocks, g)
		for own := range slices.Chunk(values, len(x)) {
			g.correlate(mean, factor, own)
		}
	})
	return true
}

// HostPhi writes phi(x) to phi, and returns the index of the block of x.
func (b BayesianLinear) HostPhi(p HostParams, x, phi []float32) (block int) {
	block, x = b.hostSplit(x)
	b.hostProject(p, x, phi)
	return block
}

// hostSplit returns the index of the block of an input, and the d numbers of the input.
func (b BayesianLinear) hostSplit(x []float32) (block int, numbers []float32) {
	switch {
	case b.Numbered:
		return int(x[0]), x[1:]
	case b.blocks() > 1:
		return b.hostBlock(x)
	}
	return 0, x
}

// hostProject writes phi of the d numbers x to phi.
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
	if b.Line {
		line, scale := phi[b.size():], float32(b.lineScale())
		for k, v := range x {
			line[k] = v * scale
		}
		line[d] = scale
	}
}

// hostBlock returns the index of the block that has the input's largest absolute value, and the numbers of this block.
func (b BayesianLinear) hostBlock(x []float32) (block int, numbers []float32) {
	d, largest := b.width(), float32(0)
	for k, v := range x {
		if v = max(v, -v); v > largest {
			largest, block = v, k/d
		}
	}
	return block, x[block*d : (block+1)*d]
}
