package testbed

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// processTruth draws the truth of regression problems: a function f from a Gaussian process, and responses y = f(x) +
// N(0, Noise^2). The kernel is the limit, for many units, of a random ReLU network with two hidden layers. Weights of
// the network have variance 1/fan-in, the biases of its first layer have variance 1/D, and its other biases are zero.
// processTruth computes in double precision, in plain Go.
type processTruth struct {
	Inputs int     // D: the length of an input
	Noise  float64 // sigma
}

// Kernel returns the covariances of f at the rows of a and f at the rows of b: [rows of a, rows of b].
func (p processTruth) Kernel(a, b mat.Matrix) *mat.Dense {
	var k mat.Dense
	k.Mul(a, b.T())
	u, v := p.variances(a), p.variances(b)
	k.Apply(func(i, j int, product float64) float64 {
		first := p.first(product)
		second := arcCosine(first, u[i], v[j])
		return arcCosine(second, u[i]/2, v[j]/2)
	}, &k)
	return &k
}

// Variance returns the mean of f(x)^2 over f and over inputs x from N(0, I).
func (p processTruth) Variance() float64 { return p.first(float64(p.Inputs)) / 4 }

// first returns the covariance of the units of the first layer before ReLU, at two inputs with the given inner product.
func (p processTruth) first(product float64) float64 { return (product + 1) / float64(p.Inputs) }

// variances returns the variances of the units of the first layer before ReLU, at the rows of x.
func (p processTruth) variances(x mat.Matrix) []float64 {
	n, _ := x.Dims()
	out := make([]float64, n)
	for i := range out {
		row := mat.Row(nil, i, x)
		v := mat.NewVecDense(len(row), row)
		out[i] = p.first(mat.Dot(v, v))
	}
	return out
}

// arcCosine returns E max(u, 0) max(v, 0) for Gaussian variables with mean 0 and the given covariance and variances u
// and v (Cho and Saul, "Kernel methods for deep learning", 2009). If both variables are equal, the result is half of
// their variance.
func arcCosine(covariance, u, v float64) float64 {
	scale := math.Sqrt(u * v)
	if scale == 0 {
		return 0
	}
	cos := max(-1, min(1, covariance/scale))
	return scale / (2 * math.Pi) * (math.Sqrt((1-cos)*(1+cos)) + (math.Pi-math.Acos(cos))*cos)
}

// ridge is added to the posterior's variances, as in the testbed. Many inputs of one number are so close to each other
// that the covariance of f is singular. In double precision the ridge is about a million times the rounding errors of
// the eigenvalues. The testbed's single precision needs a larger ridge: there, responses at D = 1 are NaN.
const ridge = 1e-6

// drawnTruth is a truth that was drawn: the data, and the posterior of f at test inputs.
type drawnTruth struct {
	X    *mat.Dense    // inputs of the data, one in each row
	Y    []float64     // their responses
	Test *mat.Dense    // test inputs, one in each row
	Mean []float64     // posterior mean of f at the test inputs
	Cov  *mat.SymDense // posterior covariance of f there, with 1e-6 added to the variances
}

// Draw draws a number of data, and computes the posterior at a number of test inputs. Inputs are drawn from N(0, I).
// The responses, which are f plus noise, are drawn together from N(0, K + sigma^2 I), where K is the kernel's matrix. K
// alone can be singular, and is never factorised.
func (p processTruth) Draw(s rng.Host, data, tests int) (drawnTruth, error) {
	x, test := normals(s.Named("data").Named("x"), data, p.Inputs), normals(s.Named("tests").Named("x"), tests, p.Inputs)
	c, err := p.factor(x)
	if err != nil {
		return drawnTruth{}, err
	}
	y := mat.NewVecDense(data, nil)
	y.MulVec(c.RawU().T(), normals(s.Named("data").Named("y"), data, 1).ColView(0))
	r := drawnTruth{X: x, Y: y.RawVector().Data, Test: test}
	r.Mean, r.Cov, err = p.condition(c, x, y, test)
	return r, err
}

// factor factorises the covariance of the responses at inputs x, K + sigma^2 I.
func (p processTruth) factor(x mat.Matrix) (*mat.Cholesky, error) {
	k := p.Kernel(x, x).RawMatrix()
	for i := range k.Rows {
		k.Data[i*k.Stride+i] += p.Noise * p.Noise
	}
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(k.Rows, k.Data)) {
		return nil, fmt.Errorf("testbed: the covariance of %d responses is not positive definite: Noise %v is too "+
			"small", k.Rows, p.Noise)
	}
	return &c, nil
}

// condition computes the posterior from the factor U of K + sigma^2 I = U^T U. With V = U^-T K(x, at), the mean is V^T
// U^-T y and the covariance is K(at, at) - V^T V.
func (p processTruth) condition(c *mat.Cholesky, x mat.Matrix, y *mat.VecDense, at mat.Matrix) ([]float64, *mat.SymDense,
	error) {
	u := c.RawU().(*mat.TriDense)
	var v, white, mean, less mat.Dense
	if err := errors.Join(u.SolveTo(&v, true, p.Kernel(x, at)), u.SolveTo(&white, true, y)); err != nil {
		return nil, nil, fmt.Errorf("testbed: %w", err)
	}
	mean.Mul(v.T(), &white)
	less.Mul(v.T(), &v)
	k := p.Kernel(at, at)
	k.Sub(k, &less)
	n, _ := k.Dims()
	for i := range n {
		k.Set(i, i, k.At(i, i)+ridge)
	}
	return mean.RawMatrix().Data, mat.NewSymDense(n, k.RawMatrix().Data), nil
}

// Sample draws f at all test inputs together, from the posterior.
func (r drawnTruth) Sample(s rng.Host) ([]float64, error) {
	var c mat.Cholesky
	if !c.Factorize(r.Cov) {
		return nil, errors.New("testbed: the covariance of f at the test inputs is not positive definite")
	}
	n := len(r.Mean)
	f := mat.NewVecDense(n, nil)
	f.MulVec(c.RawU().T(), normals(s, n, 1).ColView(0))
	f.AddVec(f, mat.NewVecDense(n, r.Mean))
	return f.RawVector().Data, nil
}

// normals returns rows of standard normal numbers.
func normals(s rng.Host, rows, columns int) *mat.Dense {
	drawn := make([]float32, rows*columns)
	s.Normal(drawn)
	wide := make([]float64, len(drawn))
	for i, x := range drawn {
		wide[i] = float64(x)
	}
	return mat.NewDense(rows, columns, wide)
}
