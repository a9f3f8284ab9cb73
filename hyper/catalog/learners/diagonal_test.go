package learners

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

func init() { testbackend.CompileQuickly() }

// In both readings of appendix D the rows of B have norm 1, and C is diagonal in an index with one number for each
// parameter. The test trains to convergence on 2,000 data of a linear model with 5 features. Diagonal rows leave a
// third of the variance of the exact posterior, because a diagonal C uses only the perturbations of its own number of
// the index. Dense rows leave most of the prior's variance, because a diagonal C cancels one of the 5 numbers of a row.
func TestBothReadingsOfTheDiagonalHypermodel(t *testing.T) {
	const features, data, priorVariance = 5, 2000, 2.25
	random := rand.New(rand.NewPCG(1, 2))
	o := train.Oracle{NoiseVar: 1, PriorVar: priorVariance, Perturbation: 1}
	phi, y, a := mat.NewDense(data, features, nil), mat.NewVecDense(data, nil), mat.NewDense(data, features, nil)
	for i := range data {
		y.SetVec(i, random.NormFloat64())
		direction, norm := make([]float64, features), 0.
		for j := range features {
			phi.Set(i, j, random.NormFloat64())
			direction[j] = random.NormFloat64()
			norm += direction[j] * direction[j]
		}
		for j := range features { // on the unit hypersphere
			a.Set(i, j, direction[j]/math.Sqrt(norm))
		}
	}
	o.Phi, o.Y, o.A = phi, y, a
	prior := mat.NewSymDense(features, nil)
	for j := range features {
		prior.SetSym(j, j, priorVariance)
	}
	_, exact, err := o.Posterior(nil, prior)
	must.M(err)
	posterior := mat.Trace(exact) / features

	testbackend.ForEach(t, func(t *testing.T, name string) {
		left := map[string]float64{}
		for _, rows := range []string{diagonalRows, denseRows} {
			c := NewDiagonal(false)
			c.Hidden, c.PriorRows = nil, rows
			p := bandit.Problem{Actions: 3, Features: features, NoiseVariance: 1}
			must.M(c.Validate(&p))
			m := c.Model(p)
			linear := m.Hyper.(hyper.Linear)
			if linear.Layout.IndexDim() != features || linear.Layout.Width != 1 || len(linear.Layout.Sizes) != features {
				t.Errorf("%s rows: C has the layout %v, want a diagonal one", rows, linear.Layout)
			}
			b := drawn(t, name, m.Prior)
			full := must.M1(train.FullMatrix(m.Prior.Layout, b))
			for i := range features {
				if norm := mat.Norm(full.RowView(i), 2); math.Abs(norm-1) > 1e-6 {
					t.Errorf("%s rows: row %d of B has norm %v", rows, i, norm)
				}
			}
			full.Scale(math.Sqrt(priorVariance), full) // D B
			_, trained, err := o.Linear(linear.Layout, nil, nil, full)
			must.M(err)
			full.Add(full, trained)
			left[rows] = math.Pow(mat.Norm(full, 2), 2) / features // mean variance of f(x) over x ~ N(0, I), per feature
		}
		t.Logf("%s: variance left, diagonal rows %.5f, dense rows %.3f; exact posterior %.5f, prior %.2f", name,
			left[diagonalRows], left[denseRows], posterior, priorVariance)
		if r := left[diagonalRows] / posterior; r < 0.1 || r > 2 {
			t.Errorf("diagonal rows leave %.2f times the variance of the posterior", r)
		}
		if share := left[denseRows] / priorVariance; share < 0.5 || share > 1 {
			t.Errorf("dense rows leave %.2f of the prior's variance, want about 1 - 1/%d", share, features)
		}
	})
}

// drawn draws the entries of a prior's B for one run.
func drawn(t *testing.T, name string, p *hyper.Prior) *mat.Dense {
	t.Helper()
	out := must.M1(graph.CallOnce(must.M1(backend.Open(name)), func(seeds *graph.Node) *graph.Node {
		return p.Init(rng.New(seeds), nil)
	}, []uint64{3}))
	entries := must.M1(tensors.CopyFlatData[float32](out))
	b := mat.NewDense(p.Layout.Rows(), p.Layout.Width, nil)
	for i, v := range entries {
		b.Set(i/p.Layout.Width, i%p.Layout.Width, float64(v))
	}
	return b
}

func TestPriorRowsAreChecked(t *testing.T) {
	c := NewDiagonal(true)
	c.PriorRows = "sparse"
	if c.Validate(nil) == nil {
		t.Error("prior-rows=sparse is not refused")
	}
}
