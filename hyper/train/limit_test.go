package train

import (
	"fmt"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// limitModels returns models with every kind of index.
func limitModels() []namedModel {
	arms := base.Tabular{Arms: 3}
	blocks := hyper.PerParameter(3, 2)
	return []namedModel{
		{"Gaussian", affineIn(arms, hyper.Dense(3, 3), index.Gaussian{N: 3}, none)},
		{"Gaussian, blocks", affineIn(arms, blocks, index.Gaussian{N: 6}, none)},
		{"sphere", affineIn(arms, hyper.Dense(3, 3), index.Sphere{N: 3}, none)},
		{"sphere, blocks", affineIn(arms, blocks, index.Sphere{N: 6}, none)},
		{"per arm", affineIn(arms, hyper.PerParameter(3, 4), index.PerArm{Arms: 3, M: 4}, none)},
		{"one-hot, linear", affineIn(arms, hyper.Dense(3, 3), index.OneHot{N: 3}, none)},
		{"ensemble", ensembleOf(arms, 5, none)},
	}
}

// The steepness agrees with the moments of many sets of indices, drawn as training draws them. The standard error of
// the moments is about a hundredth.
func TestStepLimitIsThatOfTheIndices(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many indices")
	}
	const sets = 10_000
	for _, m := range limitModels() {
		for _, c := range []Config{
			{Indices: 1}, {Indices: 4}, {Indices: 4, IndexSet: Antithetic}, {Indices: 4, IndexSet: Frame},
			{Indices: 12, IndexSet: Frame}, {IndexSet: Axes},
			{Integrate: FullData},
		} {
			if c.Integrate != FullData && newProblem(c, m.Model).indexSet() != nil {
				continue // this model does not support the index set
			}
			z, size := drawnSets(t, m.Model, c, sets)
			for _, mapStep := range []float64{1, 0.25} {
				_, linear := m.Hyper.(hyper.Linear)
				if !linear && mapStep != 1 {
					continue
				}
				want := steepnessOf(t, m.Model, z, size, mapStep)
				tolerance := 0.05
				if c.IndexSet == Frame {
					tolerance = 0.15 // in few dimensions the rotations of Frame are not quite uniform
				}
				if got := newProblem(c, m.Model).steepness(mapStep); math.Abs(got/want-1) > tolerance {
					t.Errorf("%s, %+v, map step %v: got steepness %.3f, by samples %.3f", m.name, c, mapStep, got, want)
				}
			}
		}
	}
}

// drawnSets draws sets of indices, [sets * size, index dimension]. With FullData there is one large set.
func drawnSets(t *testing.T, m hyper.Model, c Config, sets int) (z array, size int) {
	t.Helper()
	if c.Integrate == FullData {
		c, sets = Config{Indices: sets}, 1
	}
	if c.IndexSet == Axes { // all sets are the same
		c.Indices, sets = 2*m.Index().Dim(), 1
	}
	z = eval(t, backend.Go, func(in []*Node) []*Node {
		drawn, _ := minibatches{newProblem(Config{Steps: sets, Indices: c.Indices, IndexSet: c.IndexSet},
			m)}.indexSets(rng.New(in[0]))
		return []*Node{drawn.Dense()}
	}, []uint64{3})[0].sub(0)
	return z, c.Indices
}

// steepnessOf returns the largest eigenvalue of E[M^2] relative to E[M] over sets of indices of a size.
func steepnessOf(t *testing.T, m hyper.Model, z array, size int, mapStep float64) float64 {
	t.Helper()
	l, linear := m.Hyper.(hyper.Linear)
	part, dim := z.dims[1], z.dims[1]
	if linear { // psi takes the first parameter's part of z
		part, dim = l.Width, l.Width+1
	}
	mean, square, one := mat.NewSymDense(dim, nil), mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil)
	var product mat.Dense
	for set := range slices.Chunk(z.v, size*z.dims[1]) { // M = Psi^T Psi / size
		psi := mat.NewDense(size, dim, nil)
		for i := range size {
			row, drawn := psi.RawRowView(i), set[i*z.dims[1]:][:part]
			if linear {
				row[0], row = 1, row[1:]
				floats.ScaleTo(row, math.Sqrt(mapStep), drawn)
			} else {
				copy(row, drawn)
			}
		}
		one.Mul(psi.T(), psi)
		one.Scale(1/float64(size), one)
		product.Mul(one, one)
		square.Add(square, &product)
		for i := range dim {
			for j := i; j < dim; j++ {
				mean.SetSym(i, j, mean.At(i, j)+one.At(i, j))
			}
		}
	}
	// E[M^2] v = h E[M] v; both sums have the factor 1/sets. For one-hot indices with a mean, E[M] is singular in one
	// direction, in which the loss has no slope.
	var e mat.EigenSym
	if !e.Factorize(mean, true) {
		t.Fatal("the eigenvalues cannot be computed")
	}
	var vectors, left, turned mat.Dense
	e.VectorsTo(&vectors)
	left.Mul(vectors.T(), square)
	turned.Mul(&left, &vectors)
	values, out := e.Values(nil), mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			if size := math.Sqrt(values[i] * values[j]); size > 1e-9*values[dim-1] {
				out.SetSym(i, j, turned.At(i, j)/size)
			}
		}
	}
	if !e.Factorize(out, false) {
		t.Fatal("the eigenvalues cannot be computed")
	}
	return e.Values(nil)[dim-1]
}

