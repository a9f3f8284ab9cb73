package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
)

func softplus(x float64) float64 { return math.Log(1 + math.Exp(x)) }

// referenceDivergence returns KL(N(mu, diag sd^2) || N(0, v I)) with sd = softplus(rho).
func referenceDivergence(mu, rho []float64, v float64) float64 {
	sum := 0.0
	for i := range mu {
		sd := softplus(rho[i])
		sum += math.Log(math.Sqrt(v)/sd) + (sd*sd+mu[i]*mu[i])/(2*v) - 0.5
	}
	return sum
}

// The divergence equals the closed form in double precision, also for tiny and large deviations (softplus of -12 and of
// 90). It also equals the mean of log q(theta) - log p(theta) over 40,000 theta drawn from q, within 5 standard errors.
func TestDivergence(t *testing.T) {
	mu, rho, v := [][]float32{{0.5, -1, 2}, {0, 3, -0.25}}, [][]float32{{0.3, -12, 1}, {-2, 0.7, 90}}, []float32{2.25, 0.5}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		return []*Node{divergence(hyper.MeanField{Params: 3}, in[:2], in[2])}
	}, mu, rho, v)[0]
	r := rand.New(rand.NewPCG(3, 4))
	for run := range v {
		m, s := make([]float64, 3), make([]float64, 3)
		for i := range m {
			m[i], s[i] = float64(mu[run][i]), float64(rho[run][i])
		}
		want := referenceDivergence(m, s, float64(v[run]))
		near(t, fmt.Sprint("run ", run), out.v[run:run+1], []float64{want}, single)
		const n = 40_000
		mean, square := 0.0, 0.0
		for range n {
			ratio := 0.0
			for i := range m {
				sd, z := softplus(s[i]), r.NormFloat64()
				theta := m[i] + sd*z
				ratio += -z*z/2 - math.Log(sd) + theta*theta/(2*float64(v[run])) + math.Log(float64(v[run]))/2
			}
			mean, square = mean+ratio/n, square+ratio*ratio/n
		}
		if se := math.Sqrt((square - mean*mean) / n); math.Abs(mean-out.v[run]) > 5*se {
			t.Errorf("run %d: got divergence %.4f, by simulation %.4f +- %.4f", run, out.v[run], mean, se)
		}
	}
}

// The loss with the regularizer KL equals a computation in plain Go and double precision: the data's part of the loss
// plus the strength times the divergence. The gradient is compared with central differences. Tolerances are as in
// TestLossAndGradient.
func TestKLLossAndGradient(t *testing.T) {
	net := base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh}
	m := hyper.Model{Base: net, Hyper: hyper.MeanField{Params: hyper.NumTheta(net)}}
	p := newTrial(t, m, 5, 17)
	strength := []float32{0.25, 1.5}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		g := p.nodes(in[1:])
		g.KL = in[0]
		z := p.sample(in[0].Graph(), 6)
		loss := p.loss(Config{Regularize: KL}, g, z)
		return append([]*Node{loss, z.Dense()}, Gradient(ReduceAllSum(loss), g.Nu...)...)
	}, append([]any{strength}, p.args()...)...)
	data := p // the data's part: its regularizer has no weight
	data.priorVar = []float64{math.Inf(1), math.Inf(1)}
	for r := range problemRuns {
		z := out[1].sub(r)
		loss := func(nu []array) float64 {
			return referenceLoss(data, r, nu, z) + float64(strength[r])*referenceDivergence(nu[0].v, nu[1].v, p.priorVar[r])
		}
		nu := []array{{[]int{13}, append([]float64{}, p.nu[0].sub(r).v...)},
			{[]int{13}, append([]float64{}, p.nu[1].sub(r).v...)}}
		near(t, fmt.Sprintf("loss of run %d", r), out[0].v[r:r+1], []float64{loss(nu)}, single)
		var want []float64
		for _, v := range nu {
			for j, was := range v.v {
				const h = 1e-5
				v.v[j] = was + h
				up := loss(nu)
				v.v[j] = was - h
				want = append(want, (up-loss(nu))/(2*h))
				v.v[j] = was
			}
		}
		near(t, fmt.Sprintf("gradient of run %d", r), ofRun(out[2:], r), want, single)
	}
}

