package hyper

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hosted is a belief that draws functions in plain Go, for one run: [Sample] without a program, whose call takes longer
// than the work where there are few functions and inputs. One that embeds another is not taken for one.
type Hosted interface {
	Belief
	// OnHost returns Sample for parameters, or nil where the belief needs a program after all.
	OnHost(p HostParams) HostSample
}

// HostSample fills values with those of n functions at inputs x, [n][inputs] one after the other: what Sample draws
// from the stream of the same name, up to rounding. nil inputs are all arms. It returns false, and values are not to be
// used, where a program is the better way for so many. It is safe for concurrent use.
type HostSample func(s rng.Host, n int, x [][]float32, values []float32) bool

// HostNormals are the means and standard deviations of values at inputs x that are independent and normal: value i of
// function k is mean[i] + sd[i] z[k][i], with the normal numbers z [n][inputs] of the stream that HostSample is given.
// ok is false where values are not so. It is safe for concurrent use.
type HostNormals func(x [][]float32) (mean, sd []float32, ok bool)

// HostNormal is a Hosted belief some of whose values are independent and normal, so that a policy need not see all
// functions. One that embeds another is not taken for one.
type HostNormal interface {
	Hosted
	// Normals returns how the values of OnHost are distributed, or nil.
	Normals(p HostParams) HostNormals
}

// HostParams are the [Params] of one run in plain Go, without the initial values. They do not change.
type HostParams struct {
	Nu    [][]float32
	Fixed map[string][]float32
	// Blocks are what is known of each block of theta, in the place of Nu; nil where Nu is given. See HostConjugate.
	Blocks []HostBlock
	Share  float32 // beside Blocks, of beliefs of two parts: see BayesianLinear.Line
	// Compiled says that programs are compiled: they are the better way already for less work.
	Compiled bool
}

// mostBesideXLA is how many parameters, of all functions together, [Model] computes where programs are compiled. By
// measurement on two cores both ways take about as long there: 0.4 to 0.8 ms.
const mostBesideXLA = 10_000

// HostConjugate is a belief that is [Conjugate] and whose data change one block of theta each. Its OnHost takes
// HostParams.Blocks as well, so that a state of many blocks need not be copied where one has changed.
type HostConjugate interface {
	Hosted
	// HostBlocks is the number of blocks of theta.
	HostBlocks() int
	// Parts are as those of Conjugate.
	Parts() []int
	// HostPhi fills in phi(x) within the block of an input, the numbers of all parts, and returns the block.
	HostPhi(p HostParams, x, phi []float32) (block int)
}

// HostBlock is the Gaussian posterior N(mu, sigma_p^2 S S^T) of each part of a block of theta. It does not change, and
// is safe for concurrent use.
type HostBlock interface {
	// Moments returns phi^T mu of a part and fills in S^T phi, as many numbers as the part has.
	Moments(part int, phi, root []float32) (mean float32)
}

// HostBase is a base model that predicts in plain Go. One that embeds another is not taken for one: it may have changed
// what that predicts.
type HostBase interface {
	// OnHost returns the predictions at inputs x, nil for all arms, as a function of theta. It is of one goroutine.
	OnHost(x [][]float32) func(theta, out []float32)
}

var (
	_ Hosted        = Model{}
	_ HostConjugate = BayesianLinear{}
	_ HostNormal    = BayesianLinear{}
)

// OnHost is for linear hypermodels with Gaussian indices, and for ensembles.
func (m Model) OnHost(p HostParams) HostSample {
	base := hostBase(m.Base)
	if base == nil {
		return nil
	}
	theta := m.hostTheta(p)
	if theta == nil {
		return nil
	}
	prior, second := m.hostPrior(p)
	if m.Prior != nil && prior == nil && !m.independent() {
		return nil
	}
	return func(s rng.Host, n int, x [][]float32, values []float32) bool {
		if p.Compiled && n*m.Hyper.NumTheta() > mostBesideXLA {
			return false
		}
		inputs := len(values) / n
		apply, next := base.OnHost(x), theta(s, n)
		var applyPrior func(theta, out []float32)
		var added []float32
		if second != nil {
			applyPrior, added = second.OnHost(x), make([]float32, inputs)
		}
		own, fixed := make([]float32, m.Hyper.NumTheta()), []float32(nil)
		if prior != nil {
			fixed = make([]float32, m.Prior.Layout.Rows())
		}
		for k := range n {
			out := values[k*inputs : (k+1)*inputs]
			z := next(k, own)
			if prior != nil {
				prior(z, fixed)
			}
			if prior != nil && second == nil {
				blas32.Axpy(1, hostVector(fixed), hostVector(own))
			}
			apply(own, out)
			if second != nil {
				applyPrior(fixed, added)
				blas32.Axpy(1, hostVector(added), hostVector(out))
			}
		}
		return true
	}
}