// With one datum and closed forms, SGD comes to rest at the minimiser if the step size is just below the limit. SGD
// moves away from the minimiser if the step size is above the limit.
func TestStepLimitParts(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many models")
	}
	for _, m := range append(limitModels(), trainable()...) {
		for _, c := range []struct {
			of     float64
			settle bool
		}{{0.97, true}, {1.03, false}} {
			t.Run(fmt.Sprintf("%s/%v", m.name, c.of), func(t *testing.T) {
				tr := Trainer{m.Model, Config{Steps: 40, Capacity: 3, Integrate: FullData}}
				run := trainOn(t, backend.Go, tr, 1, 1)
				for r := range problemRuns {
					norm2 := 1.0
					if _, ok := m.Base.(base.Linear); ok {
						norm2 = steepestNorm2(run, r)
					}
					run.rates[0][r] = float32(c.of * tr.StepLimit(m.Model, float64(run.rates[1][r]), float64(run.rates[2][r]), 1,
						norm2))
				}
				first := off(run)
				for period := range 5 {
					run.train(period)
				}
				for r, d := range off(run) {
					if settled := d < first[r]/20; settled != c.settle || (!settled && d < 20*first[r]) {
						t.Errorf("run %d: the distance from the minimiser is %.3g, at first %.3g", r, d, first[r])
					}
				}
			})
		}
	}
}

// off returns the distance to the minimiser for each run.
func off(m trained) (out [problemRuns]float64) {
	nu := m.nu()
	for r := range out {
		out[r] = apart(ofRun(nu, r), concatenated(m.want[r]))
	}
	return out
}

// steepestNorm2 returns the squared norm of the features of a run's only datum.
func steepestNorm2(m trained, r int) (sum float64) {
	gram := m.get("data.gram")[0].sub(r)
	for i := range gram.dims[0] {
		sum += gram.at(i, i)
	}
	return sum
}

// The limit is not known without a quadratic loss, with other optimizers, and without steps.
func TestStepLimitIsNotKnown(t *testing.T) {
	arms, net := limitModels()[0].Model, otherModels()[0].Model
	for _, c := range []struct {
		Config
		hyper.Model
	}{{Config{Integrate: Exact}, arms}, {Config{Indices: 1, Optimizer: Adam{}}, arms}, {Config{Indices: 1}, net},
		{Config{Indices: 1}, networkOf(base.Tabular{Arms: 1}, index.Gaussian{N: 2}, none)}} {
		if limit := c.StepLimit(c.Model, 1, 1, 1, 1); !math.IsInf(limit, 1) {
			t.Errorf("%+v: got limit %v, want infinity", c, limit)
		}
	}
}

// A step of 0.5 is too large: it multiplies an error by 1 - 0.5 (1/0.25 + 1) = -1.5.
func ExampleConfig_StepLimit() {
	arms := base.Tabular{Arms: 3}
	m := hyper.Model{Base: arms, Hyper: hyper.Linear{Layout: hyper.PerParameter(3, 10), P: index.PerArm{Arms: 3, M: 10}}}
	fmt.Println(Config{Integrate: FullData}.StepLimit(m, 0.25, 1, 1, 1))
	fmt.Printf("%.3f\n", Config{Indices: 16}.StepLimit(m, 0.25, 1, 1, 1))
	// Output:
	// 0.4
	// 0.229
}
