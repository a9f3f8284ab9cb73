package hyper

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// knownBlock returns, for every input, a mean and a root that are multiples of the first number of phi.
type knownBlock struct{ mean, deviation float32 }

func (k knownBlock) Moments(_ int, phi, root []float32) float32 {
	clear(root)
	root[0] = k.deviation * phi[0]
	return k.mean * phi[0]
}

// In plain Go, values have the means and the covariances of their blocks, including the factor sigma_p. Values of two
// blocks are independent. Values of one block are values of the same function, for any order of the inputs. The test
// uses 20,000 functions, and bounds of 5 standard errors.
func TestHostValuesOfBlocks(t *testing.T) {
	const draws, sigma = 20_000, 0.5
	b := BayesianLinear{Features: 2, Blocks: 40, Numbered: true, Plain: true}
	p := HostParams{Fixed: map[string][]float32{"scale": {sigma}}}
	for i := range 40 {
		p.Blocks = append(p.Blocks, knownBlock{float32(i), 1 + float32(i)/10})
	}
	x := [][]float32{{3, 1}, {0, 1}, {3, -2}, {39, 1}, {3, 1}}
	values := make([]float32, draws*len(x))
	if !b.OnHost(p)(rng.NewHost(4), draws, x, values) {
		t.Fatal("OnHost refuses the belief")
	}
	mean := func(f func(own []float32) float64) (sum float64) {
		for k := range draws {
			sum += f(values[k*len(x):(k+1)*len(x)]) / draws
		}
		return sum
	}
	known := func(i int) (block int, mean, deviation float64) {
		block = int(x[i][0])
		return block, float64(block) * float64(x[i][1]), sigma * (1 + float64(block)/10) * float64(x[i][1])
	}
	for i := range x {
		blockI, meanI, sdI := known(i)
		m := mean(func(own []float32) float64 { return float64(own[i]) })
		if math.Abs(m-meanI) > 5*math.Abs(sdI)/math.Sqrt(draws) {
			t.Errorf("the mean of input %d is %g, want %g", i, m, meanI)
		}
		for j := range x {
			blockJ, meanJ, sdJ := known(j)
			want := 0.0
			if blockI == blockJ {
				want = sdI * sdJ
			}
			c := mean(func(own []float32) float64 { return (float64(own[i]) - meanI) * (float64(own[j]) - meanJ) })
			if math.Abs(c-want) > 5*math.Sqrt2*math.Abs(sdI*sdJ)/math.Sqrt(draws) {
				t.Errorf("the covariance of inputs %d and %d is %g, want %g", i, j, c, want)
			}
		}
	}
	many := make([][]float32, mostJoint+1)
	for i := range many {
		many[i] = []float32{7, 1}
	}
	if b.OnHost(p)(rng.NewHost(4), 1, many, make([]float32, len(many))) {
		t.Error("plain Go is used for many inputs of one block, want a program")
	}
}

// onePart fails the test if another part is read. Its mean and its root are 1.
type onePart struct {
	*testing.T
	part int
}

func (o onePart) Moments(part int, _, root []float32) float32 {
	if part != o.part {
		o.Errorf("part %d has the weight 0, and was read", part)
	}
	for i := range root {
		root[i] = 1
	}
	return 1
}

// With Line, a regression that the data have ruled out is not read, and nothing of it is in the functions.
func TestRuledOutPartIsNotRead(t *testing.T) {
	b := BayesianLinear{Features: 4, Blocks: 2, Waves: 5, Length: 1, Line: true}
	for part, of := range b.spans() {
		p := HostParams{Share: float32(part), Blocks: []HostBlock{onePart{t, part}},
			Fixed: map[string][]float32{"scale": {2}}}
		root := slices.Repeat([]float32{7}, b.deviations()) // what was there before
		if mean := b.hostMoments(p, p.Blocks[0], make([]float32, b.whole()), root); mean != 1 {
			t.Errorf("part %d: the mean is %g, want 1", part, mean)
		}
		for i, v := range root {
			if own := of.From <= i && i < of.To; own && v != 1 || !own && v != 0 {
				t.Errorf("part %d: number %d of the root is %g, want 1 in %d to %d and 0 elsewhere",
					part, i, v, of.From, of.To-1)
			}
		}
	}
}

// cholesky and choleskyLoop agree, also if a pivot is 0.
func TestCholeskyLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, rank = 7, 4
	m := make([]float32, 2*n*n)
	for run := range 2 {
		a := make([]float64, n*rank)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		for i := range n {
			for j := range n {
				for k := range rank {
					m[(run*n+i)*n+j] += float32(a[i*rank+k] * a[j*rank+k])
				}
			}
		}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			return []*Node{cholesky(in[0]), choleskyLoop(in[0])}
		}, tensors.FromFlatDataAndDimensions(m, 2, n, n))
		same(t, name, out[1], out[0], 1e-4)
	})
}
