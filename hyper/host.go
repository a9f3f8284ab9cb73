package hyper

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hosted is a belief that can draw functions of one run in plain Go. It does what [Sample] does without a compiled
// program. For few functions and few inputs this is faster, because calling a program takes longer than the work
// itself.
//
// A type that gets OnHost only by embedding another belief does not count as Hosted.
type Hosted interface {
	Belief
	// OnHost returns a HostSample for the parameters p, or nil if the belief needs a program for them.
	OnHost(p HostParams) HostSample
}

// HostSample draws n functions and writes their values at inputs x to values, [n][inputs] in row-major order. The
// values equal the values that [Sample] draws from the stream of the same name, up to rounding. A nil x means all arms.
// HostSample returns false if a program is the better way for this number of functions and inputs; values must then not
// be used. It is safe for concurrent use.
type HostSample func(s rng.Host, n int, x [][]float32, values []float32) bool

// HostNormals returns the means and the standard deviations of the values at inputs x, if the values are independent
// and normal. Value i of function k is then mean[i] + sd[i] z[k][i], where z [n][inputs] are the normal numbers of the
// stream that HostSample is given. ok is false if the values are not independent and normal. HostNormals is safe for
// concurrent use.
type HostNormals func(x [][]float32) (mean, sd []float32, ok bool)

// HostNormal is a Hosted belief some of whose values are independent and normal. For these values a policy does not
// need to draw all functions. A type that gets Normals only by embedding another belief does not count as HostNormal.
type HostNormal interface {
	Hosted
	// Normals returns the distribution of the values that OnHost draws, or nil if they are not independent and normal.
	Normals(p HostParams) HostNormals
}

// HostParams are the [Params] of one run in plain Go, without the initial values. They are never modified.
type HostParams struct {
	Nu    [][]float32
	Fixed map[string][]float32
	// Blocks describes each block of theta, and replaces Nu. It is nil if Nu is given. See HostConjugate.
	Blocks []HostBlock
	Share  float32 // used with Blocks, for beliefs with two parts; see BayesianLinear.Line
	// Compiled reports whether programs are compiled, as by XLA. Plain Go is then faster only for little work.
	Compiled bool
}

// mostBesideXLA is the largest number of parameters, of all functions together, that [Model] computes in plain Go if
// programs are compiled. At this number both ways took about the same time on two cores: 0.4 to 0.8 ms.
const mostBesideXLA = 10_000

// HostConjugate is a [Conjugate] belief in which each datum changes only one block of theta. Its OnHost also accepts
// HostParams.Blocks. A state of many blocks then need not be copied when one block changes.
type HostConjugate interface {
	Hosted
	// HostBlocks returns the number of blocks of theta.
	HostBlocks() int
	// Parts returns the sizes of a block's parts, as Conjugate.Parts does.
	Parts() []int
	// HostPhi writes phi(x) of one input, within the input's block and for all parts, to phi. It returns the index of
	// the block.
	HostPhi(p HostParams, x, phi []float32) (block int)
}

// HostBlock is the Gaussian posterior N(mu, sigma_p^2 S S^T) of each part of a block of theta. It never changes, and is
// safe for concurrent use.
type HostBlock interface {
	// Moments returns phi^T mu of a part and writes S^T phi to root. phi and root have the length of the part.
	Moments(part int, phi, root []float32) (mean float32)
}

// HostBase is a base model that predicts in plain Go. A type that gets OnHost only by embedding another base model does
// not count as HostBase, because the type may predict something else.
type HostBase interface {
	// OnHost returns a function that writes the predictions at inputs x with parameters theta to out. A nil x means all
	// arms. Only one goroutine may use the function.
	OnHost(x [][]float32) func(theta, out []float32)
}

var (
	_ Hosted        = Model{}
	_ HostConjugate = BayesianLinear{}
	_ HostNormal    = BayesianLinear{}
)

// OnHost supports linear hypermodels with Gaussian indices, and ensembles, on base models that are HostBase.
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

// hostBase returns a base model as a HostBase, or nil if the base model is not a HostBase.
func hostBase(b BaseModel) HostBase {
	h, ok := b.(HostBase)
	if !ok || promoted.Has[HostBase](b) {
		return nil
	}
	return h
}

// hostIndex is an index in plain Go: a vector, or the position of the 1 in a one-hot vector.
type hostIndex struct {
	vector []float32
	id     int32
}

// hostTheta returns a function that draws n indices. The result of this function writes g_nu at index k to theta, and
// returns index k. hostTheta returns nil if the hypermodel needs a program.
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

// hostGaussian reports whether indices are vectors of independent standard normal numbers.
func hostGaussian(d index.Distribution) bool {
	switch d := d.(type) {
	case index.Gaussian, index.PerArm:
		return true
	case index.Paired:
		return d.Reference == index.LawGaussian
	}
	return false
}

// hostMarginals does what hostTheta does for a model with [Marginals]: it draws the independent components of theta,
// prior included.
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

// hostPrior returns a function that writes the prior's parameters D B z, and the base model to which the parameters
// belong. The base model is nil if the parameters are added to theta. Both results are nil if there is no prior, if
// hostTheta has already added the prior, or if the prior needs a program.
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
		if _, ok := m.Hyper.(Particles); ok {
			return func(z hostIndex, theta []float32) { copy(theta, of[int(z.id)*rows:]) }, second
		}
		return func(z hostIndex, theta []float32) {
			clear(theta)
			for k, zk := range z.vector {
				for i, b := range of[k*rows : (k+1)*rows] {
					theta[i] += zk * b
				}
			}
		}, second
	}
	if _, ok := m.Hyper.(Linear); !ok {
		return nil, nil
	}
	return func(z hostIndex, theta []float32) {
		clear(theta)
		m.Prior.Layout.addHost(p.Fixed[priorMatrix], z.vector, theta)
	}, second
}

// addHost adds B z to out. c holds the entries of B, [rows][Width].
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