// hostBase is a base model as a HostBase; nil where it is none.
func hostBase(b BaseModel) HostBase {
	h, ok := b.(HostBase)
	if !ok || promoted.By[HostBase](b) {
		return nil
	}
	return h
}

// hostIndex is an index in plain Go: a vector, or the place of the one of a one-hot vector.
type hostIndex struct {
	vector []float32
	id     int32
}

// hostTheta returns a function that draws n indices, and returns one that writes g_nu at the k-th and returns it.
func (m Model) hostTheta(p HostParams) func(s rng.Host, n int) func(k int, theta []float32) hostIndex {
	switch h := m.Hyper.(type) {
	case Linear:
		if !hostGaussian(h.P) {
			return nil
		}
		if m.independent() {
			return m.hostMarginals(p)
		}
		return func(s rng.Host, n int) func(int, []float32) hostIndex {
			dim := h.P.Dim()
			z := make([]float32, n*dim)
			s.Normal(z)
			return func(k int, theta []float32) hostIndex {
				copy(theta, p.Nu[0])
				own := z[k*dim : (k+1)*dim]
				h.addHost(p.Nu[1], own, theta)
				return hostIndex{vector: own}
			}
		}
	case Ensemble:
		return func(s rng.Host, n int) func(int, []float32) hostIndex {
			ids := make([]int32, n)
			s.Intn(h.Particles, ids)
			return func(k int, theta []float32) hostIndex {
				copy(theta, p.Nu[0][int(ids[k])*h.Params:])
				return hostIndex{id: ids[k]}
			}
		}
	}
	return nil
}

// hostGaussian tells whether indices are drawn as vectors of normal numbers.
func hostGaussian(d index.Distribution) bool {
	switch d := d.(type) {
	case index.Gaussian, index.PerArm:
		return true
	case index.Paired:
		return d.Reference == index.LawGaussian
	}
	return false
}

// hostMarginals draws theta, prior included, from its independent components: see [Marginals].
func (m Model) hostMarginals(p HostParams) func(s rng.Host, n int) func(int, []float32) hostIndex {
	width, size := m.Hyper.(Linear).Width, m.Hyper.NumTheta()
	sd := make([]float32, size)
	for i := range sd {
		sum := float32(0)
		for k, c := range p.Nu[1][i*width : (i+1)*width] {
			if m.Prior != nil {
				c += p.Fixed[priorMatrix][i*width+k]
			}
			sum += c * c
		}
		sd[i] = float32(math.Sqrt(float64(sum)))
	}
	return func(s rng.Host, n int) func(int, []float32) hostIndex {
		z := make([]float32, n*size)
		s.Normal(z)
		return func(k int, theta []float32) hostIndex {
			for i, v := range z[k*size : (k+1)*size] {
				theta[i] = p.Nu[0][i] + sd[i]*v
			}
			return hostIndex{}
		}
	}
}

// hostPrior returns a function that writes the prior's parameters D B z, and the base model of its own that they are
// of; nil where they are added to theta. Both are nil without a prior, with one that hostTheta has added, or with one
// that needs a program.
func (m Model) hostPrior(p HostParams) (prior func(z hostIndex, theta []float32), second HostBase) {
	if m.Prior == nil || m.independent() {
		return nil, nil
	}
	if m.apart() {
		if second = hostBase(m.Prior.Base); second == nil {
			return nil, nil
		}
	}
	rows := m.Prior.Layout.Rows()
	if of := p.Fixed[priorTheta]; of != nil {
		return func(z hostIndex, theta []float32) { copy(theta, of[int(z.id)*rows:]) }, second
	}
	if _, ok := m.Hyper.(Linear); !ok {
		return nil, nil
	}
	return func(z hostIndex, theta []float32) {
		clear(theta)
		m.Prior.Layout.addHost(p.Fixed[priorMatrix], z.vector, theta)
	}, second
}

// addHost adds B z to out, for c, the entries of B [rows][Width].
func (l Layout) addHost(c, z, out []float32) {
	row := 0
	for b, size := range l.Sizes {
		part := z[b*l.Width : (b+1)*l.Width]
		for range size {
			out[row] += dot.Product(c[row*l.Width:(row+1)*l.Width], part)
			row++
		}
	}
}

func hostVector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }
