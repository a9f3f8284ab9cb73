package testbed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The kernel is the covariance of the outputs of wide random networks. Networks of a hundred units differ from it by a
// percent at most, and the standard error is a few percent.
func TestKernelEqualsWideNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes thousands of networks")
	}
	const width, networks = 100, 1000
	r := rand.New(rand.NewPCG(1, 2))
	for _, inputs := range []int{1, 3} {
		p := processTruth{Inputs: inputs, Noise: 1}
		x := mat.NewDense(3, inputs, nil)
		x.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, x)
		k := p.Kernel(x, x)
		var products [3][3][]float64
		for range networks {
			f := wide(r, x, width)
			for i := range f {
				for j := range f {
					products[i][j] = append(products[i][j], f[i]*f[j])
				}
			}
		}
		for i := range products {
			for j := range products[i] {
				within(t, fmt.Sprintf("D = %d, covariance of f at %d and %d", inputs, i, j), products[i][j], k.At(i, j))
			}
		}
	}
}

// wide returns the outputs of a network with weights from N(0, 1/fan-in) at the rows of x.
func wide(r *rand.Rand, x *mat.Dense, width int) []float64 {
	n, d := x.Dims()
	draw := func(rows, columns int, variance float64) *mat.Dense {
		w := mat.NewDense(rows, columns, nil)
		w.Apply(func(int, int, float64) float64 { return math.Sqrt(variance) * r.NormFloat64() }, w)
		return w
	}
	relu := func(_, _ int, v float64) float64 { return max(v, 0) }
	bias := draw(1, width, 1/float64(d))
	var one, two, f mat.Dense
	one.Mul(x, draw(d, width, 1/float64(d)))
	one.Apply(func(_, j int, v float64) float64 { return relu(0, j, v+bias.At(0, j)) }, &one)
	two.Mul(&one, draw(width, width, 1/float64(width)))
	two.Apply(relu, &two)
	f.Mul(&two, draw(width, 1, 1/float64(width)))
	return mat.Col(nil, 0, f.Slice(0, n, 0, 1))
}

// The variance of f(x) is a quarter of the variance of the first layer, (x^2 + 1)/D, and its mean over inputs is
// Variance.
func TestVariances(t *testing.T) {
	p := processTruth{Inputs: 2, Noise: 1}
	at := mat.NewDense(2, 2, []float64{3, 4, 0, 0})
	k := p.Kernel(at, at)
	near(t, "variances", []float64{k.At(0, 0), k.At(1, 1)}, []float64{26. / 8, 1. / 8}, 1e-14)
	var variances []float64
	for _, v := range p.variances(normals(rng.NewHost(1), 20_000, 2)) {
		variances = append(variances, v/4)
	}
	within(t, "variance over inputs", variances, p.Variance())
}

// The posterior of three data at two inputs equals the textbook formula with the matrix inverse (Rasmussen and
// Williams, equations 2.23 and 2.24).
func TestPosterior(t *testing.T) {
	p := processTruth{Inputs: 2, Noise: 0.3}
	x, at := normals(rng.NewHost(1), 3, 2), normals(rng.NewHost(2), 2, 2)
	y := []float64{1, -2, 0.5}
	mean, cov := must.M2(p.condition(must.M1(p.factor(x)), x, mat.NewVecDense(3, y), at))
	noisy, cross := p.Kernel(x, x), p.Kernel(at, x)
	for i := range y {
		noisy.Set(i, i, noisy.At(i, i)+0.09)
	}
	var inverse, gain, wantMean, less, wantCov mat.Dense
	must.M(inverse.Inverse(noisy))
	gain.Mul(cross, &inverse)
	wantMean.Mul(&gain, mat.NewVecDense(3, y))
	less.Mul(&gain, cross.T())
	wantCov.Sub(p.Kernel(at, at), &less)
	near(t, "mean", mean, mat.Col(nil, 0, &wantMean), 1e-12)
	got := []float64{cov.At(0, 0) - ridge, cov.At(0, 1), cov.At(1, 0), cov.At(1, 1) - ridge}
	near(t, "covariance", got, wantCov.RawMatrix().Data, 1e-12)
}

// Responses have the covariance of the kernel plus the noise. f at the test inputs has the posterior's mean and
// covariance: over many truths the posterior is right about f as often as it claims.
func TestDrawnResponses(t *testing.T) {
	for _, p := range []processTruth{{Inputs: 1, Noise: 0.1}, {Inputs: 3, Noise: 1}} {
		var excess, bias, squares []float64
		for seed := range uint64(2000) {
			s := rng.NewHost(seed)
			r := must.M1(p.Draw(s, 4, 2))
			k := p.Kernel(r.X, r.X)
			excess = append(excess, r.Y[0]*r.Y[0]-k.At(0, 0)-p.Noise*p.Noise, r.Y[1]*r.Y[2]-k.At(1, 2))
			f := must.M1(r.Sample(s.Named("f")))
			bias = append(bias, (f[0]-r.Mean[0])*r.Y[0])
			squares = append(squares, (f[0]-r.Mean[0])*(f[1]-r.Mean[1])-r.Cov.At(0, 1))
		}
		within(t, fmt.Sprintf("%+v: products of responses, less their covariance", p), excess, 0)
		within(t, fmt.Sprintf("%+v: misses of the mean against responses", p), bias, 0)
		within(t, fmt.Sprintf("%+v: products of misses, less their covariance", p), squares, 0)
	}
}

// With inputs of one number, many inputs are so close that the kernel's matrix is singular up to rounding. Data and
// functions are finite nevertheless, and the ridge is far larger than the rounding errors of the posterior's
// covariance.
func TestManyInputsOfOneNumber(t *testing.T) {
	p := processTruth{Inputs: 1, Noise: 0.01}
	r := must.M1(p.Draw(rng.NewHost(1), 100, 300))
	f := must.M1(r.Sample(rng.NewHost(2)))
	if x := stat.StdDev(r.Y, nil) + stat.StdDev(f, nil); !(x > 0.1 && x < 10) {
		t.Errorf("sums of responses and functions have the standard deviations %v", x)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(r.Cov, false) {
		t.Fatal("the eigenvalues cannot be computed")
	}
	if least := eigen.Values(nil)[0]; math.Abs(least/ridge-1) > 1e-3 {
		t.Errorf("the least eigenvalue is %v, want the ridge %v within a thousandth", least, ridge)
	}
}