// Bayes by Backprop has a known optimum for a model linear in theta with Gaussian noise. The posterior of theta is
// Gaussian with precision P = Phi^T Phi / sigma_w^2 + I / sigma_p^2. The best distribution with independent components
// has the posterior's mean and the precisions P_ii. With one datum each minibatch is the data, and with a frame of
// indices the gradient has no noise: training ends at the optimum, to single precision. With several data the iterates
// settle around the optimum. The tolerances are relative to the largest entry, which is about 1 here.
func TestBayesByBackpropReachesTheMeanFieldOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for long")
	}
	bases := map[string]hyper.BaseModel{"network without hidden layers": base.MLP{Layers: []int{2, 1}},
		"line": base.Linear{Features: 3}}
	for name, b := range bases {
		for data, c := range map[int]struct {
			batch, periods int
			tolerance      float64
		}{1: {2, 200, 1e-4}, 4: {512, 150, 0.03}} {
			t.Run(fmt.Sprintf("%s, %d data", name, data), func(t *testing.T) {
				n := hyper.NumTheta(b)
				tr := Trainer{
					hyper.Model{Base: b, Hyper: hyper.MeanField{Params: n, Deviation: 1}},
					Config{Steps: 4, Batch: c.batch, Indices: 2 * n, Capacity: data, IndexSet: Frame, Regularize: KL},
				}
				r := rand.New(rand.NewPCG(5, uint64(data)))
				actions, y := randomArray(r, 1, 2, data, featuresOf(b)), randomArray(r, 1, data, 2)
				noise, prior := []float64{0.5, 0.75}, []float64{2, 1.25}
				m := newMachine(t, backend.Go, tr, []uint64{21, 22}, [4][]float32{{0.4, 0.4}, {0.5, 0.75}, {2, 1.25}, {0, 0}},
					&actions)
				for i := range data {
					m.add([]int32{int32(i), int32(i)}, []float32{float32(y.at(i, 0)), float32(y.at(i, 1))})
				}
				for run := range 2 { // a step of 0.3 over the largest curvature of L~ / |D|
					_, precision := meanField(b, actions.sub(run), y, run, noise[run], prior[run])
					m.rates[0][run] = float32(0.3 * float64(data) / mat.Trace(precision))
				}
				mean := [2][]float64{}
				for period := range c.periods {
					m.train(period)
					if period >= c.periods/2 { // average, to remove the noise of minibatches
						nu := m.nu()
						for run := range 2 {
							mean[run] = addScaled(mean[run], 2/float64(c.periods), ofRun(nu, run))
						}
					}
				}
				for run := range 2 {
					want, precision := meanField(b, actions.sub(run), y, run, noise[run], prior[run])
					var sd, wantSD []float64
					for i := range n {
						sd, wantSD = append(sd, softplus(mean[run][n+i])), append(wantSD, 1/math.Sqrt(precision.At(i, i)))
					}
					near(t, fmt.Sprint("posterior mean of run ", run), mean[run][:n], want, c.tolerance)
					near(t, fmt.Sprint("posterior deviation of run ", run), sd, wantSD, c.tolerance)
				}
			})
		}
	}
}

// meanField returns the posterior's mean and precision for one run, with inputs x [data, features] and responses y
// [data, runs].
func meanField(b hyper.BaseModel, x, y array, run int, noise, prior float64) (mean []float64, precision *mat.SymDense) {
	n := hyper.NumTheta(b)
	precision = mat.NewSymDense(n, nil)
	right, out := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		precision.SetSym(i, i, 1/prior)
	}
	for i := range x.dims[0] {
		phi := append(append([]float64{}, x.sub(i).v...), 1)[:n] // a network's bias comes last
		row := mat.NewVecDense(n, phi)
		precision.SymRankOne(precision, 1/noise, row)
		right.AddScaledVec(right, y.at(i, run)/noise, row)
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		panic("a precision that is not positive definite")
	}
	must.M(chol.SolveVecTo(out, right))
	return out.RawVector().Data, precision
}
